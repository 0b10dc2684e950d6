"""How often do the 95 % intervals hold the truth, and how often do the tests find what is not there?

Simulates data whose truth is known, and gives it to the functions behind `measure`, `compare` and `structure`.
`python -m benchmarks.coverage` keeps the results in benchmarks/coverage.json and writes docs/dev/coverage.md and a part of
docs/dev/calibration.md (an hour; what is in the file with as many data sets is not simulated again, unless `--afresh`, and after
`--minutes N` no further case is begun); `--metric NAME` prints the lines of one metric, which may be a plug-in's;
`--trials N` is the number of data sets per line. A line that is off the goal by less than chance can explain
is repeated in the end with five times as many other data sets, and the repetition counts.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.coverage_cases import Pair
from benchmarks.populations import Case, draw, draw_pair, draw_rows, truth_of
from isogloss import registry
from isogloss.analysis import structure
from isogloss.analysis.differences import paired_test, threshold_test, unpaired_test
from isogloss.analysis.intervals import IntervalSettings, clusters_needed, find_interval
from isogloss.analysis.mbe_tests import permutation_p
from isogloss.stats.associations import ranks
from isogloss.stats.hypotheses import adjust_bh, adjust_holm

STORE = Path(__file__).parent / "coverage.json"
ALLOWED = 1.5
MOST_FALSE = 5.5
REPEATED = 5
SETTINGS = IntervalSettings(resamples=1000)


@dataclass(frozen=True)
class Result:
    """In per cent: intervals that hold the truth, intervals that could not be given, differences found (p up to 0.05)."""

    held: float | None
    missing: float
    width: float | None
    trials: int
    found: float | None = None
    claimed: float | None = None

    def error(self, value: float) -> float:
        """The Monte Carlo error of a percentage."""
        share = min(max(value / 100, 0.5 / self.trials), 1 - 0.5 / self.trials)
        return 100 * float(np.sqrt(share * (1 - share) / self.trials))

    @property
    def is_doubtful(self) -> bool:
        """Whether coverage is off the goal or too much is found, but by no more than three Monte Carlo errors."""
        beyond = [(self.held, abs(self.held - 95) - ALLOWED)] if self.held is not None else []
        beyond += [(self.found, self.found - MOST_FALSE)] if self.found is not None else []
        return any(0 < distance <= 3 * self.error(value) for value, distance in beyond)


def generator(key: str, trials: int) -> np.random.Generator:
    """Random numbers of a line's own, so that lines are independent of each other."""
    return np.random.default_rng([zlib.crc32(key.encode()), trials])


def simulate(case: Case, *, trials: int) -> Result:
    """How often the metric's interval holds the truth."""
    bounds = registry.get("metric", case.metric).bounds
    if case.clusters < clusters_needed(bounds):
        trials = min(trials, 20)  # there is no interval, which few data sets show
    rng, truth = generator(f"{case.metric}: {case.title}", trials), truth_of(case)
    intervals = [find_interval(draw(case, rng), SETTINGS, bounds=bounds) for _ in range(trials)]
    return _result([(interval.low, interval.high) for interval in intervals], truth)


def _result(ends: Sequence[tuple[float | None, float | None]], truth: float) -> Result:
    there = [(low, high) for low, high in ends if low is not None and high is not None]
    missing = 100 * (1 - len(there) / len(ends))
    if not there:
        return Result(None, missing, None, len(ends))
    held = 100 * float(np.mean([low - 1e-9 <= truth <= high + 1e-9 for low, high in there]))
    return Result(held, missing, float(np.median([high - low for low, high in there])), len(ends))


