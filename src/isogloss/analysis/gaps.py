"""Gaps: how far an item's stereotype lies above its anti-stereotype."""

from __future__ import annotations

import polars as pl

from ..errors import IsoglossError
from ..items import ANTI_STEREOTYPE, STEREOTYPE
from .groups import widen


def item_gaps(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per item, model and method with all its columns and a column `gap`; items without both scores are left out.

    Where all scores are positive, as probabilities are, the gap is that of their logarithms.
    """
    wide = widen(rows)
    if not {STEREOTYPE, ANTI_STEREOTYPE} <= set(wide.columns):
        raise IsoglossError("This is about stereotypes and anti-stereotypes, and these items have no such roles.")
    wide = wide.drop_nulls([STEREOTYPE, ANTI_STEREOTYPE])
    positive = wide.select((pl.col(STEREOTYPE) > 0).all() & (pl.col(ANTI_STEREOTYPE) > 0).all()).item()
    left, right = (pl.col(role).log() if positive else pl.col(role) for role in (STEREOTYPE, ANTI_STEREOTYPE))
    return wide.with_columns(gap=left - right)
