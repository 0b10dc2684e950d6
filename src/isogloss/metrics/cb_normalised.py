"""Normalised categorical bias: how unevenly a concept changes the probability of the terms themselves."""

import numpy as np
import polars as pl

from . import Contribution, Origin
from ._templates import mean_over_items, term_items, unevenness_metric


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per item the variance over terms of the logarithm of the normalized probability; the same in both modes."""
    items = term_items(rows, "value")
    return mean_over_items([float(np.var(item.logs)) for item in items], items)


metric = unevenness_metric(
    title="Normalized categorical bias",
    formula="mean over templates t and concepts a of Var over terms n of ln(P(n | a shown) / P(n | a masked too))",
    citation="Ahn and Oh (2021); BehnamGhader and Milios (2022), appendix A.4",
    caution="For rare words, the ratio of two tiny probabilities is noise. Use it only for templates in which no other word "
    "changes with the term.",
    contribute=contribute,
    quantity="normalised",
    short="cb normalised",
    origin=Origin(
        code="That of Ahn and Oh has the sample variance (n - 1), and multiplies all pairs of tokens and masks where a term has several tokens.",
        ours="The population variance, and each token at its own mask; both modes are the same.",
    ),
    order=12,
)
