"""LMS and SS of each model and language in one plane, with intervals both ways and lines of equal ICAT."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...analysis.competence import LEAST_COMPETENCE
from ..chart_data import PLANE, Point, icat_lines, models_of, plane_points
from ..numbers import model_label
from . import FigureRequest, Plot, measured, open_study
from ._label_placement import label_points, spread_labels
from ._marks import GREY, PALE, add_legend, draw_neutral, legend_height, model_legend
from ._style import DOUBLE, SMALL, Canvas, language_label, new_panels


def find(request: FigureRequest) -> dict[str, list[Point]]:
    """The points of each data set that has LMS, SS and ICAT."""
    return plane_points(measured(request, open_study(request), metrics=PLANE))


def draw(chosen: Mapping[str, Sequence[Point]], canvas: Canvas) -> Any:
    """A plane for each data set; color and marker are the model, the name beside a point its language."""
    points = [point["ss"] for group in chosen.values() for point in group]
    names = models_of(points)
    labels, handles = model_legend(points)
    shape = 0.55 if canvas.width >= DOUBLE and len(chosen) == 1 else 0.86
    space = legend_height(canvas, labels)
    figure, axes_of, _ = new_panels(canvas, len(chosen), height=lambda down, width: down * width * shape + space)
    panels = []
    for axes, (dataset, group) in zip(axes_of, chosen.items(), strict=True):
        labelled = []
        for ss, lms in ((point["ss"], point["lms"]) for point in group):
            label = language_label(ss.group["language"], canvas)
            labelled.append((ss, lms, label, names.index(model_label(ss.group))))
        panels.append(label_points(axes, labelled))
        for metric, set_range, also in (("ss", axes.set_xlim, [50.0]), ("lms", axes.set_ylim, [])):
            ends = [end for p in group for end in (p[metric].low, p[metric].value, p[metric].high) if end is not None]
            low, high = min([*ends, *also]), max([*ends, *also])
            margin = max(0.06 * (high - low), 0.8)
            set_range(max(0, low - margin), min(100, high + margin))
        _draw_lines(axes)
        axes.set_xlabel("SS (50: no preference)")
        axes.set_ylabel("LMS")
        if len(chosen) > 1:
            axes.set_title(dataset)
    add_legend(figure, handles, labels=labels, canvas=canvas)
    spread_labels(figure, panels)
    return figure


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
    draw_neutral(axes.axvline, "ss")


figure = Plot(
    title="LMS and SS in one plane",
    needs="scores from which LMS, SS and ICAT can be measured: isogloss eval MODEL --data stereoset --out RUNS",
    caption="Bars are 95 % intervals over clusters of items; gray points are not interpretable; gray lines join points of equal ICAT, whose value is at their end; the shaded band (LMS below 60) is below our competence limit; the dashed line is no preference.",
    find=find,
    draw=draw,
)
