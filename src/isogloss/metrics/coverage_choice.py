"""Coverage of choices: picks of any option, and 1."""

import numpy as np
import polars as pl

from ..scores import KEY
from . import CompetenceLimit, Contribution, from_sums, percent
from ._preferences import CHOICE_ORIGIN, choice_metric


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per item: how often any of its options was picked, and 1."""
    names = [name for name in ("model", "method", *KEY) if name in rows.columns]
    table = rows.group_by(names, maintain_order=True)
    items = table.agg(pl.col("cluster").first(), picked=pl.col("value").sum())
    sums = np.column_stack([items["picked"].to_numpy(), np.ones(items.height)])
    return from_sums(sums, items["cluster"], finish=percent)


metric = choice_metric(
    title="Coverage of choices",
    formula="100 · #(answers that pick an option) / #(answers)",
    caution="A score based on few choices says little about the other items.",
    roles=(),
    contribute=contribute,
    short="coverage choice",
    better="higher",
    competence=False,
    limit=CompetenceLimit(
        80,  # with fewer choices, the others could turn the result round
        "coverage",
        shortfall="{value:.1f} % of the answers pick an option: fewer than {least:g} %",
    ),
    origin=CHOICE_ORIGIN,
    order=57,
)
