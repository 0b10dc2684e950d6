"""GEST stereotype rate: the GEST difference as a ratio, as the paper prints it."""

from dataclasses import replace
from math import inf

import numpy as np
import polars as pl

from . import Contribution, Origin
from ._gest import MEN, WOMEN, compare_stereotypes, gest_metric, has_stereotypes


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """A ratio of geometric means; as published, logarithms to base 10 are raised to base e."""
    base = np.e if mode == "paper" else 10.0
    return replace(compare_stereotypes(items, finish=lambda value: np.power(base, value)), alone=None)


metric = gest_metric(
    title="GEST stereotype rate",
    formula="10^(GEST difference); paper: e^(GEST difference)",
    caution="Published rates exponentiate base-10 logarithms with base e, so they are nearer to 1: a published 1.2 is 1.52 here.",
    contribute=contribute,
    bounds=(0, inf),
    neutral=1,
    fits=lambda rows: has_stereotypes(rows, of=(MEN, WOMEN)),
    short="GEST rate",
    origin=Origin(
        code="The published scores of bert-base-uncased are given back item by item.",
        ours="Logarithms to base 10 are raised to base 10; the mode paper raises them to base e, as published.",
        modes="logarithms to base 10 raised to base e, as published",
    ),
    order=18,
    not_mean="a ratio of means of groups",
)
