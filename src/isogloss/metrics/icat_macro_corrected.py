"""Macro ICAT without the bias of few items per target term."""

from dataclasses import replace

import numpy as np
import polars as pl

from ..stats.folding import lost_fold
from ..stats.resampling import Array
from . import TIES, Contribution, Origin, Pieces, from_sums
from ._preferences import class_scores, triple_metric

STEP = 0.1  # classes whose numbers of items differ by less than a tenth are corrected alike


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """Per class: its ICAT, SS, SS², 1/n and 1; and its LMS in the column of those with about as many items."""
    scores, classes, ties, counts = class_scores(items, mode)
    odd = counts // 2 * 2 + 1  # as many as an even number gives
    steps, column = np.unique(np.round(np.log(odd) / STEP), return_inverse=True)
    sizes = np.array([1 / np.mean(1 / odd[column == step]) for step in range(len(steps))])
    lms = np.zeros((len(classes), len(sizes)))
    lms[np.arange(len(classes)), column] = scores[:, 0]
    ss = scores[:, 1] / 100
    sums = np.column_stack([scores[:, 2], ss, ss**2, 1 / counts, np.ones(len(classes)), lms])
    pieces = (lambda sums: corrected(sums, sizes), homogeneous, lambda sums: homogeneous(sums, anti=True))
    contribution = from_sums(sums, classes, finish=lambda sums: finish(sums, sizes), n=items.height, ties=ties)
    return replace(
        contribution, alone=None, pieces=Pieces(pieces, bounds=(0, 200), level=0.96)
    )  # a class alone has no spread


def finish(sums: Array, sizes: Array) -> Array:
    """The corrected value, at most that of terms which all have the mean SS."""
    most = np.minimum(homogeneous(sums), homogeneous(sums, anti=True))
    return np.clip(np.minimum(corrected(sums, sizes), most), 0, 100)


def homogeneous(sums: Array, *, anti: bool = False) -> Array:
    """LMS/50 · SS of the means over terms, or with 100 - SS."""
    share = sums[..., 1] / sums[..., 4]
    return np.asarray(2 * sums[..., 5:].sum(-1) / sums[..., 4] * (1 - share if anti else share))


def corrected(sums: Array, sizes: Array) -> Array:
    """Macro ICAT and what the number of items takes from it, the SS of the terms being beta-distributed.

    The estimated spread of the terms' SS may be negative, so that the function is smooth. One term, or one item per
    term, says nothing of the spread, which is then taken for zero.
    """
    count = sums[..., 4]
    mean, noise = sums[..., 1] / count, sums[..., 3] / count
    largest = mean * (1 - mean)
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = (sums[..., 2] - count * mean**2) / (count - 1)
        spread = (seen - noise * largest) / ((1 - noise) * largest)
    spread = np.where((largest > 1e-9) & (noise < 1) & (count > 1), np.clip(spread, -1.0, 1.0), 0.0)
    lost = lost_fold(sizes, mean, spread=spread)
    return np.asarray((sums[..., 0] + 2 * (sums[..., 5:] * lost).sum(-1)) / count)


metric = triple_metric(
    title="Macro ICAT, corrected for few items",
    formula="macro ICAT + mean over target terms of LMS/50 · (E min(SS, 100 - SS) - E min(observed SS, 100 - observed SS)), "
    "E: expected value for a beta distribution fitted to the terms' SS; at most mean LMS/50 · min(mean SS, 100 - mean SS)",
    citation="ours",
    caution="It estimates the macro ICAT that unlimited items per target term would give, so data of different sizes can be compared. With very few items per term, the correction is large and depends on the beta distribution.",
    contribute=contribute,
    short="ICAT macro corrected",
    better="higher",
    per_class=True,
    origin=Origin(
        code="There is none: the metric is ours.",
        ours="As defined, with ties counted one half; the mode paper counts them as published.",
        modes=TIES,
    ),
    order=75,
    not_mean="a mean over targets of products with a kink",
)
