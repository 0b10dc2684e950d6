"""The headline metric by bias type and language, each value with its interval."""

from collections.abc import Sequence
from typing import Any

from ...analysis.measures import Measure
from ...items import group_by
from ..chart_data import distinct, holds, models_of
from ..numbers import any_weak, english_first, metric_name, model_label
from . import FigureRequest, Plot, main_metric, measured, open_scored, value_of
from ._marks import GREY, WEAK_NAME, add_legend, draw_neutral, draw_point, legend_height, marks, style_of
from ._style import Canvas, language_label, new_panels

LINE = 0.1


def find(request: FigureRequest) -> list[Measure]:
    """The headline metric, or the first of the request's, for each bias type."""
    scored = open_scored(request)
    if not holds(scored, "category"):
        return []
    metric = main_metric(request, scored)
    return [row for row in measured(request, scored, metrics=[metric], by=["category"]) if row.metric == metric]


def draw(rows: Sequence[Measure], canvas: Canvas) -> Any:
    """A panel for each bias type; languages one below the other, models side by side in colour and marker."""
    kinds, who, data = distinct(rows, "category"), models_of(rows), distinct(rows, "dataset")
    groups = group_by(rows, lambda row: (row.group["dataset"], row.group["category"]))
    panels = [(dataset, kind) for dataset in data for kind in kinds if (dataset, kind) in groups]
    tags = english_first(row.group["language"] for row in rows)
    each = 0.28 + len(tags) * max(0.17, LINE * len(who) + 0.05)
    labels = [*who, WEAK_NAME] if any_weak(rows) else who
    space = 0.35 + legend_height(canvas, labels)
    figure, axes_of, grid = new_panels(canvas, len(panels), height=lambda down, _: space + down * each, shared="xy")
    for axes, (dataset, kind) in zip(axes_of, panels, strict=True):
        for row in groups[dataset, kind]:
            number = who.index(model_label(row.group))
            y = tags.index(row.group["language"]) + 0.8 * ((number + 0.5) / len(who) - 0.5)
            draw_point(axes, (value_of(row), y), style=style_of(number), across=row)
            for expected, mark in ((row.unbiased, "|"), (row.homogeneous, "x")):
                if expected is not None:
                    axes.plot(
                        expected, y, marker=mark, color=GREY, markersize=6 if mark == "|" else 3, linestyle="none"
                    )
        axes.set_title(f"{dataset} · {kind}" if len(data) > 1 else kind, loc="left", pad=2)
        draw_neutral(axes.axvline, rows[0].metric)
        axes.set_yticks(range(len(tags)), [language_label(tag, canvas) for tag in tags])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(tags) - 0.5, -0.5)
    for axes in [*grid[-1], *(grid[-2] if len(panels) < grid.size else [])]:
        axes.set_xlabel(metric_name(rows[0].metric))
        axes.tick_params(labelbottom=True)
    add_legend(figure, marks(labels), labels=labels, canvas=canvas)
    return figure


figure = Plot(
    title="By bias type and language",
    needs="scores of items with bias types: isogloss eval MODEL --data stereoset --out RUNS",
    caption="Bars are 95 % intervals over clusters of items; a hollow mark has too few clusters for one, a grey one is not interpretable; the dashed line is neutral. For macro ICAT a grey tick is what a model without any preference would get, and a grey cross what one with the same SS for every target would.",
    find=find,
    draw=draw,
)
