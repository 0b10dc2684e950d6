"""Share of answers: refusals."""

from __future__ import annotations

import polars as pl

from ..contributions import Contribution, Metric
from ..opinions import ANSWER, verdict_share
from ..verdicts import REFUSED


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per statement and prompt: the share of its answers that are refusals, and 1."""
    return verdict_share(rows, (REFUSED,))


metric = Metric(
    title="Refused",
    formula="100 · #(refusals) / #(answers)",
    citation="Mitchell et al. (2025), SHADES",
    caution="A refusal is found by its opening words; one that begins otherwise counts as off-topic.",
    bounds=(0, 100),
    neutral=None,
    swap="none",
    contribute=contribute,
    quantity=ANSWER,
    order=56,
)
