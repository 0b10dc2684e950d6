"""Top share: how much of the probability the most favoured term takes."""

import polars as pl

from ..stats.resampling import Array
from . import Contribution, Metric
from ._templates import is_templates, mean_over_items, mean_present, mean_shares, read_term_cells, read_term_items


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """The largest share of each item; as published, of shares that were averaged over a set's templates first."""
    frames = read_term_items(rows)
    if mode == "corrected":
        return mean_over_items([float(frame.shares.max()) for frame in frames], frames)
    cells, names = read_term_cells(frames)

    def evaluate(weights: Array) -> Array:
        return mean_present([mean_shares(cell, weights).max(1) for cell in cells], len(weights))

    return Contribution(names, evaluate, len(frames))


metric = Metric(
    title="Share of the most favoured term",
    formula="mean over templates and concepts of max over terms n of P(n) / Σ P; paper: shares averaged over templates first",
    citation="BehnamGhader and Milios (2022), as bars",
    caution="1/N for N equally probable terms, 1 for a single one. Frequent and short terms win for every concept; look at how the "
    "shares change from concept to concept.",
    bounds=(0, 1),
    swap="same",
    contribute=contribute,
    fits=is_templates,
    order=20,
)
