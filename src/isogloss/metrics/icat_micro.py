"""Micro ICAT: the ICAT of the mean LMS and the mean SS of the target terms."""

from dataclasses import replace

import polars as pl

from ..stats.resampling import Array
from . import Contribution, Metric, from_sums
from ._preferences import TRIPLE, class_scores, icat, icat_pieces


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """Per class: its LMS, SS, ICAT, and 1."""
    sums, classes, ties = class_scores(items, mode)
    contribution = from_sums(sums, classes, finish=finish, n=items.height, ties=ties)
    return replace(contribution, pieces=icat_pieces(scores))


def scores(sums: Array) -> tuple[Array, Array]:
    """Mean LMS and mean SS."""
    return sums[..., 0] / sums[..., 3], sums[..., 1] / sums[..., 3]


def finish(sums: Array) -> Array:
    """ICAT of (mean LMS, mean SS) over target terms."""
    return icat(*scores(sums))


metric = Metric(
    title="Micro ICAT",
    formula="ICAT of (mean LMS, mean SS) over target terms",
    citation="Nadeem, Bethke and Reddy (2021); Öztürk et al. (2023)",
    caution="A class with few items weighs as much as one with many; opposite preferences for two targets cancel out.",
    roles=TRIPLE,
    swap="same",
    contribute=contribute,
    order=70,
)
