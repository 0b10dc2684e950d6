"""The marks of figures: colors that color-blind readers can tell apart, markers, legends, intervals, and scales."""

from collections.abc import Callable, Sequence
from typing import Any

from ... import registry
from ...analysis.measures import Measure
from ...errors import require
from ..chart_data import models_of
from ..numbers import language_name, metric_name, model_label, number, side
from ._style import Canvas, fit_name
from ._svg import explain

# Each has a contrast of 3:1 or more on white and on the dark page; markers differ where colors may look alike.
COLOURS = ("#3a7fc2", "#d2700a", "#1d9a6c", "#c8599f", "#8467c9", "#8f8120", "#1490a8", "#7d838c")
MARKERS = ("o", "s", "^", "D", "P", "v", ">", "<", "X", "p", "h", "*")
LOW, HIGH = COLOURS[0], COLOURS[1]
GREY, PALE, CELL_INK = "#6e6e6e", "#d9d9d9", "#14171c"
WEAK, WEAK_NAME = "#a9aeb6", "† not interpretable"  # below the competence limit
# Light enough for dark letters, so that one ink is read on every field; the dark page exchanges all of them at once.
BELOW = ("#f2f2f0", "#d6e6f4", "#b3d2eb", "#8dbbdf", "#68a3d0")
ABOVE = ("#f2f2f0", "#fbe3c6", "#f7cc98", "#f0b066", "#e6923a")
UPWARDS = ("#f3f5f2", "#e2efe6", "#cfe7da", "#b9dece", "#a1d3c2", "#87c7b6", "#6dbaab", "#56ac9f", "#459d93")
LEVELS = len(ABOVE) - 1
SIGNS = {"above": " ▲", "below": " ▼", "unclear": " ≈"}


def style_of(index: int) -> tuple[str, str]:
    """The color and the marker of the n-th of several things."""
    turn = index + index // len(COLOURS)
    return COLOURS[index % len(COLOURS)], MARKERS[turn % len(MARKERS)]


# ---- legends


def marks(names: Sequence[str], *, weak: Sequence[str] = ()) -> list[Any]:
    """What a legend shows for each of several things: its color and marker; gray where all its marks are gray."""
    lines: Any = require("matplotlib.lines", extra="report")
    looks = [(WEAK, "o") if name == WEAK_NAME else style_of(index) for index, name in enumerate(names)]
    looks = [(WEAK if name in weak else look[0], look[1]) for name, look in zip(names, looks, strict=True)]
    shared = {"linestyle": "none", "markersize": 4}
    return [lines.Line2D([], [], color=colour, marker=marker, **shared) for colour, marker in looks]


def model_legend(rows: Sequence[Measure]) -> tuple[list[str], list[Any]]:
    """The labels and the marks of the models; a model that is never interpretable has the gray of its points."""
    names = models_of(rows)
    sure = {model_label(row.group) for row in rows if row.interpretable is not False}
    weak = any(row.interpretable is False for row in rows)
    labels = [*names, *([WEAK_NAME] if weak else [])]
    return labels, marks(labels, weak=[name for name in names if name not in sure])


def columns_for(canvas: Canvas, labels: Sequence[str]) -> int:
    """How many columns a legend can have without being wider than the figure."""
    widest = max(map(len, labels)) * 0.058 + 0.42
    return max(1, min(len(labels), int(canvas.width / widest)))


def add_legend(figure: Any, handles: Sequence[Any], *, labels: Sequence[str], canvas: Canvas) -> None:
    """A legend below all panels; none for one thing."""
    if len(labels) > 1:
        columns = columns_for(canvas, labels)
        labels = [fit_name(label, canvas, share=0.85) for label in labels]
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, borderaxespad=0.2)