def simulate_pair(pair: Pair, *, trials: int) -> Result:
    """How often the interval holds the true difference, and how often there is a p up to 0.05."""
    rng, truth = generator(f"{pair.a.metric}, {pair.title}", trials), truth_of(pair.a) - truth_of(pair.b)
    bounds, test = registry.get("metric", pair.a.metric).bounds, paired_test if pair.paired else unpaired_test
    rows = [
        test(*draw_pair(pair.a, pair.b, rng, paired=pair.paired), bounds=bounds, settings=SETTINGS)
        for _ in range(trials)
    ]
    found = [row.p is not None and row.p <= 0.05 for row in rows]
    claimed = [
        p and row.low is not None and row.high is not None and not row.low <= 0 <= row.high
        for p, row in zip(found, rows, strict=True)
    ]
    result = _result([(row.low, row.high) for row in rows], truth)
    return replace(result, found=100 * float(np.mean(found)), claimed=100 * float(np.mean(claimed)))


def simulate_threshold(case: Case, *, trials: int) -> Result:
    """How often a value is told from the truth, as claims against a number tell it, with the interval's coverage."""
    rng, truth = generator(f"threshold {case.metric}: {case.title}", trials), truth_of(case)
    bounds = registry.get("metric", case.metric).bounds
    rows = [threshold_test(draw(case, rng), truth, bounds=bounds, settings=SETTINGS) for _ in range(trials)]
    result = _result([(row.low, row.high) for row in rows], 0.0)
    return replace(result, found=100 * float(np.mean([row.p is not None and row.p <= 0.05 for row in rows])))


def simulate_power(case: Case, *, trials: int) -> tuple[float, float]:
    """The mean detectable difference that paired comparisons print, and how often a true one of that size is found."""
    rng, bounds = generator(f"power {case.title}", trials), registry.get("metric", case.metric).bounds

    def compare(other: Case) -> Any:
        return paired_test(*draw_pair(case, other, rng, paired=True), bounds=bounds, settings=SETTINGS)

    printed = float(np.mean([compare(case).mde for _ in range(trials)]))
    moved = replace(case, share=case.share + printed / 100 / (1 - case.ties))
    return printed, 100 * float(np.mean([compare(moved).p <= 0.05 for _ in range(trials)]))


def simulate_labels(case: Case, *, trials: int) -> Result:
    """How often the permutation of labels finds an MBE of 50 to be another, with the interval's coverage."""
    rng = generator(f"labels {case.title}", trials)
    tables = [draw_rows(case, rng) for _ in range(trials)]
    metric = registry.get("metric", "mbe")
    intervals = [find_interval(metric.contribute(rows, "corrected"), SETTINGS, bounds=metric.bounds) for rows in tables]
    found = [permutation_p(rows, mode="corrected", permutations=500, seed=0) <= 0.05 for rows in tables]
    result = _result([(interval.low, interval.high) for interval in intervals], 50.0)
    return replace(result, found=100 * float(np.mean(found)))


def simulate_likeness(case: tuple[int, int, float], *, trials: int) -> tuple[Result, Result]:
    """How often the intervals of kappa and of the rank correlation of two languages hold the truth."""
    rng = generator(f"likeness {case}", trials)
    truth = _likeness((4_000, *case[1:]), rng)
    rows = [_likeness(case, rng) for _ in range(trials)]
    kappa = _result([(row.kappa_low, row.kappa_high) for row in rows], truth.kappa or 0.0)
    return kappa, _result([(row.rho_low, row.rho_high) for row in rows], truth.rho or 0.0)


def _likeness(case: tuple[int, int, float], rng: np.random.Generator) -> structure.Likeness:
    clusters, size, spread = case
    index = np.repeat(np.arange(clusters), size)
    shared, item = spread * rng.normal(size=clusters), rng.normal(size=len(index))
    sides = []
    for _ in range(2):
        effects = (shared + spread * rng.normal(size=clusters))[index] / 2**0.5
        gap = 0.2 + effects + (item + rng.normal(size=len(index))) / 2**0.5
        sides.append((np.sign(gap).astype(int) + 1, ranks(gap)))
    return structure._likeness(("a", "b"), (sides[0], sides[1]), index=index)


