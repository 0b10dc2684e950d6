"""Categorical bias: how unevenly probable a sentence is from term to term."""

import numpy as np
import polars as pl

from . import Contribution, Origin
from ._templates import is_templates, mean_over_templates, unevenness_metric


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """The variance per item; as published, of shares that were averaged over a set's templates first."""
    return mean_over_templates(
        rows,
        mode,
        of_item=lambda item: float(np.var(item.logs)),
        of_shares=lambda shares: np.var(np.log(shares), axis=1),
    )


metric = unevenness_metric(
    title="Categorical bias (CB)",
    formula="mean over templates t and concepts a of the population variance over terms n of ln P(t, a, n); "
    "paper: shares are averaged over the templates of a set before the logarithm is taken; then the mean over (set, concept)",
    citation="BehnamGhader and Milios (2022), after Ahn and Oh (2021)",
    caution="Rare terms and terms of several tokens make it large for every concept. It does not say which term is preferred, "
    "and values of sets with different terms cannot be compared.",
    contribute=contribute,
    fits=is_templates,
    short="cb",
    headline=60,
    origin=Origin(
        code="Shares are normalized over the terms and averaged over the templates of a set before anything else is computed. The formula in the text takes the mean of the variances of single templates.",
        ours="The mean of the variances of single templates, as the text says; the mode paper follows the code.",
        modes="shares averaged over the templates of a set first, as published",
    ),
    order=10,
)
