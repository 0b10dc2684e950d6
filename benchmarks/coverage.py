"""How often do the 95 % intervals hold the truth, and how often do the tests find what is not there?

Simulates data whose truth is known, and gives it to the functions behind `measure`, `compare` and `structure`.
`python -m benchmarks.coverage` prints the matrix, keeps it in benchmarks/coverage.json and writes it into docs/statistics.md
(an hour; what is in the file with as many data sets is not simulated again, unless `--afresh`, and after `--minutes N` no
further case is begun); `--metric NAME` prints the lines of one metric, which may be a plug-in's; `--trials N` is the number
of data sets per line.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.coverage_cases import BEFORE, CASES, CLUSTERS, GRID, GRID_METRICS, LIKENESS, PAIRS, Pair
from benchmarks.populations import Case, draw, draw_pair, truth_of
from isogloss import registry
from isogloss.analysis import structure
from isogloss.analysis.differences import paired_test, unpaired_test
from isogloss.analysis.intervals import IntervalSettings, find_interval
from isogloss.stats.associations import ranks
from isogloss.stats.hypotheses import adjust_bh, adjust_holm
from isogloss.stats.resampling import FEWEST_CLUSTERS

PAGE = Path(__file__).parent.parent / "docs" / "statistics.md"
STORE = Path(__file__).parent / "coverage.json"
START, END = "<!-- coverage: start -->", "<!-- coverage: end -->"
ALLOWED = 1.5
MOST_FALSE = 5.5
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


def simulate(case: Case, *, trials: int) -> Result:
    """How often the metric's interval holds the truth."""
    if case.clusters < FEWEST_CLUSTERS:
        trials = min(trials, 20)  # there is no interval, which few data sets show
    rng, truth = np.random.default_rng([case.clusters, len(case.title)]), truth_of(case)
    bounds = registry.get("metric", case.metric).bounds
    ends = [find_interval(draw(case, rng), SETTINGS, bounds=bounds) for _ in range(trials)]
    return _result([(one.low, one.high) for one in ends], truth)


def _result(ends: Sequence[tuple[float | None, float | None]], truth: float) -> Result:
    there = [(low, high) for low, high in ends if low is not None and high is not None]
    missing = 100 * (1 - len(there) / len(ends))
    if not there:
        return Result(None, missing, None, len(ends))
    held = 100 * float(np.mean([low - 1e-9 <= truth <= high + 1e-9 for low, high in there]))
    return Result(held, missing, float(np.mean([high - low for low, high in there])), len(ends))


def simulate_pair(pair: Pair, *, trials: int) -> Result:
    """How often the interval holds the true difference, and how often there is a p up to 0.05."""
    rng, truth = np.random.default_rng([pair.a.clusters, pair.b.clusters]), truth_of(pair.a) - truth_of(pair.b)
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
    return replace(result, found=100 * float(np.mean(found)), claimed=100 * float(np.mean(claimed)))  # fmt: skip


def simulate_likeness(case: tuple[int, int, float], *, trials: int) -> tuple[Result, Result]:
    """How often the intervals of kappa and of the rank correlation of two languages hold the truth."""
    rng = np.random.default_rng(3)
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
    case, rng = Case("ss", clusters=15, sizes=(10, 10), share=0.5), np.random.default_rng(20)
    wrong, shares = 0, []
    for _ in range(trials):
        sides = [draw_pair(case, replace(case, share=0.35 if i < true else 0.5), rng, paired=True) for i in range(size)]
        p = [paired_test(a, b, bounds=(0, 100), settings=SETTINGS).p or 1.0 for a, b in sides]
        found = [number for number, value in enumerate(adjust_bh(p)) if value <= 0.05]
        wrong += min(adjust_holm(p)[true:]) <= 0.05
        shares.append(sum(number >= true for number in found) / max(1, len(found)))
    return 100 * wrong / trials, 100 * float(np.mean(shares))


# ---- the matrix


