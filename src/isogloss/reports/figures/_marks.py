"""The marks of figures: colours that colour-blind readers tell apart, markers, legends, intervals, and colour maps."""

from collections.abc import Sequence
from typing import Any

from ... import registry
from ...analysis.measures import Measure
from ...errors import require
from ._style import Canvas

# Okabe and Ito's colours without their yellow, which is too pale for lines on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
LOW, MIDDLE, HIGH = "#0072B2", "#F2F0EB", "#D55E00"
GREY, PALE = "#6E6E6E", "#D9D9D9"
WEAK, WEAK_NAME = (
    "#ABABAB",
    "not interpretable",
)  # below the competence limit
UPWARDS = "cividis_r"


def style_of(number: int) -> tuple[str, str]:
    """The colour and the marker of the n-th of several things."""
    turn = number + number // len(COLOURS)
    return COLOURS[number % len(COLOURS)], MARKERS[turn % len(MARKERS)]


def marks(names: Sequence[str]) -> list[Any]:
    """What a legend shows for each of several things: its colour and marker; grey for what is not interpretable."""
    lines: Any = require("matplotlib.lines", extra="report")
    looks = [(WEAK, "o") if name == WEAK_NAME else style_of(number) for number, name in enumerate(names)]
    shared = {"linestyle": "none", "markersize": 4}
    return [lines.Line2D([], [], color=colour, marker=marker, **shared) for colour, marker in looks]


def columns_for(canvas: Canvas, labels: Sequence[str]) -> int:
    """How many columns a legend can have without being wider than the figure."""
    widest = max(map(len, labels)) * 0.058 + 0.42
    return max(1, min(len(labels), int(canvas.width / widest)))


def add_legend(figure: Any, handles: Sequence[Any], *, labels: Sequence[str], canvas: Canvas) -> None:
    """A legend below all panels; none for one thing."""
    if len(labels) > 1:
        columns = columns_for(canvas, labels)
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, borderaxespad=0.2)


def legend_height(canvas: Canvas, labels: Sequence[str]) -> float:
    """The inches that the legend takes."""
    if len(labels) < 2:
        return 0.0
    return 0.08 + 0.16 * -(-len(labels) // columns_for(canvas, labels))


def whiskers(low: float | None, value: float, *, high: float | None) -> list[list[float]] | None:
    """An interval as matplotlib's errorbar wants it; none where an end is missing."""
    if low is None or high is None:
        return None
    return [[max(0.0, value - low)], [max(0.0, high - value)]]


def draw_point(
    axes: Any, at: tuple[float, float], *, style: tuple[str, str], across: Measure, along: Measure | None = None
) -> str:
    """Draw a measure with its interval, and upwards that of another; hollow without an interval, grey if not interpretable.

    The colour is returned.
    """
    colour = WEAK if across.interpretable is False else style[0]
    upwards = whiskers(along.low, at[1], high=along.high) if along else None
    sideways = whiskers(across.low, at[0], high=across.high)
    fill = colour if across.low is not None else "white"
    looks = {"elinewidth": 0.7, "markersize": 4 if along else 3.2, "markeredgewidth": 0.7, "markerfacecolor": fill}
    axes.errorbar(*at, xerr=sideways, yerr=upwards, fmt=style[1], color=colour, **looks)
    return colour


def draw_neutral(line: Any, metric: str) -> None:
    """Draw the neutral point of a metric with `line` (axvline or axhline), if it has one."""
    neutral = registry.get("metric", metric).neutral
    if neutral is not None:
        line(neutral, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)


def ink_on(colour: Sequence[float]) -> str:
    """Black or white, whichever is read better on the colour."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "white"


def colour_map(low: float, high: float, *, neutral: float | None) -> Any:
    """A scale for numbers: two colours on both sides of the neutral point, or light to dark where there is none."""
    cm: Any = require("matplotlib.cm", extra="report")
    colors: Any = require("matplotlib.colors", extra="report")
    if neutral is None:
        return cm.ScalarMappable(colors.Normalize(low, high if high > low else low + 1), UPWARDS)
    half = max(high - neutral, neutral - low, 1e-9)
    both = colors.LinearSegmentedColormap.from_list("sides", [LOW, MIDDLE, HIGH])
    return cm.ScalarMappable(colors.Normalize(neutral - half, neutral + half), both)


def whole_ticks() -> Any:
    """Few ticks, at whole numbers."""
    ticker: Any = require("matplotlib.ticker", extra="report")
    return ticker.MaxNLocator(4, integer=True)
