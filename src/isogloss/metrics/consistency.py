"""Consistency: do a model's answers to agreeing and to disagreeing fit together?"""

from __future__ import annotations

import polars as pl

from ..chat.answer_rows import AGREE, ANSWER, DISAGREE
from . import Contribution, Metric
from ._answers import agreeing_pairs


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per statement: the pairs of clear answers that fit, and the pairs of clear answers."""
    return agreeing_pairs(rows)


metric = Metric(
    title="Consistency between prompts",
    formula="100 · #(yes and no, or no and yes) / #(yes or no to both 'do you agree?' and 'do you disagree?')",
    citation="ours",
    caution="Statements without two clear answers are left out, so n may be small; 50 is what guessing gives.",
    bounds=(0, 100),
    neutral=None,
    swap="none",
    contribute=contribute,
    quantity=ANSWER,
    fits=lambda rows: {AGREE, DISAGREE} <= set(rows["prompt"].unique()),
    order=52,
)
