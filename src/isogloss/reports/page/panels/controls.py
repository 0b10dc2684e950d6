"""Controls: the score beside that of control items, of permuted labels, and of simple baselines."""

from typing import Any

from ....analysis.controls import Control
from ...numbers import language_name
from ...text.analyses import CELLS, control_cells, explain_control_items
from ..data import PageData
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """One table for each model and language, and what its control items say."""
    groups: dict[str, list[Control]] = {}
    for control in data.controls:
        group = {key: language_name(value) if key == "language" else value for key, value in control.group.items()}
        groups.setdefault(", ".join(group.values()), []).append(control)
    tables = []
    for name, rows in groups.items():
        sentences = [sentence[0].upper() + sentence[1:] for sentence in map(explain_control_items, rows) if sentence]
        tables.append({"name": name, "rows": [control_cells(row) for row in rows], "said": sentences})
    return {"tables": tables, "heading": CELLS} if tables else None


panel = Panel("Controls", order=130, draw=draw)
