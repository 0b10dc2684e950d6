"""Populations on which no interval and no test was tuned: they were written down before the rule was run on them.

`python -m benchmarks.held_out` writes one line per kind of population into docs/dev/coverage.md; `--trials N` is the number of data sets per case, and
`--store FILE` keeps every case, so that a run can be continued. The page keeps them apart from the matrix.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from isogloss import registry
from isogloss.analysis.differences import paired_test, unpaired_test
from isogloss.analysis.intervals import IntervalSettings, find_interval
from isogloss.metrics import Contribution, percent, ratio
from isogloss.metrics._preferences import icat, icat_of_means
from isogloss.stats.resampling import cluster_sums

STORE = Path(__file__).parent / "held_out.json"
PAGE = Path(__file__).parent.parent / "docs" / "dev" / "coverage.md"
START, END = "<!-- held out: start -->", "<!-- held out: end -->"
SETTINGS = IntervalSettings(resamples=500)
METRICS = {"levels": ("ss", "icat", "icat_macro"), "lms": ("lms", "icat")}  # others: SS and ICAT
MANY = 400_000
GRID = np.linspace(0.0002, 0.9998, 5001)
LOW, HIGH = (
    93.0,
    97.0,
)  # coverage that is clearly outside of these, by two Monte Carlo errors, counts as too low or too high


@dataclass(frozen=True)
class Population:
    """Targets with items. A target's SS is beta-distributed around `share` with the intraclass correlation `likeness`, or, with
    `correlation`, logistic with a normal part that goes with the logarithm of its size (standard deviation `size_spread`).

    `opposite` is the SS of a tenth of all targets. `templates` are wordings that all targets share, each with an effect
    of 0.8 on the logit scale; they are the same in every data set.
    """

    kind: str
    clusters: int
    share: float = 0.6
    likeness: float = 0.05
    related: float = 0.85
    related_likeness: float = 0.05
    size: float = 27
    size_spread: float = 0.2
    correlation: float | None = None
    ties: float = 0.02
    opposite: float | None = None
    templates: int = 0


@dataclass(frozen=True)
class HeldOutPair:
    """Two sides with the same true value, whose targets' effects are half in common where they are paired."""

    kind: str
    a: Population
    b: Population
    metric: str = "ss"
    paired: bool = True


P = Population
POPULATIONS = (
    *(P("levels", c, share=s) for c in (12, 20, 79) for s in (0.35, 0.65, 0.97)),
    *(P("sizes", c, share=s, size_spread=z, correlation=r)
      for c in (20, 79) for z in (0.8, 1.3) for r in (-0.6, 0.6) for s in (0.35, 0.65)),
    *(P("lms", c, related=q, related_likeness=0.3) for c in (20, 79) for q in (0.52, 0.75, 0.99)),
    *(P("ties", c, ties=t) for c in (20, 79) for t in (0.05, 0.3)),
    *(P("mixtures", c, share=s, opposite=o) for c in (20, 79) for s, o in ((0.62, 0.1), (0.52, 0.98), (0.97, 0.4))),
    *(P("few items", c, size=5, size_spread=0.0, share=s) for c in (12, 20) for s in (0.5, 0.85)),
    *(P("these templates", c, templates=10) for c in (20, 79)),
)  # fmt: skip
BASE = P("", 0, share=0.5)
PAIRS = (
    *(HeldOutPair("paired, ordinary", replace(BASE, clusters=c, share=s), replace(BASE, clusters=c, share=s), m)
      for c in (12, 20, 79) for s in (0.5, 0.85, 0.97) for m in ("ss", "icat")),
    *(HeldOutPair("paired, one side varies more", replace(BASE, clusters=c, likeness=0.02), replace(BASE, clusters=c, likeness=0.25))
      for c in (12, 20, 79)),
    *(HeldOutPair("paired, sizes go with one side", replace(BASE, clusters=c, size_spread=1.2, correlation=0.6), replace(BASE, clusters=c, size_spread=1.2, correlation=0.0))
      for c in (12, 20, 79)),
    *(HeldOutPair("paired, sizes go with both, opposite", replace(BASE, clusters=c, size_spread=1.0, correlation=0.5), replace(BASE, clusters=c, size_spread=1.0, correlation=-0.5))
      for c in (12, 20, 79)),
    *(HeldOutPair("unpaired", replace(BASE, clusters=c, share=s), replace(BASE, clusters=d, share=s), m, paired=False)
      for c, d in ((20, 12), (79, 14), (79, 39)) for s in (0.5, 0.97) for m in ("ss", "icat")),
    *(HeldOutPair("unpaired, sizes go with one side", replace(BASE, clusters=c, size_spread=1.2, correlation=0.6), replace(BASE, clusters=c), paired=False)
      for c in (20, 79)),
)  # fmt: skip


