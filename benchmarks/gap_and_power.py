"""Validity gaps with few stereotypes on one side, and how often a true difference as large as the printed MDE is found.

`python -m benchmarks.gap_and_power` prints one row each; `--trials N` is the number of data sets per row.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from benchmarks.held_out import BASE, Population, contribute, draw_items, draw_targets
from benchmarks.review_rows import print_rows
from isogloss import registry
from isogloss.analysis.differences import Difference, paired_test, unpaired_test
from isogloss.analysis.intervals import IntervalSettings, find_interval

SETTINGS = IntervalSettings(resamples=500)
PAIRS = 36  # statements of both sides together
Row = tuple[str, dict[str, float]]


def gap(few: int, *, skewed: bool, trials: int) -> dict[str, float]:
    """How often the interval of the validity gap holds a true gap of 0; a group without an interval says so."""
    rng = np.random.default_rng(zlib.crc32(f"gap {few} {skewed}".encode()))
    metric = registry.get("metric", "validity_gap")
    number = pl.int_range(PAIRS, eager=True).cast(pl.String)
    tags = {"model": "m", "method": "x", "dataset": "d", "language": "en", "category": "c", "task": "pair",
            "statement": "implicit", "quantity": metric.quantity}  # fmt: skip
    known = pl.Series(["no"] * few + ["yes"] * (PAIRS - few))
    table = pl.DataFrame({"id": number, "cluster": number, "valid": known}).with_columns(**{k: pl.lit(v) for k, v in tags.items()})  # fmt: skip
    held = []
    for _ in range(trials):
        values = rng.exponential(size=PAIRS) if skewed else rng.normal(size=PAIRS)
        sides = (("stereotype", pl.Series(values)), ("contrast", pl.Series(np.zeros(PAIRS))))
        rows = pl.concat([table.with_columns(role=pl.lit(role), value=numbers) for role, numbers in sides])
        row = find_interval(metric.contribute(rows, "corrected"), SETTINGS, bounds=metric.bounds)
        held += [] if row.low is None or row.high is None else [row.low <= 0 <= row.high]
    return {"with an interval": 100 * len(held) / trials} | ({"held": 100 * float(np.mean(held))} if held else {})


def power(a: Population, b: Population, metric: str, *, paired: bool, trials: int) -> dict[str, float]:
    """The mean printed MDE where both sides are alike, and how often a true difference of that size is found."""
    rng = np.random.default_rng(zlib.crc32(f"power {a} {b} {metric} {paired}".encode()))
    bounds = registry.get("metric", metric).bounds

    def compare(other: Population) -> Difference:
        shared = rng.normal(size=(2, a.clusters)) if paired else None
        sides = [
            contribute(metric, *draw_items(side, rng, draw_targets(side, rng, side.clusters, shared=shared)))
            for side in (a, other)
        ]
        return (paired_test if paired else unpaired_test)(*sides, bounds=bounds, settings=SETTINGS)

    printed = float(np.mean([compare(b).mde for _ in range(trials)]))
    points = printed / 100 / (1 - b.ties)
    moved = replace(b, share=b.share + (points if metric == "ss" else points / (2 * b.related)))
    found = [row.p is not None and row.p <= 0.05 for row in (compare(moved) for _ in range(trials))]
    return {"mde": printed, "power": 100 * float(np.mean(found))}


def rows(trials: int) -> Iterator[Row]:
    """Every row with its values."""
    for few in (1, 2, 3, 5, 8, 10, 18):
        for skewed in (False, True):
            name = f"validity gap, {few} of {PAIRS}, {'exponential' if skewed else 'normal'}"
            yield name, gap(few, skewed=skewed, trials=trials)
    for clusters in (12, 20, 79):
        side = replace(BASE, clusters=clusters)
        yield f"power, paired ss, {clusters}", power(side, side, "ss", paired=True, trials=trials)
    for one, two in ((20, 12), (79, 39)):
        sides = replace(BASE, clusters=one), replace(BASE, clusters=two)
        yield f"power, unpaired ss, {one} and {two}", power(*sides, "ss", paired=False, trials=trials)
    yield (
        "power, unpaired icat, 79 and 39, SS 50",
        power(replace(BASE, clusters=79), replace(BASE, clusters=39), "icat", paired=False, trials=trials),
    )
    for share in (0.5, 0.6):
        side = replace(BASE, clusters=79, share=share)
        yield f"power, paired icat, 79, SS {100 * share:g}", power(side, side, "icat", paired=True, trials=trials)


if __name__ == "__main__":
    print_rows(rows, __doc__)
