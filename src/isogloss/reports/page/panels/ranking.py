"""The ranking: the models from best to worst with the interval of each rank, and who may be first or last."""

from dataclasses import replace
from typing import Any

from ...text.claims import rank_grid, rank_lines
from ..data import PageData
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """For each data set that tells models apart: who is best by each metric, and the ranks over all tasks."""
    parts = []
    for name, rows in data.ranks.items():
        whole = [row for row in rows if "task" not in row.group] or list(rows)
        answers = rank_lines([row for row in whole if not (row.may_be_best and row.may_be_worst)])
        if answers:
            grid = rank_grid(replace(rows, rows=tuple(whole)))
            parts.append({"dataset": name, "answers": rank_lines(whole), "grid": grid})
    return {"parts": parts} if parts else None


panel = Panel("Which model is best?", order=35, draw=draw)
