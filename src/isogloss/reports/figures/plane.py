"""LMS and SS of each model and language in one plane, with intervals both ways and lines of equal ICAT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...analysis.competence import LEAST_COMPETENCE
from ..chart_data import PLANE, Point, icat_lines, models_of, plane_points
from ..numbers import any_weak, model_label
from . import FigureRequest, Plot, measured, open_scored, value_of
from ._label_placement import Labels, Segment, spread_labels
from ._marks import GREY, PALE, WEAK, WEAK_NAME, add_legend, legend_height, marks, style_of, whiskers
from ._style import DOUBLE, SMALL, Canvas, language_label, new_panels


def find(request: FigureRequest) -> dict[str, list[Point]]:
    """The points of each data set that has LMS, SS and ICAT."""
    return plane_points(measured(request, open_scored(request), metrics=PLANE))


def draw(found: Mapping[str, Sequence[Point]], canvas: Canvas) -> Any:
    """A plane for each data set; colour and marker are the model, the name beside a point its language."""
    points = [point["ss"] for group in found.values() for point in group]
    names = models_of(points)
    labels = [*names, WEAK_NAME] if any_weak(points) else names
    shape = 0.55 if canvas.width >= DOUBLE and len(found) == 1 else 0.86
    space = legend_height(canvas, labels)
    figure, axes_of, _ = new_panels(canvas, len(found), height=lambda down, width: down * width * shape + space)
    panels = []
    for axes, (dataset, group) in zip(axes_of, found.items(), strict=True):
        texts = [_draw_point(axes, point, names=names, canvas=canvas) for point in group]
        _set_ranges(axes, group)
        _draw_lines(axes)
        axes.set_xlabel("SS (50: no preference)")
        axes.set_ylabel("LMS")
        if len(found) > 1:
            axes.set_title(dataset)
        positions = [(value_of(point["ss"]), value_of(point["lms"])) for point in group]
        panels.append(Labels(axes, texts, positions, [line for point in group for line in _whiskers(point)]))
    add_legend(figure, marks(labels), labels=labels, canvas=canvas)
    spread_labels(figure, panels)
    return figure


def _draw_point(axes: Any, point: Point, *, names: list[str], canvas: Canvas) -> Any:
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
    label = language_label(ss.group["language"], canvas)
    return axes.annotate(label, (x, y), (3, 3), textcoords="offset points", fontsize=SMALL, color=colour, zorder=5)


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
    axes.axhspan(bottom, max(bottom, LEAST_COMPETENCE), color=PALE, alpha=0.35, linewidth=0, zorder=-1)
    for level, line in icat_lines((left, right), (bottom, top)).items():
        for part in ([point for point in line if point[0] <= 50], [point for point in line if point[0] >= 50]):
            axes.plot([x for x, _ in part], [y for _, y in part], color=PALE, linewidth=0.6, zorder=0)
        if line:
            axes.annotate(
                f"{level}", line[-1], (-2, 1), textcoords="offset points", ha="right", va="bottom",
                fontsize=SMALL, color=GREY, zorder=0,
            )  # fmt: skip
    axes.set_ylim(bottom, top)
    axes.axvline(50, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)


figure = Plot(
    title="LMS and SS in one plane",
    needs="scores from which LMS, SS and ICAT can be measured: isogloss eval MODEL --data stereoset --out RUNS",
    caption="Bars are 95 % intervals over clusters of items; grey points are not interpretable; grey lines join points of equal ICAT, whose value stands at their end; in the shaded band (LMS below 60) the model is guessing; the dashed line is no preference.",
    find=find,
    draw=draw,
)
