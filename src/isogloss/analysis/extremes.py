"""Extremes: the expressions that a model prefers most, and least, to their contrasts, in each language."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from ..errors import IsoglossError
from ..items import STEREOTYPE
from ..metrics._pairs import QUANTITY, two_sides
from ..runs import Run, read_items, read_scored
from ..scores import KEY

WHO = ["model", "dataset", "language", "method"]


def find_extremes(runs: Sequence[Run], count: int) -> list[dict[str, Any]]:
    """For each model, data set, language and method the `count` most and least preferred stereotypes with their texts.

    A stereotype's bias is the mean over its contrasts; a language with fewer than twice `count` stereotypes names none twice.
    """
    rows = _biases(runs)
    extremes: list[dict[str, Any]] = []
    for _, part in rows.group_by(WHO, maintain_order=True):
        ordered = part.sort("bias", "text", descending=[True, False])
        most = ordered.head(min(count, (ordered.height + 1) // 2))
        least = ordered.tail(min(count, ordered.height // 2)).reverse()
        for end, table in (("most", most), ("least", least)):
            extremes += [{"end": end, **row} for row in table.iter_rows(named=True)]
    return extremes


def _biases(runs: Sequence[Run]) -> pl.DataFrame:
    """One row per stereotype: its text and statement, its bias, and over how many contrasts."""
    scored = read_scored(list(runs)).table
    rows = scored.filter((pl.col("quantity") == QUANTITY) & pl.col("value").is_not_null())
    if not rows.height:
        raise IsoglossError(
            "These runs hold no contrasts, so no expression can be most or least stereotyped. Score with: --method contrast"
        )
    texts = pl.concat([_texts(run) for run in runs], how="diagonal_relaxed").unique(KEY, maintain_order=True)
    pairs = two_sides(rows.with_columns(pl.coalesce("cluster", "id").alias("cluster")))
    pairs = pairs.with_columns(bias=pl.col("won") - pl.col("lost")).join(texts, on=KEY, maintain_order="left")
    return pairs.group_by(*WHO, "text", maintain_order=True).agg(
        pl.col("statement").first(), pl.col("bias").mean(), contrasts=pl.len(), id=pl.col("id").first()
    )


def _texts(run: Run) -> pl.DataFrame:
    items = read_items(run).filter(pl.col("role") == STEREOTYPE)
    kind = pl.col("statement") if "statement" in items.columns else pl.lit(None, dtype=pl.String).alias("statement")
    return items.select(*KEY, "text", kind)
