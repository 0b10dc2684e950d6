"""The ranking: the models from best to worst with the interval of each rank, and who may be first or last."""

from dataclasses import replace
from typing import Any

from ....items import group_by
from ...text.claims import rank_grid, rank_lines
from ..data import PageData
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """For each data set its metrics: who may be the best and the worst, and the ranks over all tasks."""
    parts = []
    for name, rows in group_by(data.ranks, lambda row: row.group["dataset"]).items():
        whole = [row for row in rows if "task" not in row.group] or rows
        grid = rank_grid(replace(data.ranks, rows=tuple(whole)))
        parts.append({"dataset": name, "said": rank_lines(whole), "grid": grid})
    return {"parts": parts} if parts else None


panel = Panel("Which model is best?", order=35, draw=draw)
