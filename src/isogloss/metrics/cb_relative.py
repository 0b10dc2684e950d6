"""Relative categorical bias: how unevenly a concept moves the terms, once each term's usual share is taken away."""

import numpy as np
import polars as pl

from ..items import group_by
from . import Contribution, Origin
from ._templates import is_templates, mean_over_items, read_term_items, unevenness_metric


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per item the variance of the shares' logarithms, less those of the template's mean shares over its concepts."""
    items = read_term_items(rows)
    usual = {
        template: np.mean([item.shares for item in group], axis=0)
        for template, group in group_by(items, lambda item: item.cluster).items()
        if len(group) > 1 and len({item.terms for item in group}) == 1
    }
    kept = [item for item in items if item.cluster in usual]
    values = [float(np.var(np.log(item.shares) - np.log(usual[item.cluster]))) for item in kept]
    return mean_over_items(values, kept)


metric = unevenness_metric(
    title="Relative categorical bias",
    formula="mean over templates t and concepts a of Var over terms n of ln(share of n with a / mean share of n over all concepts)",
    citation="ours, after the normalized probability of Ahn and Oh (2021)",
    caution="Unlike CB, it is no larger for rare or long terms, but it depends on which concepts are in the set. Very small "
    "shares still have a large effect.",
    contribute=contribute,
    fits=is_templates,
    short="cb relative",
    origin=Origin(
        code="There is none: the metric is ours.",
        ours="As defined; both modes are the same.",
    ),
    order=11,
)
