"""Macro ICAT: the mean of the ICAT of each target term."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from ..stats.resampling import Array
from .contributions import Contribution, Metric, from_sums
from .preferences import TRIPLE, class_scores


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """Per class: its LMS, SS, ICAT, and 1."""
    sums, classes, ties = class_scores(items, mode)
    found = from_sums(sums, classes, finish=finish, n=items.height, ties=ties)
    return replace(found, alone=None)  # a class has an ICAT of its own, which is no share


def finish(sums: Array) -> Array:
    """mean over target terms of ICAT."""
    return sums[..., 2] / sums[..., 3]


metric = Metric(
    title="Macro ICAT",
    formula="mean over target terms of ICAT",
    citation="Nadeem, Bethke and Reddy (2021); Öztürk et al. (2023)",
    caution="A class with few items weighs as much as one with many; with few items per term, chance alone pushes it down.",
    roles=TRIPLE,
    bounds=(0, 100),
    neutral=None,
    swap="same",
    contribute=contribute,
    order=60,
)
