"""The headline metric by bias type and language, each value with its interval."""

from collections.abc import Sequence
from typing import Any

from ...analysis.measures import Measure
from ..chart_data import distinct, holds
from ..numbers import english_first
from . import FigureRequest, Plot, main_metric, measured, open_study
from ._intervals import IntervalMark, draw_intervals
from ._style import Canvas, language_label


def find(request: FigureRequest) -> list[Measure]:
    """The headline metric, or the first of the request's, for each bias type."""
    study = open_study(request)
    if not holds(study.scores, "category"):
        return []
    metric = main_metric(request, study)
    return [row for row in measured(request, study, metrics=[metric], by=["category"]) if row.metric == metric]


def draw(rows: Sequence[Measure], canvas: Canvas) -> Any:
    """A panel for each bias type; languages one below the other, models side by side in color and marker."""
    several = len(distinct(rows, "dataset")) > 1
    kinds, sets = distinct(rows, "category"), distinct(rows, "dataset")
    ordered = sorted(rows, key=lambda row: (sets.index(row.group["dataset"]), kinds.index(row.group["category"])))
    marks = []
    for row in ordered:
        name = f"{row.group['dataset']} · {row.group['category']}" if several else row.group["category"]
        marks.append(IntervalMark(name, language_label(row.group["language"], canvas), row))
    tags = english_first(row.group["language"] for row in rows)
    return draw_intervals(marks, canvas, lines=[language_label(tag, canvas) for tag in tags])


figure = Plot(
    title="By bias type and language",
    needs="scores of items with bias types: isogloss eval MODEL --data stereoset --out RUNS",
    caption="Bars are 95 % intervals over clusters of items; where there are too few clusters for one, their number is given instead of a point; gray marks are not interpretable; the dashed line is neutral. For macro ICAT a gray tick is what a model without any preference would get, and a gray cross what one with the same SS for every target would.",
    find=find,
    draw=draw,
)