class Store:
    """Results by case, kept in a file as they are made."""

    def __init__(self, path: Path | None, trials: int, *, afresh: bool = False, minutes: float = math.inf) -> None:
        self.path, self.trials, self.end = path, trials, time.monotonic() + 60 * minutes
        self.known: dict[str, Any] = json.loads(path.read_text()) if path and path.exists() and not afresh else {}

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """What was simulated with as many data sets before, or now while there is time; else what is known, or None."""
        row = self.known.get(key)
        if (row is None or row["trials"] < self.trials) and time.monotonic() < self.end:
            row = self.known[key] = {"trials": self.trials, "values": make()}
            if self.path:
                self.path.write_text(json.dumps(self.known, indent=0, sort_keys=True) + "\n", encoding="utf-8")
            print(key, row["values"], flush=True)
        return row["values"] if row else None

    def of_case(self, case: Case) -> Result | None:
        """The result of a case."""
        row = self.get(f"{case.metric}: {case.title}", lambda: asdict(simulate(case, trials=self.trials)))
        return Result(**row) if row else None

    def of_pair(self, pair: Pair) -> Result | None:
        """The result of two sides."""
        row = self.get(f"{pair.a.metric}, {pair.title}", lambda: asdict(simulate_pair(pair, trials=self.trials)))
        return Result(**row) if row else None


def matrix(store: Store) -> list[str]:
    """The lines of the page: cases that are known from 0.1.0, the grid, the other metrics, tests, families."""
    lines = ["Cases of the simulation of 0.1.0:", "", *case_table(BEFORE, store)]
    lines += ["", "Comparisons:", "", *pair_table(PAIRS, store)]
    lines += ["", "Kappa and rank correlation of two languages:", "", *likeness_table(store), "", *families(store)]
    lines += ["", "Other metrics, and intervals of more than 10,000 clusters:", ""]
    lines += case_table([(case, None) for case in CASES], store)
    for metric in GRID_METRICS:
        lines += ["", f"Coverage of {metric} in per cent by the number of clusters:", "", *grid(metric, store)]
    return lines


def matrix_of(metric: str, store: Store) -> list[str]:
    """The lines of one metric; one that has none of its own, such as a plug-in's, gets those of the grid."""
    cases = [row for row in (*BEFORE, *((case, None) for case in CASES)) if row[0].metric == metric]
    chosen = cases or [(replace(case, metric=metric, clusters=n), None) for case in GRID for n in (10, 20, 79)]
    pairs = [pair for pair in PAIRS if pair.a.metric == metric]
    return [*case_table(chosen, store), *(["", *pair_table(pairs, store)] if pairs else [])]