def draw_targets(
    population: Population, rng: np.random.Generator, count: int, *, shared: Any = None
) -> tuple[Any, ...]:
    """The targets' numbers of items, their SS and their LMS as shares; `shared` are the normal parts that two sides share."""
    z, e = shared if shared is not None else rng.normal(size=(2, count))
    e = np.sqrt(0.5) * e + np.sqrt(0.5) * rng.normal(size=count) if shared is not None else e
    sizes = np.maximum(
        1, np.round(population.size * np.exp(population.size_spread * z - population.size_spread**2 / 2))
    )
    if population.correlation is not None:
        r = population.correlation
        chance = expit(centre(population) + r * z + np.sqrt(1 - r**2) * e)
    else:
        chance = beta_quantiles(population.share, population.likeness, e)
    if population.opposite is not None:
        chance = np.where(rng.random(count) < 0.1, population.opposite, chance)
    return (
        sizes.astype(int),
        chance,
        beta_quantiles(population.related, population.related_likeness, rng.normal(size=count)),
    )


def beta_quantiles(mean: float, likeness: float, normal: Any) -> Any:
    """Beta-distributed values with the quantiles of the normal ones."""
    from scipy.special import ndtr

    return np.interp(ndtr(normal), GRID, _quantiles(mean, likeness))


@cache
def _quantiles(mean: float, likeness: float) -> Any:
    from scipy.special import betaincinv

    return betaincinv(mean * (1 / likeness - 1), (1 - mean) * (1 / likeness - 1), GRID)


@cache
def centre(population: Population) -> float:
    """The logit at which the mean SS, each target counting by its size, is `share`."""
    from scipy.optimize import brentq

    r = population.correlation or 0.0
    z, e = np.random.default_rng(3).normal(size=(2, MANY))
    weights, effects = np.exp(population.size_spread * z), r * z + np.sqrt(1 - r**2) * e
    return float(brentq(lambda c: np.average(expit(c + effects), weights=weights) - population.share, -9, 9))


def draw_items(population: Population, rng: np.random.Generator, targets: tuple[Any, ...]) -> tuple[Any, Any]:
    """Per item the share of related candidates that win, the win of the stereotype, and 1; and the items' targets."""
    sizes, chance, related = targets
    index = np.repeat(np.arange(len(sizes)), sizes)
    wins = chance[index]
    if population.templates:
        effects = 0.8 * np.random.default_rng(11).normal(size=population.templates)
        wins = expit(np.log(wins / (1 - wins)) + effects[rng.integers(population.templates, size=len(index))])
    won = np.where(rng.random(len(index)) < population.ties, 0.5, rng.random(len(index)) < wins)
    sense = (rng.random((2, len(index))) < related[index]).mean(0)
    return np.column_stack([sense, won, np.ones(len(index))]), index


def contribute(metric: str, sums: Any, index: Any) -> Contribution:
    """The items as the metric sees them, by its own functions; faster than a table for each data set."""
    if metric == "icat_macro":
        totals = cluster_sums(sums, index)
        lms, ss = (100 * totals[:, k] / totals[:, 2] for k in (0, 1))
        sums, index = np.column_stack([icat(lms, ss), np.ones(len(totals))]), np.arange(len(totals))
        return _from_items(sums, index, finish=ratio)
    if metric == "icat":
        kind = icat_of_means(np.ones((1, 3)), ["one"], scale=100, n=1, ties=0)
        return replace(_from_items(sums, index, finish=kind.finish), pieces=kind.pieces)
    return _from_items(sums[:, [{"lms": 0, "ss": 1}[metric], 2]], index, finish=percent)


def _from_items(sums: Any, index: Any, *, finish: Any) -> Contribution:
    totals, sizes = cluster_sums(sums, index), np.bincount(index).astype(float)
    names = tuple(map(str, range(len(totals))))
    within = sums.T @ sums - totals.T @ (totals / sizes[:, None])
    whole = Contribution(names, lambda weights: finish(weights @ totals), len(sums), totals=totals, finish=finish)
    return replace(whole, sizes=sizes, within=within)


def draw(population: Population, metric: str, rng: np.random.Generator) -> Contribution:
    """A data set as the metric sees it."""
    targets = draw_targets(population, rng, population.clusters)
    return contribute(metric, *draw_items(population, rng, targets))


def draw_pair(pair: HeldOutPair, rng: np.random.Generator) -> tuple[Contribution, Contribution]:
    """Two sides; paired, with the same targets and sizes, and effects that are half in common."""
    shared = rng.normal(size=(2, pair.a.clusters)) if pair.paired else None
    sides = []
    for population in (pair.a, pair.b):
        targets = draw_targets(population, rng, population.clusters, shared=shared)
        sides.append(contribute(pair.metric, *draw_items(population, rng, targets)))
    return sides[0], sides[1]


