"""Targets: which terms a model stereotypes most and least in a language."""

from collections.abc import Sequence
from typing import Any

from ....analysis.measures import Measure
from ....items import group_by
from ...figures._intervals import IntervalMark, draw_intervals
from ...numbers import language_name, metric_name, model_label, number
from ..charts import draw_svg
from ..data import PageData
from ..parts import Chart, ChartView
from . import Panel

MOST = 8  # at either end
FEWEST = 5  # items; a share of fewer is hardly a number
CAPTION = (
    "Each item of a target counts as a unit of its own here, so intervals hold for these items' kind, not for all that "
    "is said of the target. Gray targets (†) are not interpretable."
)


def draw(data: PageData) -> dict[str, Any] | None:
    """The ends of the list for each model and language, one at a time."""
    rows = [
        row
        for row in data.targets
        if row.value is not None and row.low is not None and row.n >= FEWEST and row.group.get("target") != "none"
    ]
    views: list[ChartView] = []
    for cell, measures in group_by(rows, _cell).items():
        ordered = sorted(measures, key=lambda row: (-(row.value or 0.0), row.group["target"]))
        if len(ordered) > 1:
            views.append(_view(f"targets-{len(views)}", ordered, cell=cell))
    if not views:
        return None
    label = f"{metric_name(rows[0].metric)} of the most and least stereotyped targets with 95 % intervals."
    return {"chart": Chart("targets-chart", views, label, CAPTION, ("Show",)), "fewest": FEWEST}


def _cell(row: Measure) -> str:
    return f"{model_label(row.group)}, {language_name(row.group['language'])}, {row.group['dataset']}"


def _view(name: str, rows: Sequence[Measure], *, cell: str) -> ChartView:
    ends = rows if len(rows) <= 2 * MOST else [*rows[:MOST], *rows[-MOST:]]
    marks = [IntervalMark("", row.group["target"], row) for row in ends]
    pictures = draw_svg(lambda canvas: draw_intervals(marks, canvas), name=name, wide=False)
    table = [[row.group["target"], number(row), str(row.n)] for row in ends]
    return ChartView((cell,), pictures, ["target", metric_name(rows[0].metric), "n"], table)


panel = Panel("Most and least stereotyped targets", order=50, draw=draw)
