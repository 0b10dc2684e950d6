"""The rows of an outside calibration of 0.2.0, with the rule of this version or, for the comparison, that of 0.2.0 on the same data sets.

`python -m benchmarks.outside` simulates what benchmarks/outside.json lacks and writes the tables of docs/dev/calibration.md. With the
source of another version first in PYTHONPATH, `--rule NAME` keeps the results under that name; both see the same draws. `--only WORD`
chooses groups of rows; real targets need the published scores (ISOGLOSS_REAL_DATA).
"""

from __future__ import annotations

import argparse
import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.held_out import Population, draw_items, draw_targets
from isogloss.analysis.differences import paired_test, unpaired_test
from isogloss.analysis.intervals import IntervalSettings, find_interval
from isogloss.metrics import Contribution, from_sums, from_values, percent, ratio
from isogloss.metrics._preferences import icat, icat_of_means
from isogloss.stats.resampling import cluster_sums

STORE = Path(__file__).parent / "outside.json"
NOW, BEFORE = "now", "0.2.0"
SETTINGS = IntervalSettings(resamples=1000)
MANY = 300_000
TRIPLES = ("ss", "lms", "icat", "icat_macro", "ss_multiclass")
PREFERENCES = ("ss", "icat", "icat_macro", "ss_multiclass")
SHARE, PLAIN, POSITIVE = (0.0, 100.0), (-math.inf, math.inf), (0.0, math.inf)

Sides = Mapping[str, Contribution]


@dataclass(frozen=True)
class Row:
    """Data sets with known values by metric; `draw` makes one, as each metric sees it."""

    group: str
    name: str
    truths: Callable[[], Mapping[str, float]]
    draw: Callable[[np.random.Generator], Sides]
    bounds: tuple[float, float] = SHARE


@dataclass(frozen=True)
class PairRow:
    """Two sides without a true difference in one metric."""

    group: str
    name: str
    draw: Callable[[np.random.Generator], tuple[Contribution, Contribution]]
    paired: bool = True
    bounds: tuple[float, float] = SHARE


def see(sums: Any, index: Any, metrics: Sequence[str], *, ties: int = 0) -> dict[str, Contribution]:
    """Items (the share of related candidates that win, the win of the stereotype, and 1) as the metrics see them."""
    names, known = index.tolist(), {}
    totals = cluster_sums(sums, index)
    lms, ss = (100 * totals[:, k] / totals[:, 2] for k in (0, 1))
    for metric in metrics:
        if metric == "icat":
            known[metric] = icat_of_means(sums, names, scale=100, n=len(sums), ties=ties)
        elif metric == "icat_macro":
            known[metric] = replace(from_values(icat(lms, ss), range(len(ss))), alone=None)
        elif metric == "ss_multiclass":
            known[metric] = from_values(ss, range(len(ss)), finish=ratio)
        else:
            columns = [{"lms": 0, "ss": 1}[metric], 2]
            known[metric] = from_sums(sums[:, columns], names, finish=percent, ties=ties)
    return known


def of_population(group: str, population: Population, metrics: Sequence[str]) -> Row:
    """A row of `held_out`'s kind of population."""

    def draw(rng: np.random.Generator) -> Sides:
        sums, index = draw_items(population, rng, draw_targets(population, rng, population.clusters))
        return see(sums, index, metrics, ties=int(np.sum(sums[:, 1] == 0.5)))

    return Row(group, repr(population), lambda: true_values(population, metrics), draw)


def true_values(population: Population, metrics: Sequence[str]) -> dict[str, float]:
    """The values over all targets; of macro ICAT, that of as many items per target."""
    rng = np.random.default_rng(5)
    sizes, chance, related = draw_targets(population, rng, MANY)
    chance = (1 - population.ties) * chance
    ss, lms = (100 * float(np.average(values, weights=sizes)) for values in (chance + population.ties / 2, related))
    if population.correlation is not None:  # by definition; a sample of strongly skewed sizes is some way off
        ss = 100 * ((1 - population.ties) * population.share + population.ties / 2)
    won = rng.binomial(sizes, chance)
    ties = sizes - won - rng.binomial(sizes - won, (1 - population.ties - chance) / (1 - chance))
    macro = icat(100 * rng.binomial(2 * sizes, related) / (2 * sizes), 100 * (won + ties / 2) / sizes)
    multi = 100 * float(chance.mean() + population.ties / 2)
    values = {
        "ss": ss,
        "lms": lms,
        "icat": float(icat(lms, ss)),
        "icat_macro": float(macro.mean()),
        "ss_multiclass": multi,
    }
    return {metric: values[metric] for metric in metrics}


