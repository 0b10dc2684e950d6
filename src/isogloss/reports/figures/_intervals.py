"""Charts of intervals: panels with lines, and on each line a point with its interval for every model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...analysis.measures import Measure
from ...items import group_by
from ..chart_data import models_of
from ..numbers import metric_name, model_label
from . import value_of
from ._marks import GREY, add_legend, draw_neutral, draw_point, legend_height, model_legend, style_of
from ._style import SMALL, Canvas, fit_name, new_panels
from ._svg import explain

LINE = 0.11  # inches between two models of a line: the height of the smallest letters


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """A measure in its place: the panel, and the line of the panel."""

    panel: str
    line: str
    measure: Measure


def draw_intervals(marks: Sequence[IntervalMark], canvas: Canvas, *, lines: Sequence[str] = ()) -> Any:
    """A figure with a panel for each name and the lines in this order; panels of one line each are lines of one panel.

    A measure without an interval is no point but the number of its clusters: it would look like a finding.
    """
    order = list(lines) or list(dict.fromkeys(mark.line for mark in marks))
    if len(order) == 1:
        marks = [IntervalMark("", mark.panel or mark.line, mark.measure) for mark in marks]
        order = list(dict.fromkeys(mark.line for mark in marks))
    panels = group_by(marks, lambda mark: mark.panel)
    rows = [mark.measure for mark in marks]
    who = models_of(rows)
    labels, handles = model_legend(rows)
    each = (0.28 if any(panels) else 0.08) + len(order) * max(0.17, LINE * len(who) + 0.05)
    space = 0.46 + legend_height(canvas, labels)  # the axis with its name
    figure, axes_of, grid = new_panels(canvas, len(panels), height=lambda down, _: space + down * each, shared="xy")
    for axes, (name, chosen) in zip(axes_of, panels.items(), strict=True):
        draw_neutral(axes.axvline, rows[0].metric)
        for mark in chosen:
            place = who.index(model_label(mark.measure.group))
            y = order.index(mark.line) + 0.8 * ((place + 0.5) / len(who) - 0.5)
            _draw_mark(axes, mark.measure, y=y, style=style_of(place))
        axes.set_title(fit_name(name, canvas, share=0.8 / grid.shape[1]), loc="left", pad=2)
        axes.set_yticks(range(len(order)), [fit_name(line, canvas) for line in order])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(order) - 0.5, -0.5)
    metrics = list(dict.fromkeys(metric_name(row.metric) for row in rows))
    for axes in [*grid[-1], *(grid[-2] if len(panels) < grid.size else [])]:
        axes.set_xlabel(metrics[0] if len(metrics) == 1 else "value")
        axes.tick_params(labelbottom=True)
        axes.locator_params(axis="x", nbins=6)
    add_legend(figure, handles, labels=labels, canvas=canvas)
    return figure


def _draw_mark(axes: Any, row: Measure, *, y: float, style: tuple[str, str]) -> None:
    if row.low is None or row.high is None:
        text = axes.text(
            0.01, y, f"{row.clusters} cluster{'s' * (row.clusters != 1)}: no interval", fontsize=SMALL, color=GREY,
            transform=axes.get_yaxis_transform(), va="center_baseline",
        )  # fmt: skip
        explain(text, f"{model_label(row.group)}: {row.why}" if row.why else model_label(row.group))
        return
    draw_point(axes, (value_of(row), y), style=style, across=row)
    for expected, mark in ((row.unbiased, "|"), (row.homogeneous, "x")):
        if expected is not None:
            size = 6 if mark == "|" else 3
            axes.plot(expected, y, marker=mark, color=GREY, markersize=size, linestyle="none")
