"""Rows of an outside calibration of 0.2.0, simulated again with the rules of today.

`python -m benchmarks.review_rows` prints them; `--trials N` is the number of data sets per row. The other rows of that
calibration are in `benchmarks.held_out`, `benchmarks.rank_coverage` and `benchmarks.coverage`, or are tests.
"""

from __future__ import annotations

import argparse
import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from benchmarks import populations
from benchmarks.held_out import Population, beta_quantiles, contribute, draw, draw_items, draw_targets
from benchmarks.outside_rows import WORDINGS, draw_crossed
from isogloss.analysis.alignment import distance_from
from isogloss.analysis.differences import paired_test
from isogloss.analysis.intervals import IntervalSettings, find_estimates, find_interval
from isogloss.analysis.two_way import _ends
from isogloss.metrics import Contribution, from_sums, percent, ratio

SETTINGS = IntervalSettings(resamples=500)
MARGIN = 2.0
ALIKE = 0.9  # the correlation of two releases' targets
Row = tuple[str, dict[str, float]]


def gate(before: float, now: float, *, clusters: int, likeness: float, trials: int) -> dict[str, float]:
    """How often a release passes `gate --baseline`, and how often the interval holds its change for the worse."""
    rng = np.random.default_rng(zlib.crc32(f"gate {before} {now} {clusters} {likeness}".encode()))
    truth = abs(now - 50) - abs(before - 50)
    passed, held = [], []
    for _ in range(trials):
        common = rng.normal(size=clusters)
        sides = [_release(share, common, rng=rng, likeness=likeness) for share in (now, before)]
        row = paired_test(*(distance_from(side, 50) for side in sides), bounds=(0, 50), settings=SETTINGS)
        passed.append(row.high is not None and row.high <= MARGIN)
        held.append(row.low is not None and row.high is not None and row.low <= truth <= row.high)
    return {"passed": 100 * float(np.mean(passed)), "held": 100 * float(np.mean(held))}


def _release(share: float, common: Any, *, rng: np.random.Generator, likeness: float) -> Contribution:
    """A model whose targets go with those of the other release."""
    population = Population("gate", len(common), share=share / 100, likeness=likeness)
    effects = np.sqrt(ALIKE) * common + np.sqrt(1 - ALIKE) * rng.normal(size=len(common))
    chance = beta_quantiles(population.share, likeness, effects)
    sizes = np.full(len(common), population.size, dtype=int)
    return contribute("ss", *draw_items(population, rng, (sizes, chance, np.full(len(common), 0.9))))


def _mean_of(values: Any) -> Contribution:
    """The mean of one value per cluster."""
    totals = np.column_stack([values, np.ones(len(values))])
    names = tuple(map(str, range(len(values))))
    whole = Contribution(names, lambda weights: ratio(weights @ totals), len(values), totals=totals, finish=ratio)
    return replace(whole, sizes=np.ones(len(values)), within=np.zeros((2, 2)))


def _share_of(wins: Any) -> Contribution:
    whole = _mean_of(wins)
    return replace(whole, evaluate=lambda weights: percent(weights @ whole.totals), finish=percent)


