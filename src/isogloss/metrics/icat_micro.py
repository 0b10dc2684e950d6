"""Micro ICAT: the ICAT of the mean LMS and the mean SS of the target terms."""

import polars as pl

from . import TIES, Contribution, Origin
from ._preferences import class_metric, class_scores, icat_of_means


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """Per class: its LMS, SS, ICAT, and 1."""
    sums, classes, ties, _ = class_scores(items, mode)
    return icat_of_means(sums, classes, scale=1, n=items.height, ties=ties)


metric = class_metric(
    title="Micro ICAT",
    formula="ICAT of (mean LMS, mean SS) over target terms",
    caution="A term with few items counts as much as one with many; opposite preferences for two targets cancel out.",
    contribute=contribute,
    short="ICAT micro",
    better="higher",
    origin=Origin(
        code="ICAT of the two means over terms; the tool of Nadeem et al. has the names macro and micro exchanged.",
        ours="ICAT of the means over terms, under the name of the paper.",
        modes=TIES,
    ),
    order=70,
    not_mean="a product of two means with a kink",
)
