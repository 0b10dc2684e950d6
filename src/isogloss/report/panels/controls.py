"""Controls: the score beside that of twins without a stereotype, of permuted labels, and of simple baselines."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.controls import Control
from ..controlling import control_cells, twins_say
from ..findings import Findings
from ..fragments import Panel, language_name, panel


def draw(found: Findings) -> Panel | None:
    """One table for each model and language."""
    groups: dict[str, list[Control]] = {}
    for one in found.controls:
        groups.setdefault(_place(one), []).append(one)
    if not groups:
        return None
    tables = [
        {"name": name, "rows": [control_cells(one) for one in rows], "said": _said(rows)}
        for name, rows in groups.items()
    ]
    return panel("controls", "Controls", tables=tables)


def _place(one: Control) -> str:
    shown = {key: language_name(value) if key == "language" else value for key, value in one.group.items()}
    return ", ".join(shown.values())


def _said(rows: Sequence[Control]) -> list[str]:
    """What the twins say, as sentences of their own."""
    return [said[0].upper() + said[1:] for one in rows if (said := twins_say(one))]
