"""Repeatability: some items are asked for twice, with other neighbors, to see how far a model's answers move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl

from ..errors import IsoglossError
from ..items import group_by
from .cells import Cell, order_units

if TYPE_CHECKING:
    from ..models.model import Model

IDENTITY = ("id", "candidate", "quantity", "against")


def repeat_cell(cell: Cell, model: Model, *, rows: pl.DataFrame) -> dict[str, Any]:
    """What `run.json` says about asking twice: items, comparisons, how many flip, and how far log-probabilities move.

    Nothing for a model on this machine, whose scores do not depend on their neighbors, and for answers in words.
    """
    again = None if cell.method.alone else model.family.ask_again(model)
    if again is None:
        return {}
    from ..models.engine import run_all

    other, count = again
    sample = [item for unit in order_units(cell.items, cell.order) for item in unit][:count]
    try:
        asking = [cell.ask(item, other, options=cell.options) for item in reversed(sample)]
        second = cell.method.holds.table(row for part in run_all(other, asking) for row in part)
    except IsoglossError as error:  # the scores are there all the same
        return {"repeatability": {"items": 0, "why": str(error)}}
    chosen = rows.filter(pl.col("id").is_in([item.id for item in sample]))
    return {"repeatability": {"items": len(sample), **compare_rows(chosen.to_dicts(), second.to_dicts())}}


def compare_rows(first: Iterable[Mapping[str, Any]], second: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """How many comparisons of two candidates of an item turn between two tables of scores, and the largest move of a token."""
    tables = [{tuple(row[name] for name in IDENTITY): row for row in rows} for rows in (first, second)]
    keys = [key for key in tables[0] if key in tables[1] and tables[0][key]["value"] is not None]
    moves = [
        abs(a - b) for key in keys for a, b in zip(*((table[key]["logprobs"] or ()) for table in tables), strict=True)
    ]
    flips = comparisons = 0
    for group in group_by(keys, lambda key: (key[0], key[2])).values():
        for one, other in combinations(group, 2):
            before, after = (_sign(table[one]["value"] - table[other]["value"]) for table in tables)
            comparisons += 1
            flips += before != after
    return {"comparisons": comparisons, "flips": flips, "largest_move": float(f"{max(moves, default=0.0):.3g}")}


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)