def simulate(row: Row, *, trials: int, truths: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """By metric: coverage in per cent, and the median width."""
    rng = _generator(row.name)
    ends: dict[str, list[tuple[float, float] | None]] = {metric: [] for metric in truths}
    for _ in range(trials):
        for metric, side in row.draw(rng).items():
            end = find_interval(side, SETTINGS, bounds=row.bounds)
            ends[metric].append(None if end.low is None or end.high is None else (end.low, end.high))
    return {metric: summarise(own, truths[metric]) for metric, own in ends.items()}


def summarise(ends: Sequence[tuple[float, float] | None], truth: float) -> dict[str, float]:
    there = [end for end in ends if end is not None]
    if not there:
        return {"none": 100.0}
    held = [low - 1e-9 <= truth <= high + 1e-9 for low, high in there]
    values = {"held": 100 * float(np.mean(held)), "width": float(np.median([high - low for low, high in there]))}
    return values if len(there) == len(ends) else {**values, "none": 100 * (1 - len(there) / len(ends))}


def simulate_pair(row: PairRow, *, trials: int) -> dict[str, float]:
    """How often p is at most 0.05, how often the interval excludes 0 too, its coverage and its median width."""
    rng, test = _generator(row.name), paired_test if row.paired else unpaired_test
    rows = [test(*row.draw(rng), bounds=row.bounds, settings=SETTINGS) for _ in range(trials)]
    ends = [None if one.low is None or one.high is None else (one.low, one.high) for one in rows]
    found = [one.p is not None and one.p <= 0.05 for one in rows]
    claimed = [p and end is not None and not end[0] <= 0 <= end[1] for p, end in zip(found, ends, strict=True)]
    shares = {"found": 100 * float(np.mean(found)), "claimed": 100 * float(np.mean(claimed))}
    return {**shares, **summarise(ends, 0.0)}


def _generator(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def rows() -> Iterator[Row | PairRow]:
    """Every row, group by group."""
    from benchmarks import outside_rows

    yield from outside_rows.real_rows()
    yield from outside_rows.value_rows()
    yield from outside_rows.other_rows()
    yield from outside_rows.pair_rows()


def run(path: Path, *, rule: str, trials: int, only: Sequence[str]) -> dict[str, Any]:
    """What the file has, and every row that it does not have with as many data sets."""
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    own = known.setdefault(rule, {})
    for row in rows():
        key = f"{row.group}: {row.name}"
        if (only and not any(word in row.group for word in only)) or own.get(key, {"trials": 0})["trials"] >= trials:
            continue
        if isinstance(row, PairRow):
            values: Any = simulate_pair(row, trials=trials)
        else:
            truths = known.setdefault("truths", {}).setdefault(key, None) or dict(row.truths())
            known["truths"][key] = truths
            values = simulate(row, trials=trials, truths=truths)
        own[key] = {"group": row.group, "trials": trials, "values": values}
        path.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        print(rule, key, values, flush=True)
    return known


def main() -> None:
    """Simulate what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rule", default=NOW, help="the name under which results are kept")
    parser.add_argument("--trials", type=int, default=400, help="data sets per row")
    parser.add_argument("--only", action="append", default=[], help="groups of rows whose name contains this")
    parser.add_argument("--store", type=Path, default=STORE, help="where the results are kept")
    options = parser.parse_args()
    known = run(options.store, rule=options.rule, trials=options.trials, only=options.only)
    if options.rule == NOW and options.store == STORE:
        from benchmarks.outside_page import write

        write(known)


if __name__ == "__main__":
    from benchmarks.outside import main as run_as_module  # the rows import this module by its name

    run_as_module()
