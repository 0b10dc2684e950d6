"""Top share: how much of the probability the most favored term takes."""

import polars as pl

from . import Contribution, Origin
from ._templates import fraction_metric, is_templates, mean_over_templates


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """The largest share of each item; as published, of shares that were averaged over a set's templates first."""
    return mean_over_templates(
        rows, mode, of_item=lambda item: float(item.shares.max()), of_shares=lambda shares: shares.max(1)
    )


metric = fraction_metric(
    title="Share of the most favored term",
    formula="mean over templates and concepts of max over terms n of P(n) / Σ P; paper: shares averaged over templates first",
    citation="BehnamGhader and Milios (2022), as bars",
    caution="It is 1/N for N equally probable terms. Frequent and short terms win for every concept; look at how the shares change between concepts.",
    contribute=contribute,
    fits=is_templates,
    short="top share",
    undirected="The least possible value depends on the number of terms, and frequent terms win whatever the concept is.",
    origin=Origin(
        code="Shares are normalized over the terms and averaged over the templates of a set before anything else is computed.",
        ours="The largest share of each template, then their mean; the mode paper follows the code.",
        modes="shares averaged over the templates of a set first, as published",
    ),
    order=20,
)