def case_table(rows: Sequence[tuple[Case, float | None]], store: Store) -> list[str]:
    """One line per case."""
    lines = [
        "| metric | data | 0.1.0 | coverage, % | mean width | no interval, % |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for case, before in rows:
        one = store.of_case(case)
        if one is None:
            continue
        width = "-" if one.width is None else f"{one.width:.3g}"
        lines.append(
            f"| {case.metric} | {case.title} | {_plain(before)} | {_share(one, one.held)} | {width} | {one.missing:.0f} |"
        )
    return lines  # fmt: skip


def grid(metric: str, store: Store) -> list[str]:
    """One line per kind of data, one column per number of clusters."""
    lines = [f"| data | {' | '.join(map(str, CLUSTERS))} |", "| --- |" + " --- |" * len(CLUSTERS)]
    for case in GRID:
        cells = [store.of_case(replace(case, metric=metric, clusters=count)) for count in CLUSTERS]
        shares = ["" if one is None else _plain(one.held) or "-" for one in cells]
        if any(shares):
            lines.append(f"| {case.data} | {' | '.join(shares)} |")
    return lines


def pair_table(pairs: Sequence[Pair], store: Store) -> list[str]:
    """One line per pair of sides; where their true values differ, what is found is no error."""
    lines = [
        "| metric | sides | 0.1.0 | p ≤ 0.05, % | claimed, % | coverage, % |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for pair in pairs:
        one = store.of_pair(pair)
        if one is None:
            continue
        cells = (
            pair.a.metric,
            pair.title,
            _plain(pair.before),
            _share(one, one.found),
            _plain(one.claimed),
            _share(one, one.held),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines  # fmt: skip


def likeness_table(store: Store) -> list[str]:
    """One line per case of two languages."""
    lines = [
        "| clusters | items each | spread | kappa, coverage % | rank correlation, coverage % |",
        "| --- | --- | --- | --- | --- |",
    ]
    for case in LIKENESS:
        rows = store.get(
            f"likeness {case}", lambda c=case: [asdict(one) for one in simulate_likeness(c, trials=store.trials)]
        )  # type: ignore[misc]
        shares = [_share(Result(**row), row["held"]) for row in rows or ()]
        if shares:
            lines.append(f"| {' | '.join(map(str, (*case, *shares)))} |")
    return lines  # fmt: skip


def families(store: Store) -> list[str]:
    """Twenty comparisons at once, without and with true differences."""
    none, some = (
        store.get(f"family with {true} true", lambda t=true: simulate_family(true=t, trials=store.trials // 4))
        for true in (0, 5)
    )  # type: ignore[misc]
    if not none or not some:
        return []
    return [
        f"Twenty paired comparisons at once: without any true difference one or more is found in {none[0]:.1f} % "
        f"(Holm) and {none[1]:.1f} % (BH); with five true ones of 15 points, a false one is among the findings in {some[0]:.1f} % (Holm), "
        f"and {some[1]:.1f} % of the findings are false (BH)."
    ]  # fmt: skip


def fill_page(page: str, store: Store) -> str:
    """The page with the results between its marks."""
    lines = matrix(store)
    before, _, rest = page.partition(START)
    counts = [row["trials"] for row in store.known.values()]
    said = f"{min(counts)} to {max(counts)} simulated data sets per line; ± is the Monte Carlo error."
    return "\n".join([before + START, "", said, "", *summary(store), "", *lines, "", END + rest.partition(END)[2]])


def summary(store: Store) -> list[str]:
    """How many results are inside the goal, and which are not."""
    results = {key: Result(**row["values"]) for key, row in store.known.items() if isinstance(row["values"], dict)}
    covered = {key: one for key, one in results.items() if one.held is not None}
    tested = {key: one for key, one in results.items() if one.found is not None}
    narrow = [(key, one, one.held) for key, one in covered.items() if one.held < 95 - ALLOWED]
    wide = [(key, one, one.held) for key, one in covered.items() if one.held > 95 + ALLOWED]
    found = [(key, one, one.found) for key, one in tested.items() if one.found > MOST_FALSE]
    lines = [
        f"Coverage is within 95 ± {ALLOWED} % in {len(covered) - len(narrow) - len(wide)} of {len(covered)} cases with an interval, "
        f"lower in {len(narrow)} and higher in {len(wide)}; false positives are at most {MOST_FALSE} % in {len(tested) - len(found)} of "
        f"{len(tested)} comparisons. {len(results) - len(covered)} cases have too few clusters for an interval."
    ]
    for title, rows in (("Covered too rarely", narrow), ("Found too often", found), ("Wider than needed", wide)):
        named = [f"* {key}: {_share(one, value)} %" for key, one, value in sorted(rows, key=lambda row: row[0])]
        lines += ["", f"{title}:", "", *named] if named else []
    return lines  # fmt: skip


def _share(one: Result, value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} ± {one.error(value):.1f}"


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def main() -> None:
    """Print the matrix; of all metrics, write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", help="this metric's lines only; nothing is written")
    parser.add_argument("--trials", type=int, default=1000, help="simulated data sets per line")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no case later; 0 writes what is known")
    parser.add_argument("--afresh", action="store_true", help="simulate everything again")
    options = parser.parse_args()
    if options.metric:
        print("\n".join(matrix_of(options.metric, Store(None, options.trials))))
        return
    store = Store(STORE, options.trials, afresh=options.afresh, minutes=options.minutes)
    PAGE.write_text(fill_page(PAGE.read_text(encoding="utf-8"), store), encoding="utf-8")


if __name__ == "__main__":
    main()
