"""The isogloss map: how alike languages are for a model, and models in a language, item by item."""

from collections.abc import Sequence
from typing import Any

from ....analysis.structure import Structure
from ...numbers import format_value, language_name
from ..charts import draw_plot_svg
from ..data import PageData
from ..parts import Chart, ChartView
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """A tree and a matrix for each model, then for each language."""
    parts = [
        _part(over, structures)
        for over, structures in (("language", data.languages_alike), ("model", data.models_alike))
        if structures
    ]
    return {"parts": parts} if parts else None


def _part(over: str, structures: Sequence[Structure]) -> dict[str, Any]:
    labels = []
    for structure in structures:
        keys = [key for key in ("model", "language", "method", "dataset") if key in structure.group]
        names = [language_name(structure.group[key]) if key == "language" else structure.group[key] for key in keys]
        labels.append(", ".join(names))
    views = [
        ChartView(
            (label,),
            draw_plot_svg("isogloss_map", [structure], name=f"alike-{over}-{index}"),
            ["", "", "rank correlation"],
            [[a.a, a.b, format_value(a.rho, (a.rho_low, a.rho_high))] for a in structure.likeness],
        )
        for index, (label, structure) in enumerate(zip(labels, structures, strict=True))
    ]
    choice = "Model" if over == "language" else "Language"
    chart = Chart(f"alike-{over}", views, f"Rank correlation of gaps between {over}s, with a tree.", choices=(choice,))
    sentences = list(zip(labels, map(_shared_preference, structures), strict=True))
    return {"over": over, "chart": chart, "sentences": sentences}


def _shared_preference(structure: Structure) -> str:
    """On how many items all units prefer the stereotype, and why intervals are missing."""
    every, count = structure.common[-1], len(structure.units)
    why = next((likeness.why for likeness in structure.likeness if likeness.why), None)
    return (
        f"On {100 * every.share:.1f} % of {structure.n} items {'both' if count == 2 else f'all {count}'} "
        f"{structure.over}s prefer the stereotype; if they were independent, it would be {100 * every.expected:.1f} %."
        + (f" No intervals: {why}." if why else "")
    )


panel = Panel("The isogloss map", order=60, draw=draw)
