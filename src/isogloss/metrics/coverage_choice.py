"""Coverage of choices: picks of any option, and 1."""

from __future__ import annotations

import polars as pl

from . import Contribution, Metric
from ._choices import CHOICE, TRIPLE, choice_share


def contribute(items: pl.DataFrame, mode: str) -> Contribution:
    """Per item: picks of any option, and 1."""
    return choice_share(items, TRIPLE)


metric = Metric(
    title="Coverage of choices",
    formula="100 · #(answers that pick an option) / #(answers)",
    citation="Nadeem, Bethke and Reddy (2021), for models that answer in words",
    caution="Refusals, empty and unreadable answers pick none; a score over few choices says little about the rest.",
    roles=TRIPLE,
    bounds=(0, 100),
    neutral=None,
    swap="same",
    contribute=contribute,
    quantity=CHOICE,
    order=57,
)
