"""What the metrics of choices share: sums over the items of which option was picked."""

import numpy as np
import polars as pl

from ..stats.resampling import Array
from . import Contribution, from_sums, percent

CHOICE = "choice"


def choice_share(items: pl.DataFrame, part: tuple[str, ...], *, whole: tuple[str, ...] = ()) -> Contribution:
    """100 · how often an option of `part` was picked, among the picks of `whole`; without `whole`, among all answers.

    Items without a pick of `whole` do not count.
    """
    picked = _sum(items, part)
    among = _sum(items, whole) if whole else np.ones(items.height)
    kept = among > 0
    sums = np.column_stack([picked[kept], among[kept]])
    return from_sums(sums, items.filter(pl.Series(kept))["cluster"], finish=percent, n=int(kept.sum()))


def _sum(items: pl.DataFrame, roles: tuple[str, ...]) -> Array:
    return np.asarray(sum(items[role].to_numpy() for role in roles), dtype=np.float64)
