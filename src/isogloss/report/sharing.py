"""Shares of terms in templates, as the table that the report's panel takes: model, language, set, concept, term, share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from ..analysis.groups import cut, several_methods, usable_rows
from ..metrics.terms import is_templates, mean_shares, read_cells, read_frames
from ..scores import Scored
from .extras import SHARES


def find_shares(scored: Scored) -> pl.DataFrame | None:
    """The share of each term for each model, language, set and concept, over the set's templates; None without templates."""
    rows = [row for part in _templates(scored) for row in _rows(part)]
    return pl.DataFrame(rows, schema=[*SHARES], orient="row") if rows else None


def _templates(scored: Scored) -> Iterator[pl.DataFrame]:
    """The scores of templates, by data set, model, language and method."""
    if "task" not in scored.table.columns or not scored.table.height:
        return
    for _, part in cut(usable_rows(scored), ["dataset", "model", "language", "method"], keep_null=True):
        if is_templates(part):
            yield part.filter(pl.col("quantity") == "score")


def _rows(part: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    frames = read_frames(part)
    cells, names = read_cells(frames)
    model = part["model"][0] if not several_methods(part) else f"{part['model'][0]} · {part['method'][0]}"
    for (set_, concept), cell in zip(dict.fromkeys(one.cell for one in frames), cells, strict=True):
        shares = mean_shares(cell, np.ones((1, len(names))))[0]
        for term, share in zip(cell.terms, shares, strict=True):
            yield model, part["language"][0], set_ or part["dataset"][0], concept, term, float(share)
