"""Choices that change with the order of the options: items with different picks, and items."""

from dataclasses import replace

import numpy as np
import polars as pl

from . import Contribution, from_sums, percent
from ._preferences import one_row_per_item, position_metric

ROUNDING = 1e-9  # shares such as 1/3 do not add up exactly


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per item that was asked at least twice and picked at least twice: whether not all picks are the same."""
    items = one_row_per_item(rows, "pieces")
    asked = pl.col("pieces").list.len()
    items = items.filter((asked > 1) & (pl.col("picked") * asked > 1.5))
    flipped = (items["picked"] - items["most"] > ROUNDING).cast(pl.Float64).to_numpy()
    contribution = from_sums(np.column_stack([flipped, np.ones(items.height)]), items["cluster"], finish=percent)
    return replace(contribution, items=items["id"])


metric = position_metric(
    title="Choices that change with the order",
    formula="100 · #(items whose pick is not the same in all orders) / #(items with at least two picks)",
    caution="Above temperature 0, it also includes random variation between samples.",
    contribute=contribute,
    fits=lambda rows: bool((rows["pieces"].list.len() > 1).any()),
    short="order flips",
    chance="50 with two options and 88.9 with three",
    order=61,
)
