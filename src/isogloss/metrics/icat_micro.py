"""Micro ICAT: the ICAT of the mean LMS and the mean SS of the target terms."""

import polars as pl

from . import Contribution
from ._preferences import class_metric, class_scores, icat_of_means


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """Per class: its LMS, SS, ICAT, and 1."""
    sums, classes, ties, _ = class_scores(items, mode)
    return icat_of_means(sums, classes, scale=1, n=items.height, ties=ties)


metric = class_metric(
    title="Micro ICAT",
    formula="ICAT of (mean LMS, mean SS) over target terms",
    caution="A class with few items weighs as much as one with many; opposite preferences for two targets cancel out.",
    contribute=contribute,
    order=70,
)
