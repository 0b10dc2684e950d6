"""Controls: the score beside that of twins without a stereotype, of permuted labels, and of simple baselines."""

from __future__ import annotations

from collections.abc import Sequence

from ...controls import Control
from ..comparing import p_value
from ..findings import Findings
from ..fragments import Panel, language_name, panel


def draw(found: Findings) -> Panel | None:
    """One table for each model and language."""
    groups: dict[str, list[Control]] = {}
    for one in found.controls:
        groups.setdefault(_place(one), []).append(one)
    if not groups:
        return None
    tables = [{"name": name, "rows": [_row(one) for one in rows], "said": _said(rows)} for name, rows in groups.items()]
    return panel("controls", "Controls", tables=tables)


def _place(one: Control) -> str:
    shown = {key: language_name(value) if key == "language" else value for key, value in one.group.items()}
    return ", ".join(shown.values())


def _row(one: Control) -> list[str]:
    return [
        one.name,
        _with_ends(one.value, (one.low, one.high), form=".2f"),
        _with_ends(one.difference, (one.difference_low, one.difference_high), form="+.2f"),
        p_value(one.p),
        "-" if one.kappa is None else f"{one.kappa:.2f}",
        str(one.n),
    ]


def _with_ends(value: float | None, ends: tuple[float | None, float | None], *, form: str) -> str:
    if value is None:
        return "-"
    if ends[0] is None or ends[1] is None:
        return format(value, form)
    return f"{value:{form}} [{ends[0]:{form}}, {ends[1]:{form}}]"


def _said(rows: Sequence[Control]) -> list[str]:
    """What the twins say: whether the score can be told from theirs."""
    lines = []
    for one in rows:
        if one.name.endswith("twins") and one.difference_low is not None and one.difference_high is not None:
            apart = one.difference_low > 0 or one.difference_high < 0
            said = "differs from" if apart else "cannot be told from"
            lines.append(f"The score {said} that of its {one.name}, in which nothing is a stereotype of the target.")
    return lines
