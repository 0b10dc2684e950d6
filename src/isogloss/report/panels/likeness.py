"""The isogloss map: how alike languages are for a model, and models in a language, item by item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...analysis.structure import Likeness, Structure
from ..findings import Findings
from ..fragments import Panel, between, language_name, panel

STEPS = 8
ROW, LEFT, WIDE = 24, 8, 150


def draw(found: Findings) -> Panel | None:
    """A matrix and a tree for each model, then for each language."""
    parts = [
        {"over": over, "views": [_view(one, number) for number, one in enumerate(structures)]}
        for over, structures in (("language", found.languages_alike), ("model", found.models_alike))
        if structures
    ]
    return panel("likeness", "The isogloss map", parts=parts) if parts else None


def _view(found: Structure, number: int) -> dict[str, Any]:
    order = leaves(found)
    pairs = {frozenset((one.a, one.b)): one for one in found.likeness}
    rows = [{"name": a, "cells": [_cell(pairs.get(frozenset((a, b))), a == b) for b in order]} for a in order]
    fixed = [(key, found.group[key]) for key in ("model", "language", "method", "dataset") if key in found.group]
    return {
        "key": str(number),
        "label": ", ".join(language_name(value) if key == "language" else value for key, value in fixed),
        "over": found.over,
        "units": order,
        "rows": rows,
        "tree": tree(found, order),
        "said": _said(found),
        "why": next((one.why for one in found.likeness if one.why), None),
        "n": found.n,
    }


def leaves(found: Structure) -> list[str]:
    """The units in the order of the tree, so that like stands by like."""
    if not found.tree:
        return list(found.units)
    last = found.tree[-1]
    return [*last.left, *last.right]


def _cell(one: Likeness | None, same: bool) -> dict[str, str]:
    if same:
        return {"value": "", "ends": "", "paint": "self"}
    if one is None or one.rho is None:
        return {"value": "-", "ends": "", "paint": "none"}
    ends = between(one.rho_low, one.rho_high, form=".2f")
    return {
        "value": f"{one.rho:.2f}".replace("-", "−"),
        "ends": ends,
        "paint": f"s{min(STEPS, max(0, round(STEPS * one.rho)))}",
    }


def _said(found: Structure) -> str:
    every, count = found.common[-1], len(found.units)
    return (
        f"On {100 * every.share:.1f} % of {found.n} items {'both' if count == 2 else f'all {count}'} {found.over}s prefer the stereotype; "
        f"if they had nothing to do with each other it would be {100 * every.expected:.1f} %."
    )


def tree(found: Structure, order: Sequence[str]) -> dict[str, Any] | None:
    """The lines of the tree: leaves stand at the left in the matrix's order, branches join to the right."""
    if not found.tree:
        return None
    far = max(merge.distance for merge in found.tree) or 1.0
    place: dict[frozenset[str], tuple[float, float]] = {
        frozenset([name]): (LEFT, ROW * i + ROW / 2) for i, name in enumerate(order)
    }
    lines = []
    for merge in found.tree:
        (x1, y1), (x2, y2) = place[frozenset(merge.left)], place[frozenset(merge.right)]
        x = LEFT + (WIDE - 2 * LEFT) * merge.distance / far
        lines.append(f"M{x1:.1f} {y1:.1f}H{x:.1f}V{y2:.1f}H{x2:.1f}")
        place[frozenset((*merge.left, *merge.right))] = (x, (y1 + y2) / 2)
    told = [f"{', '.join(m.left)} joins {', '.join(m.right)} at {m.distance:.2f}" for m in found.tree]
    return {"path": " ".join(lines), "height": ROW * len(order), "width": WIDE, "told": "; ".join(told), "row": ROW}
