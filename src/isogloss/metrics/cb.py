"""Categorical bias: how unevenly probable a sentence is from term to term."""

import numpy as np
import polars as pl

from ..stats.resampling import Array
from . import Contribution, Metric
from ._templates import is_templates, mean_over_items, mean_present, mean_shares, read_term_cells, read_term_items


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """The variance per item; as published, of shares that were averaged over a set's templates first."""
    frames = read_term_items(rows)
    if mode == "corrected":
        return mean_over_items([float(np.var(frame.logs)) for frame in frames], frames)
    cells, names = read_term_cells(frames)

    def evaluate(weights: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            variances = [np.var(np.log(mean_shares(cell, weights)), axis=1) for cell in cells]
        return mean_present(variances, len(weights))

    return Contribution(names, evaluate, len(frames))


metric = Metric(
    title="Categorical bias (CB)",
    formula="mean over templates t and concepts a of Var over terms n of ln P(t, a, n), population variance; "
    "paper: shares are averaged over the templates of a set before the logarithm, then the mean over (set, concept)",
    citation="BehnamGhader and Milios (2022), after Ahn and Oh (2021)",
    caution="0 means equally probable sentences. Rare terms, and terms of more tokens, make it large whatever the concept is; "
    "it does not say which term is preferred, and values of sets with different terms cannot be compared.",
    bounds=(0, float("inf")),
    neutral=0,
    swap="same",
    contribute=contribute,
    fits=is_templates,
    order=10,
)
