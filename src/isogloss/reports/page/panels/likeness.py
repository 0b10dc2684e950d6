"""The isogloss map: how alike languages are for a model, and models in a language, item by item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....analysis.structure import Likeness, Structure
from ..data import PageData
from ..parts import Panel, between, language_name, panel

STEPS = 8
ROW, LEFT, WIDE = 24, 8, 150


def draw(data: PageData) -> Panel | None:
    """A matrix and a tree for each model, then for each language."""
    parts = [
        {"over": over, "views": [_view(one, number) for number, one in enumerate(structures)]}
        for over, structures in (("language", data.languages_alike), ("model", data.models_alike))
        if structures
    ]
    return panel("likeness", "The isogloss map", parts=parts) if parts else None


def _view(structure: Structure, number: int) -> dict[str, Any]:
    order = leaves(structure)
    pairs = {frozenset((one.a, one.b)): one for one in structure.likeness}
    rows = [{"name": a, "cells": [_cell(pairs.get(frozenset((a, b))), a == b) for b in order]} for a in order]
    fixed = [
        (key, structure.group[key]) for key in ("model", "language", "method", "dataset") if key in structure.group
    ]
    return {
        "key": str(number),
        "label": ", ".join(language_name(value) if key == "language" else value for key, value in fixed),
        "over": structure.over,
        "units": order,
        "rows": rows,
        "tree": tree(structure, order),
        "said": _said(structure),
        "why": next((one.why for one in structure.likeness if one.why), None),
        "n": structure.n,
    }


def leaves(structure: Structure) -> list[str]:
    """The units in the order of the tree, so that like stands by like."""
    if not structure.tree:
        return list(structure.units)
    last = structure.tree[-1]
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


def _said(structure: Structure) -> str:
    every, count = structure.common[-1], len(structure.units)
    return (
        f"On {100 * every.share:.1f} % of {structure.n} items {'both' if count == 2 else f'all {count}'} {structure.over}s prefer the stereotype; "
        f"if they had nothing to do with each other it would be {100 * every.expected:.1f} %."
    )


def tree(structure: Structure, order: Sequence[str]) -> dict[str, Any] | None:
    """The lines of the tree: leaves stand at the left in the matrix's order, branches join to the right."""
    if not structure.tree:
        return None
    far = max(merge.distance for merge in structure.tree) or 1.0
    position_of: dict[frozenset[str], tuple[float, float]] = {
        frozenset([name]): (LEFT, ROW * i + ROW / 2) for i, name in enumerate(order)
    }
    lines = []
    for merge in structure.tree:
        (x1, y1), (x2, y2) = position_of[frozenset(merge.left)], position_of[frozenset(merge.right)]
        x = LEFT + (WIDE - 2 * LEFT) * merge.distance / far
        lines.append(f"M{x1:.1f} {y1:.1f}H{x:.1f}V{y2:.1f}H{x2:.1f}")
        position_of[frozenset((*merge.left, *merge.right))] = (x, (y1 + y2) / 2)
    told = [f"{', '.join(m.left)} joins {', '.join(m.right)} at {m.distance:.2f}" for m in structure.tree]
    return {"path": " ".join(lines), "height": ROW * len(order), "width": WIDE, "told": "; ".join(told), "row": ROW}
