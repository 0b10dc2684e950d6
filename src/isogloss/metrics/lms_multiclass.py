"""Multi-class LMS: the mean of the LMS of each target term."""

from __future__ import annotations

import polars as pl

from ..stats.resampling import Array
from . import Contribution, Metric, from_sums
from ._preferences import TRIPLE, class_scores


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """Per class: its LMS, SS, ICAT, and 1."""
    sums, classes, ties = class_scores(items, mode)
    return from_sums(sums, classes, finish=finish, n=items.height, ties=ties)


def finish(sums: Array) -> Array:
    """mean over target terms of LMS."""
    return sums[..., 0] / sums[..., 3]


metric = Metric(
    title="Multi-class LMS",
    formula="mean over target terms of LMS",
    citation="Nadeem, Bethke and Reddy (2021); Öztürk et al. (2023)",
    caution="A class with few items weighs as much as one with many; compare it only with other multi-class values.",
    roles=TRIPLE,
    bounds=(0, 100),
    neutral=None,
    swap="same",
    contribute=contribute,
    order=40,
)