@cache
def truth_of(population: Population, metric: str) -> float:
    """The value over all targets; of macro ICAT, that of as many items per target."""
    rng = np.random.default_rng(5)
    sizes, chance, related = draw_targets(population, rng, MANY)
    if population.templates:
        effects = 0.8 * np.random.default_rng(11).normal(size=population.templates)
        chance = expit(np.log(chance / (1 - chance))[:, None] + effects).mean(1)
    chance = (1 - population.ties) * chance
    if metric == "icat_macro":
        lost = (1 - population.ties - chance) / (1 - chance)
        won = rng.binomial(sizes, chance)
        ties = sizes - won - rng.binomial(sizes - won, lost)
        return float(icat(100 * rng.binomial(2 * sizes, related) / (2 * sizes), 100 * (won + ties / 2) / sizes).mean())
    ss, lms = (100 * np.average(values, weights=sizes) for values in (chance + population.ties / 2, related))
    return float({"ss": ss, "lms": lms, "icat": icat(lms, ss)}[metric])


def simulate(population: Population, metric: str, *, trials: int) -> dict[str, float]:
    """Coverage in per cent and median width of a metric's interval."""
    rng, truth = _generator((population, metric)), truth_of(population, metric)
    bounds = registry.get("metric", metric).bounds
    ends = [find_interval(draw(population, metric, rng), SETTINGS, bounds=bounds) for _ in range(trials)]
    there = [(end.low, end.high) for end in ends if end.low is not None and end.high is not None]
    held = [low - 1e-9 <= truth <= high + 1e-9 for low, high in there]
    return {"held": 100 * float(np.mean(held)), "width": float(np.median([high - low for low, high in there]))}


def simulate_pair(pair: HeldOutPair, *, trials: int) -> dict[str, float]:
    """Coverage and median width of the difference's interval, and how often p is at most 0.05."""
    rng, test = _generator(pair), paired_test if pair.paired else unpaired_test
    bounds = registry.get("metric", pair.metric).bounds
    rows = [test(*draw_pair(pair, rng), bounds=bounds, settings=SETTINGS) for _ in range(trials)]
    there = [(row.low, row.high) for row in rows if row.low is not None and row.high is not None]
    return {
        "held": 100 * float(np.mean([low <= 0 <= high for low, high in there])),
        "width": float(np.median([high - low for low, high in there])),
        "found": 100 * float(np.mean([row.p is not None and row.p <= 0.05 for row in rows])),
    }


def _generator(case: Any) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(case).encode()))


def cases() -> Iterator[tuple[str, str, Callable[[int], dict[str, float]]]]:
    """The kind, the key and the simulation of each case."""
    for pair in PAIRS:
        yield pair.kind, repr(pair), lambda trials, p=pair: simulate_pair(p, trials=trials)  # type: ignore[misc]
    from benchmarks.rank_coverage import RANKINGS, simulate_ranks

    for ranking in RANKINGS:
        yield ranking.kind, repr(ranking), lambda trials, r=ranking: simulate_ranks(r, trials=trials)  # type: ignore[misc]
    for population in POPULATIONS:
        for metric in METRICS.get(population.kind, ("ss", "icat")):
            key = f"{metric} {sorted(asdict(population).items())}"
            yield population.kind, key, lambda trials, p=population, m=metric: simulate(p, m, trials=trials)  # type: ignore[misc]


def run(path: Path, *, trials: int) -> dict[str, Any]:
    """Every case that the file does not have with as many data sets, and what it has."""
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for kind, key, make in cases():
        if key not in known or known[key]["trials"] < trials:
            known[key] = {"kind": kind, "trials": trials, **make(trials)}
            path.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    return known


def table(known: dict[str, Any]) -> list[str]:
    """One line per kind of population."""
    lines = [
        "| populations never tuned on | cases | mean coverage, % | least | most | too low | too high | p ≤ 0.05, % |"
    ]
    lines += ["| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for kind in dict.fromkeys(kind for kind, _, _ in cases()):
        rows = [row for row in known.values() if row["kind"] == kind]
        if not rows:
            continue
        held, error = np.array([row["held"] for row in rows]), [_error(row["held"], row["trials"]) for row in rows]
        low, high = int(np.sum(held + 2 * np.array(error) < LOW)), int(np.sum(held - 2 * np.array(error) > HIGH))
        found = [row["found"] for row in rows if "found" in row]
        share = f"{min(found):.1f} to {max(found):.1f}" if found else ""
        cells = (kind, len(rows), f"{held.mean():.1f}", f"{held.min():.1f}", f"{held.max():.1f}", low, high, share)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _error(value: float, trials: int) -> float:
    share = min(max(value / 100, 0.5 / trials), 1 - 0.5 / trials)
    return 100 * float(np.sqrt(share * (1 - share) / trials))


def fill(known: dict[str, Any]) -> str:
    """The text of docs/dev/coverage.md with the table between its marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    return "\n".join([before + START, "", *table(known), "", END + rest.partition(END)[2]])


def main() -> None:
    """Simulate what is missing, and write the table into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=300, help="data sets per case")
    parser.add_argument("--store", type=Path, default=STORE, help="where the results are kept")
    options = parser.parse_args()
    PAGE.write_text(fill(run(options.store, trials=options.trials)), encoding="utf-8")


if __name__ == "__main__":
    main()
