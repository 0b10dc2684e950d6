"""What the metrics of the order of options share: one row per item with the answers to its orders."""

from functools import partial

import polars as pl

from ..scores import KEY
from . import Metric, Origin
from ._preferences import CHOICE

position_metric = partial(
    Metric,
    citation="ours",
    quantity=CHOICE,
    better="lower",
    swap="same",
    competence=False,
    origin=Origin(code="None was published.", ours="Both modes are the same."),
)


def one_row_per_item(rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Each item once, with its cluster, the picks of all its options, those of the one picked most, and some columns."""
    names = [name for name in ("model", "method", *KEY) if name in rows.columns]
    table = rows.drop_nulls(columns).group_by(names, maintain_order=True)
    value = pl.col("value")
    return table.agg(pl.col("cluster").first(), pl.col(columns).first(), picked=value.sum(), most=value.max())
