"""Macro ICAT: the mean of the ICAT of each target term."""

from dataclasses import replace

import polars as pl

from ..stats.folding import fold_of_share
from . import TIES, Contribution, Origin, from_sums
from ._preferences import class_metric, class_scores


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """Per class: its LMS, SS, ICAT, and 1."""
    sums, classes, ties, sizes = class_scores(items, mode)
    mean = from_sums(sums, classes, finish=lambda sums: sums[..., 2] / sums[..., 3], n=items.height, ties=ties)
    lms, ss = sums[:, 0].mean(), sums[:, 1].mean() / 100
    unbiased, homogeneous = (2 * lms * float(fold_of_share(sizes, p).mean()) for p in (0.5, ss))
    # a class has an ICAT of its own, which is no share
    return replace(mean, alone=None, unbiased=unbiased, homogeneous=homogeneous)


metric = class_metric(
    title="Macro ICAT",
    formula="mean over target terms of ICAT",
    caution="A term with few items counts as much as one with many. Chance alone lowers it: with 27 items per term, a model "
    "with no preference and an LMS of 90 gets 76, not 90. Use the "
    "corrected macro ICAT to compare data of different sizes.",
    contribute=contribute,
    short="ICAT macro",
    better="higher",
    origin=Origin(
        code="The mean of the terms' ICAT; the tool of Nadeem et al. has the names macro and micro exchanged.",
        ours="The mean of the terms' ICAT, under the name of the paper.",
        modes=TIES,
    ),
    order=60,
    not_mean="a mean over targets of products with a kink",
)
