"""Answers of chat models, as the table that the report's panel takes: model, language, prompt, verdict, share."""

from __future__ import annotations

import polars as pl

from ..answers.opinions import ANSWER
from ..scores import Scored
from .extras import ANSWERS


def find_answers(scored: Scored) -> pl.DataFrame | None:
    """The share of each verdict for each model, language and prompt, every answer counting the same; None without answers."""
    if "prompt" not in scored.table.columns:
        return None
    place = [name for name in ANSWERS if name not in ("verdict", "share")]
    rows = scored.table.filter((pl.col("quantity") == ANSWER) & pl.col("prompt").is_not_null())
    each = rows.select(*place, pl.col("pieces").alias("verdict")).explode("verdict")
    if not each.height:
        return None
    counted = each.group_by(*place, "verdict", maintain_order=True).len("count")
    return counted.select(*place, "verdict", (pl.col("count") / pl.col("count").sum().over(place)).alias("share"))