def simulate_family(*, size: int = 20, true: int = 0, trials: int) -> tuple[float, float]:
    """Of twenty paired comparisons, some with a true difference: in per cent, sets with a false finding after Holm's
    correction, and the mean share of false findings among all after BH's."""
    case, rng = Case("ss", clusters=15, sizes=(10, 10), share=0.5), generator(f"family {true}", trials)
    wrong, shares = 0, []
    for _ in range(trials):
        sides = [draw_pair(case, replace(case, share=0.35 if i < true else 0.5), rng, paired=True) for i in range(size)]
        p = [paired_test(a, b, bounds=(0, 100), settings=SETTINGS).p or 1.0 for a, b in sides]
        found = [number for number, value in enumerate(adjust_bh(p)) if value <= 0.05]
        wrong += min(adjust_holm(p)[true:]) <= 0.05
        shares.append(sum(number >= true for number in found) / max(1, len(found)))
    return 100 * wrong / trials, 100 * float(np.mean(shares))


class Store:
    """Results by case, kept in a file as they are made."""

    def __init__(self, path: Path | None, trials: int, *, afresh: bool = False, minutes: float = math.inf) -> None:
        self.path, self.trials, self.end = path, trials, time.monotonic() + 60 * minutes
        self.known: dict[str, Any] = json.loads(path.read_text()) if path and path.exists() and not afresh else {}
        self.repeating = False

    def get(self, key: str, make: Callable[[int], Any]) -> Any:
        """What was simulated with as many data sets before, or now while there is time; else what is known, or None."""
        trials, row = self._trials(key), self.known.get(key)
        if trials and time.monotonic() < self.end:
            row = self.known[key] = {"trials": trials, "values": make(trials)}
            if self.path:
                self.path.write_text(json.dumps(self.known, indent=0, sort_keys=True) + "\n", encoding="utf-8")
            print(key, row, flush=True)
        return row["values"] if row else None

    def _trials(self, key: str) -> int:
        """How many data sets are to be simulated: none if the line is known, more if it is doubtful and lines are repeated."""
        row = self.known.get(key)
        if row is None or row["trials"] < self.trials:
            return self.trials
        parts = row["values"] if isinstance(row["values"], list) else [row["values"]]
        doubtful = any(Result(**part).is_doubtful for part in parts if isinstance(part, dict))
        repeated = REPEATED * self.trials
        return repeated if self.repeating and doubtful and row["trials"] < repeated else 0

    def of_case(self, case: Case) -> Result | None:
        """The result of a case."""
        row = self.get(f"{case.metric}: {case.title}", lambda trials: asdict(simulate(case, trials=trials)))
        return Result(**row) if row else None

    def of_pair(self, pair: Pair) -> Result | None:
        """The result of two sides."""
        row = self.get(f"{pair.a.metric}, {pair.title}", lambda trials: asdict(simulate_pair(pair, trials=trials)))
        return Result(**row) if row else None

    def of_threshold(self, case: Case) -> Result | None:
        """The result of a value against the truth."""
        row = self.get(
            f"threshold, {case.metric}: {case.title}", lambda trials: asdict(simulate_threshold(case, trials=trials))
        )
        return Result(**row) if row else None  # fmt: skip

    def of_labels(self, case: Case) -> Result | None:
        """The result of MBE's permutation test."""
        row = self.get(
            f"permutation of labels: {case.title}", lambda trials: asdict(simulate_labels(case, trials=trials))
        )
        return Result(**row) if row else None  # fmt: skip


def main() -> None:
    """Print the matrix; of all metrics, write it into the pages."""
    from benchmarks import coverage_pages

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", help="this metric's lines only; nothing is written")
    parser.add_argument("--trials", type=int, default=1000, help="simulated data sets per line")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no case later; 0 writes what is known")
    parser.add_argument("--afresh", action="store_true", help="simulate everything again")
    options = parser.parse_args()
    if options.metric:
        print("\n".join(coverage_pages.matrix_of(options.metric, Store(None, options.trials))))
        return
    coverage_pages.write(Store(STORE, options.trials, afresh=options.afresh, minutes=options.minutes))


if __name__ == "__main__":
    main()