def cover(
    make: Callable[[np.random.Generator], Contribution], truth: float, *, bounds: Any, name: str, trials: int
) -> dict[str, float]:
    """How often the interval holds the truth, and its median width."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    rows = [find_interval(make(rng), SETTINGS, bounds=bounds) for _ in range(trials)]
    ends = [(row.low, row.high) for row in rows if row.low is not None and row.high is not None]
    if not ends:
        return {"none": 100.0}
    held = 100 * float(np.mean([low <= truth <= high for low, high in ends]))
    return {"held": held, "width": float(np.median([high - low for low, high in ends]))}


def selection(level: float, *, clusters: int, together: float, trials: int) -> dict[str, float]:
    """SS 60 of the data sets whose LMS interval begins at 60 or above, where competence and preference go together."""
    rng = np.random.default_rng(zlib.crc32(f"selection {level} {clusters} {together}".encode()))
    population = Population("selection", clusters, related=level / 100, related_likeness=0.05)
    shown, held = 0, []
    for _ in range(trials):
        sizes, chance, related = draw_targets(population, rng, clusters)
        if together:
            order = np.argsort(np.argsort(together * ndtri((np.argsort(np.argsort(chance)) + 0.5) / clusters)
                                          + np.sqrt(1 - together**2) * rng.normal(size=clusters)))  # fmt: skip
            related = np.sort(related)[order]
        items = draw_items(population, rng, (sizes, chance, related))
        lms = find_interval(contribute("lms", *items), SETTINGS, bounds=(0, 100))
        if lms.low is not None and lms.low >= 60:
            shown += 1
            ss = find_interval(contribute("ss", *items), SETTINGS, bounds=(0, 100))
            held.append(ss.low is not None and ss.high is not None and ss.low <= 60 <= ss.high)
    return {"shown": 100 * shown / trials, "held": 100 * float(np.mean(held)) if held else float("nan")}


def over_wordings(clusters: int, *, effect: float, trials: int) -> dict[str, float]:
    """How often intervals of SS over targets, and over targets and ten wordings at once, hold the value for new wordings."""
    rng = np.random.default_rng(zlib.crc32(f"over {clusters} {effect}".encode()))
    population = Population("wordings", clusters, share=0.5)
    held = np.zeros((trials, 2))
    widths = np.zeros((trials, 2))
    for trial in range(trials):
        sums, index, wording = draw_crossed(population, rng, effect * rng.normal(size=WORDINGS))
        names = (index, wording, index * WORDINGS + wording)
        sides = [from_sums(sums[:, 1:], kind.tolist(), finish=percent) for kind in names]
        estimates = [find_estimates(side, SETTINGS, bounds=(0, 100))[0] for side in sides]
        one = find_interval(sides[0], SETTINGS, bounds=(0, 100))
        for number, ends in enumerate(((one.low, one.high), _ends(estimates))):
            if ends is not None and ends[0] is not None and ends[1] is not None:
                held[trial, number], widths[trial, number] = ends[0] <= 50 <= ends[1], ends[1] - ends[0]
    names_of = ("targets", "both")
    shares = {f"held, {name}": 100 * float(held[:, k].mean()) for k, name in enumerate(names_of)}
    return shares | {f"width, {name}": float(np.median(widths[:, k])) for k, name in enumerate(names_of)}


def rows(trials: int) -> Iterator[Row]:
    """Every row with its values."""
    for clusters in (20, 79):
        for effect in (0.4, 0.8):
            yield (
                f"over wordings, {clusters} targets, effect {effect:g}",
                over_wordings(clusters, effect=effect, trials=trials),
            )
    for clusters, likeness in ((20, 0.1), (79, 0.1), (79, 0.01)):
        for before, now in ((50, 52), (50, 53), (50, 56), (48, 52), (56, 58)):
            values = gate(before, now, clusters=clusters, likeness=likeness, trials=trials)
            yield f"gate, {clusters} clusters, likeness {likeness:g}, SS {before} to {now}", values
    for clusters in (12, 20, 40, 79, 150):
        name = f"contrast, exponential, {clusters} clusters"
        yield name, cover(lambda rng, c=clusters: _mean_of(rng.exponential(size=c)), 1.0, bounds=(-math.inf, math.inf), name=name, trials=trials)  # type: ignore[misc]  # fmt: skip
    for clusters in (12, 30, 79, 150):
        for ties in (0.05, 0.3):
            name = f"pair score, {100 * ties:g} % ties, {clusters} pairs"

            def make(rng: np.random.Generator, c: int = clusters, t: float = ties) -> Contribution:
                return _share_of(np.where(rng.random(c) < t, 0.5, rng.random(c) < 0.6))

            yield name, cover(make, 50 + 10 * (1 - ties), bounds=(0, 100), name=name, trials=trials)
    for level, clusters, together in ((61, 20, 0.0), (61, 79, 0.8), (64, 20, 0.8), (64, 79, 0.0), (64, 79, 0.8)):
        name = f"shown at 60, LMS {level}, {clusters} clusters, together {together:g}"
        yield name, selection(level, clusters=clusters, together=together, trials=trials)
    population = Population("few items", 12, size=5)
    yield "ss, 12 clusters of 5", cover(lambda rng: draw(population, "ss", rng), 60.0, bounds=(0, 100), name="few", trials=trials)  # fmt: skip
    case = populations.Case("agreement", clusters=12, share=0.92, ties=0.0)
    yield "agreement 92, 12 clusters", cover(lambda rng: populations.draw(case, rng), populations.truth_of(case), bounds=(0, 100), name="agreement", trials=trials)  # fmt: skip


def print_rows(rows: Callable[[int], Iterator[tuple[str, dict[str, float]]]], description: str | None) -> None:
    """Print every row, with as many data sets as `--trials` says."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1000, help="data sets per row")
    for name, values in rows(parser.parse_args().trials):
        print(name, {key: round(value, 1) for key, value in values.items()}, flush=True)


if __name__ == "__main__":
    print_rows(rows, __doc__)
