"""Share of answers: yes."""

from __future__ import annotations

import polars as pl

from ..chat.answer_rows import ANSWER
from ..chat.verdicts import YES
from . import Contribution, Metric
from ._answers import verdict_share


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per statement and prompt: the share of its answers that are yes, and 1."""
    return verdict_share(rows, (YES,))


metric = Metric(
    title="Answered yes",
    formula="100 · #(yes) / #(answers)",
    citation="Mitchell et al. (2025), SHADES",
    caution="Over several prompts it mixes questions; group by prompt.",
    bounds=(0, 100),
    neutral=None,
    swap="none",
    contribute=contribute,
    quantity=ANSWER,
    order=53,
)
