"""Macro ICAT without the bias of few items per target term."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from ..stats.folding import lost_fold
from ..stats.resampling import Array
from .contributions import Contribution, Metric, Pieces, from_sums
from .preferences import TRIPLE, class_scores, class_sizes


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """Per class: its ICAT, SS, SS², 1/n and 1; and its LMS in the column of its number of items."""
    scores, classes, ties = class_scores(items, mode)
    counts = class_sizes(items)
    sizes, column = np.unique(counts, return_inverse=True)
    lms = np.zeros((len(classes), len(sizes)))
    lms[np.arange(len(classes)), column] = scores[:, 0]
    ss = scores[:, 1] / 100
    sums = np.column_stack([scores[:, 2], ss, ss**2, 1 / counts, np.ones(len(classes)), lms])
    found = from_sums(sums, classes, finish=lambda sums: finish(sums, sizes), n=items.height, ties=ties)
    pieces = Pieces(
        (lambda sums: corrected(sums, sizes, least=-1.0), lambda sums: corrected(sums, sizes, most=0.0)), bounds=(0, 200)
    )
    return replace(found, alone=None, pieces=pieces)  # a class alone has no spread


def finish(sums: Array, sizes: Array) -> Array:
    """Macro ICAT and what the number of items takes from it, the SS of the terms being beta-distributed."""
    return corrected(sums, sizes)


def corrected(sums: Array, sizes: Array, *, least: float = 0.0, most: float = 1.0) -> Array:
    """Macro ICAT corrected with a spread of the terms' SS between these limits."""
    count = sums[..., 4]
    mean, noise = sums[..., 1] / count, sums[..., 3] / count
    seen = (sums[..., 2] - count * mean**2) / (count - 1)
    largest = mean * (1 - mean)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (seen - noise * largest) / ((1 - noise) * largest)
    lost = lost_fold(sizes, mean, np.where(largest > 0, np.clip(spread, least, most), 0.0))
    return np.where(noise < 1, (sums[..., 0] + 2 * (sums[..., 5:] * lost).sum(-1)) / count, np.nan)


metric = Metric(
    title="Macro ICAT, corrected for few items",
    formula="macro ICAT + mean over target terms of LMS/50 · (E min(SS, 100 - SS) - E min(observed SS, 100 - observed SS)), "
    "both of a beta distribution fitted to the terms' SS",
    citation="ours",
    caution="Estimates what macro ICAT would be with any number of items per target term, so it can be compared between data of "
    "different sizes; with a handful of items per term the correction is large and leans on the beta distribution.",
    roles=TRIPLE,
    bounds=(0, 100),
    neutral=None,
    swap="same",
    contribute=contribute,
    order=65,
)
