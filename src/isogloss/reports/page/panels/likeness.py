"""The isogloss map: how alike languages are for a model, and models in a language, item by item."""

from typing import Any

from ....analysis.structure import Likeness, Structure
from ...chart_data import branches, leaves
from ...numbers import between, language_name
from ..data import PageData
from . import Panel

STEPS = 4  # on either side of 0
ROW, LEFT, WIDE = 24, 8, 150


def draw(data: PageData) -> dict[str, Any] | None:
    """A matrix and a tree for each model, then for each language."""
    parts = [
        {"over": over, "views": [_view(structure, number) for number, structure in enumerate(structures)]}
        for over, structures in (("language", data.languages_alike), ("model", data.models_alike))
        if structures
    ]
    return {"parts": parts} if parts else None


def _view(structure: Structure, number: int) -> dict[str, Any]:
    order = leaves(structure)
    pairs = {frozenset((likeness.a, likeness.b)): likeness for likeness in structure.likeness}
    rows = [{"name": a, "cells": [_cell(pairs.get(frozenset((a, b))), a == b) for b in order]} for a in order]
    keys = [key for key in ("model", "language", "method", "dataset") if key in structure.group]
    every, count = structure.common[-1], len(structure.units)
    return {
        "key": str(number),
        "label": ", ".join((language_name if key == "language" else str)(structure.group[key]) for key in keys),
        "over": structure.over,
        "units": order,
        "rows": rows,
        "tree": tree(structure),
        "said": f"On {100 * every.share:.1f} % of {structure.n} items {'both' if count == 2 else f'all {count}'} "
        f"{structure.over}s prefer the stereotype; if they were independent, it would be {100 * every.expected:.1f} %.",
        "why": next((likeness.why for likeness in structure.likeness if likeness.why), None),
    }


def _cell(likeness: Likeness | None, same: bool) -> dict[str, str]:
    if same:
        return {"value": "", "ends": "", "paint": "self"}
    if likeness is None or likeness.rho is None:
        return {"value": "-", "ends": "", "paint": "none"}
    ends = between(likeness.rho_low, likeness.rho_high, form=".2f")
    paint = f"d{'n' if likeness.rho < 0 else 'p'}{round(STEPS * abs(likeness.rho))}"
    return {"value": f"{likeness.rho:.2f}".replace("-", "−"), "ends": ends, "paint": paint}


def tree(structure: Structure) -> dict[str, Any] | None:
    """The lines of the tree: leaves are at the left in the matrix's order, branches join to the right."""
    if not structure.tree:
        return None
    far = max(merge.distance for merge in structure.tree) or 1.0

    def across(distance: float) -> float:
        return LEFT + (WIDE - 2 * LEFT) * distance / far

    lines = [
        f"M{across(a[0]):.1f} {ROW * (a[1] + 0.5):.1f}H{across(distance):.1f}V{ROW * (b[1] + 0.5):.1f}H{across(b[0]):.1f}"
        for distance, a, b in branches(structure)
    ]
    merges = [f"{', '.join(m.left)} joins {', '.join(m.right)} at {m.distance:.2f}" for m in structure.tree]
    height = ROW * len(structure.units)
    return {"path": " ".join(lines), "height": height, "width": WIDE, "told": "; ".join(merges)}


panel = Panel("The isogloss map", order=60, draw=draw)
