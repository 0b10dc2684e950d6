"""Spread of answers: how often two answers to one question get different verdicts."""

from collections import Counter

import numpy as np
import polars as pl

from . import Contribution, Origin
from ._answers import answer_metric, mean_percent

ORDERS = 2  # both orders of the answer words without further samples; their differences are no spread of samples


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per statement and prompt: the share of pairs of its answers whose verdicts differ."""
    asked = rows.filter(pl.col("pieces").list.len() > ORDERS)
    return mean_percent(asked, np.array([_differing(verdicts) for verdicts in asked["pieces"]]))


def _differing(verdicts: list[str]) -> float:
    count = len(verdicts)
    same = sum(number * (number - 1) for number in Counter(verdicts).values())
    return 1 - same / (count * (count - 1))


metric = answer_metric(
    title="Spread of answers",
    formula="100 · mean over questions of #(pairs of answers with different verdicts) / #(pairs of answers)",
    citation="ours",
    caution="It grows with the temperature and does not measure bias. Both orders of the answer words count as one question.",
    contribute=contribute,
    fits=lambda rows: bool((rows["pieces"].list.len() > ORDERS).any()),
    short="spread",
    undirected="A model that always gives the same answer may be right or wrong.",
    origin=Origin(
        code="There is none: the metric is ours.",
        ours="As defined; the mode paper reads the first ten tokens of each answer.",
    ),
    order=57,
)
