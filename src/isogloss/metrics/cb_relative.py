"""Relative categorical bias: how unevenly a concept moves the terms, once each term's usual share is taken away."""

import numpy as np
import polars as pl

from ..items import group_by
from ..stats.resampling import Array
from . import Contribution, Metric
from ._templates import TermItem, is_templates, mean_over_items, read_term_items


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per item the variance of the shares' logarithms, less those of the template's mean shares over its concepts."""
    frames = read_term_items(rows)
    usual = _usual(frames)
    kept = [frame for frame in frames if frame.cluster in usual and usual[frame.cluster][0] == frame.terms]
    values = [float(np.var(np.log(frame.shares) - np.log(usual[frame.cluster][1]))) for frame in kept]
    return mean_over_items(values, kept)


def _usual(frames: list[TermItem]) -> dict[str, tuple[tuple[str, ...], Array]]:
    """For each template with several concepts, its terms and their mean shares."""
    groups = group_by(frames, lambda frame: frame.cluster)
    return {
        name: (group[0].terms, np.mean([frame.shares for frame in group], axis=0))
        for name, group in groups.items()
        if len(group) > 1 and len({frame.terms for frame in group}) == 1
    }


metric = Metric(
    title="Relative categorical bias",
    formula="mean over templates t and concepts a of Var over terms n of ln(share of n with a / mean share of n over all concepts)",
    citation="ours, after the normalised probability of Ahn and Oh (2021)",
    caution="0 means that every concept gives the terms the same shares. Unlike CB it does not grow with rare or long terms, but it "
    "depends on which concepts are in the set. Very small shares still weigh much.",
    bounds=(0, float("inf")),
    neutral=0,
    swap="same",
    contribute=contribute,
    fits=is_templates,
    order=11,
)