def legend_height(canvas: Canvas, labels: Sequence[str]) -> float:
    """The inches that the legend takes."""
    if len(labels) < 2:
        return 0.0
    return 0.08 + 0.16 * -(-len(labels) // columns_for(canvas, labels))


# ---- points with intervals


def whiskers(low: float | None, value: float, *, high: float | None) -> list[list[float]] | None:
    """An interval as matplotlib's errorbar wants it; none where an end is missing."""
    if low is None or high is None:
        return None
    return [[max(0.0, value - low)], [max(0.0, high - value)]]


def draw_point(
    axes: Any, at: tuple[float, float], *, style: tuple[str, str], across: Measure, along: Measure | None = None
) -> str:
    """Draw a measure with its interval, and upwards that of another, gray if not interpretable; its color comes out."""
    colour = WEAK if across.interpretable is False else style[0]
    upwards = whiskers(along.low, at[1], high=along.high) if along else None
    sideways = whiskers(across.low, at[0], high=across.high)
    looks = {"elinewidth": 0.9, "markersize": 4 if along else 3.4, "markeredgewidth": 0.7}
    point, _, bars = axes.errorbar(*at, xerr=sideways, yerr=upwards, fmt=style[1], color=colour, **looks)
    for artist in (point, *bars):
        explain(artist, "; ".join(filter(None, (describe_point(across), metric_value(along) if along else ""))))
    return colour


def describe_point(row: Measure) -> str:
    """The tooltip of a mark: whose number it is, the number with its interval, and over how many items."""
    names = [model_label(row.group), *([language_name(row.group["language"])] if "language" in row.group else [])]
    return f"{', '.join(names)}: {metric_value(row)}, n = {row.n:,}"


def metric_value(row: Measure) -> str:
    """The metric's name with its value and interval."""
    return f"{metric_name(row.metric)} {number(row)}"


def draw_neutral(line: Any, metric: str) -> None:
    """Draw the neutral point of a metric with `line` (axvline or axhline), if it has one."""
    neutral = registry.get("metric", metric).neutral
    if neutral is not None:
        line(neutral, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)


# ---- fields with colors


def field_colour(value: float, span: float, *, least: float | None = None, unclear: bool = False) -> str:
    """The color of a number: by its distance from 0, and pale where its sign is unclear.

    With `least`, numbers have no neutral point, and colors go upwards from there.
    """
    if least is not None:
        return UPWARDS[round(2 * LEVELS * (value - least) / span)]
    level = 0 if unclear else max(1, min(LEVELS, round(LEVELS * abs(value) / span)))
    return (BELOW if value < 0 else ABOVE)[level]


def measure_colours(rows: Sequence[Measure]) -> tuple[Callable[[Measure], str], tuple[float, float]]:
    """The color of each measure of a metric, and the ends of their scale.

    Only a value whose interval excludes the neutral point has a color. Scales of per cent are not
    stretched to less than ten points on either side: a difference of one point is not a strong color.
    """
    metric = registry.get("metric", rows[0].metric)
    values = [row.value for row in rows if row.value is not None]
    per_cent = metric.bounds[1] - metric.bounds[0] == 100
    neutral, least = metric.neutral, min(values)
    if neutral is None:
        span = max(max(values) - least, 20.0 if per_cent else 1e-9)
    else:
        span = max(10.0 if per_cent else 1e-9, *(abs(value - neutral) for value in values))

    def colour(row: Measure) -> str:
        if row.interpretable is False or row.value is None:
            return WEAK
        if neutral is None:
            return field_colour(row.value, span, least=least)
        return field_colour(row.value - neutral, span, unclear=side(row, neutral) in ("unclear", ""))

    return colour, (least, least + span) if neutral is None else (neutral - span, neutral + span)


def scale_of(ends: tuple[float, float], *, neutral: float | None) -> Any:
    """The steps of the colors between two ends, for a color bar."""
    cm: Any = require("matplotlib.cm", extra="report")
    colors: Any = require("matplotlib.colors", extra="report")
    steps = UPWARDS if neutral is None else (*BELOW[:0:-1], *ABOVE)
    half = (ends[1] - ends[0]) / (2 * (len(steps) - 1))  # a step reaches half a step to either side of its value
    return cm.ScalarMappable(colors.Normalize(ends[0] - half, ends[1] + half), colors.ListedColormap(steps))


def whole_ticks() -> Any:
    """Few ticks, at whole numbers."""
    ticker: Any = require("matplotlib.ticker", extra="report")
    return ticker.MaxNLocator(4, integer=True)
