"""Controls: the score beside that of control items, of permuted labels, and of simple baselines."""

from __future__ import annotations

from collections.abc import Sequence

from ....analysis.controls import Control
from ...text.controls import control_cells, explain_control_items
from ..data import PageData
from ..parts import Panel, language_name, panel


def draw(data: PageData) -> Panel | None:
    """One table for each model and language."""
    groups: dict[str, list[Control]] = {}
    for one in data.controls:
        groups.setdefault(_label(one), []).append(one)
    if not groups:
        return None
    tables = [
        {"name": name, "rows": [control_cells(one) for one in rows], "said": _said(rows)}
        for name, rows in groups.items()
    ]
    return panel("controls", "Controls", tables=tables)


def _label(control: Control) -> str:
    shown = {key: language_name(value) if key == "language" else value for key, value in control.group.items()}
    return ", ".join(shown.values())


def _said(rows: Sequence[Control]) -> list[str]:
    """What the control items say, as sentences of their own."""
    return [said[0].upper() + said[1:] for one in rows if (said := explain_control_items(one))]
