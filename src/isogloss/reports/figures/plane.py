"""LMS and SS of each model and language in one plane, with intervals both ways and lines of equal ICAT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...analysis.measures import Measure
from ..page.data import datasets, without_task
from ..page.parts import model_label
from ..text.measures import any_weak
from . import FigureRequest, Plot, measured, open_scored, value_of
from ._label_placement import Labels, Segment, spread_labels
from ._style import (
    DOUBLE,
    GREY,
    PALE,
    SMALL,
    WEAK,
    WEAK_NAME,
    Canvas,
    add_legend,
    legend_height,
    marks,
    new_figure,
    style_of,
    whiskers,
)

METRICS = ("lms", "ss", "icat")
LINES = range(10, 100, 10)
Point = Mapping[str, Measure]


def find(request: FigureRequest) -> dict[str, list[Point]]:
    """The points of each data set that has all three values."""
    scored = open_scored(request)
    rows = without_task(measured(request, scored, metrics=METRICS))
    found: dict[str, list[Point]] = {}
    for name, group in datasets(rows).items():
        points: dict[tuple[str, ...], dict[str, Measure]] = {}
        for row in group:
            points.setdefault(tuple(row.group.values()), {})[row.metric] = row
        found[name] = [point for point in points.values() if set(METRICS) <= set(point)]
    return {name: points for name, points in found.items() if points}


def draw(found: Mapping[str, Sequence[Point]], canvas: Canvas) -> Any:
    """A plane for each data set; colour and marker are the model, the letters beside a point its language."""
    names = list(dict.fromkeys(model_label(point["ss"].group) for points in found.values() for point in points))
    labels = [*names, WEAK_NAME] if any_weak(point["ss"] for points in found.values() for point in points) else names
    columns = 2 if canvas.width >= DOUBLE and len(found) > 1 else 1
    rows = -(-len(found) // columns)
    each = canvas.width / columns * (0.86 if columns == 2 or canvas.width < DOUBLE else 0.55)
    figure = new_figure(canvas, rows * each + legend_height(canvas, labels))
    grid = figure.subplots(rows, columns, squeeze=False)
    panels = []
    for axes in grid.flat[len(found) :]:
        axes.set_visible(False)
    for axes, (dataset, points) in zip(grid.flat, found.items(), strict=False):
        texts = [_draw_point(axes, point, names=names) for point in points]
        _set_ranges(axes, points)
        _draw_lines(axes)
        axes.set_xlabel("SS (50: no preference)")
        axes.set_ylabel("LMS")
        if len(found) > 1:
            axes.set_title(dataset)
        positions = [(value_of(point["ss"]), value_of(point["lms"])) for point in points]
        panels.append(Labels(axes, texts, positions, [line for point in points for line in _whiskers(point)]))
    add_legend(figure, marks(labels), labels=labels, canvas=canvas)
    spread_labels(figure, panels)
    return figure


def _draw_point(axes: Any, point: Point, *, names: list[str]) -> Any:
    ss, lms = point["ss"], point["lms"]
    name = model_label(ss.group)
    colour, marker = style_of(names.index(name))
    colour = WEAK if ss.interpretable is False else colour
    x, y = value_of(ss), value_of(lms)
    axes.errorbar(
        x,
        y,
        xerr=whiskers(ss.low, x, high=ss.high),
        yerr=whiskers(lms.low, y, high=lms.high),
        fmt=marker,
        color=colour,
        elinewidth=0.7,
        markersize=4,
        markerfacecolor=colour if ss.low is not None else "white",
    )
    return axes.annotate(
        ss.group["language"], (x, y), (3, 3), textcoords="offset points", fontsize=SMALL, color=colour, zorder=5
    )


def _whiskers(point: Point) -> Iterator[Segment]:
    """The lines of both intervals."""
    ss, lms = point["ss"], point["lms"]
    x, y = value_of(ss), value_of(lms)
    if ss.low is not None and ss.high is not None:
        yield ss.low, y, ss.high, y
    if lms.low is not None and lms.high is not None:
        yield x, lms.low, x, lms.high


def _set_ranges(axes: Any, points: Sequence[Point]) -> None:
    """Space for all intervals and the line of no preference."""
    for metric, put, also in (("ss", axes.set_xlim, [50.0]), ("lms", axes.set_ylim, [])):
        ends = [end for p in points for end in (p[metric].low, p[metric].value, p[metric].high) if end is not None]
        low, high = min([*ends, *also]), max([*ends, *also])
        space = max(0.06 * (high - low), 0.8)
        put(max(0, low - space), min(100, high + space))


def _draw_lines(axes: Any) -> None:
    """Lines of equal ICAT, each with its number, and the line of no preference."""
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    xs = np.linspace(max(left, 0.5), min(right, 99.5), 400)
    for level in LINES:
        ys = level * 50 / np.minimum(xs, 100 - xs)
        inside = (ys > bottom) & (ys < top)
        axes.plot(xs, np.where(inside, ys, np.nan), color=PALE, linewidth=0.6, zorder=0)
        if inside.any():
            at = np.flatnonzero(inside)[-1]
            axes.annotate(
                f"{level}", (xs[at], ys[at]), (-2, 1), textcoords="offset points", ha="right", va="bottom",
                fontsize=SMALL, color=GREY, zorder=0,
            )  # fmt: skip
    axes.axvline(50, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)


figure = Plot(
    title="LMS and SS in one plane",
    needs="scores from which LMS, SS and ICAT can be measured: isogloss eval MODEL --data stereoset --out RUNS",
    caption="Bars are 95 % intervals over clusters of items; grey points are not interpretable; grey lines join points of equal ICAT, whose value stands at their end; the dashed line is no preference.",
    find=find,
    draw=draw,
)
