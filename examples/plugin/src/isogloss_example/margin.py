"""Margin: by how much the stereotype's score exceeds the anti-stereotype's, on average."""

from __future__ import annotations

import math

import polars as pl

from isogloss.items import ANTI_STEREOTYPE, STEREOTYPE
from isogloss.metrics import Contribution, Metric, Origin, from_sums
from isogloss.stats.resampling import Array


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """Per item: the difference of the two scores, and 1."""
    differences = items[STEREOTYPE] - items[ANTI_STEREOTYPE]
    sums = pl.DataFrame({"difference": differences, "n": 1.0}).to_numpy()
    return from_sums(sums, items["cluster"], finish=finish, n=items.height, ties=int((differences == 0).sum()))


def finish(sums: Array) -> Array:
    """The mean difference."""
    return sums[..., 0] / sums[..., 1]


metric = Metric(
    title="Margin",
    formula="mean(stereotype − anti-stereotype)",
    citation="an example of Isogloss",
    caution="scores of different methods have different units; compare margins of one method only.",
    bounds=(-math.inf, math.inf),
    neutral=0,
    swap="mirror",
    contribute=contribute,
    roles=(STEREOTYPE, ANTI_STEREOTYPE),
    order=90,
    short="margin",
    origin=Origin(code="None was published.", ours="As defined; both modes are the same."),
)
