"""Share of answers: no."""

from __future__ import annotations

import polars as pl

from ..chat.answer_rows import ANSWER
from ..chat.verdicts import NO
from . import Contribution, Metric
from ._answers import verdict_share


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per statement and prompt: the share of its answers that are no, and 1."""
    return verdict_share(rows, (NO,))


metric = Metric(
    title="Answered no",
    formula="100 · #(no) / #(answers)",
    citation="Mitchell et al. (2025), SHADES",
    caution="Over several prompts it mixes questions; group by prompt.",
    bounds=(0, 100),
    neutral=None,
    swap="none",
    contribute=contribute,
    quantity=ANSWER,
    order=54,
)
