"""The canvas of figures for papers: widths, colours that colour-blind readers tell apart, type, and files."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import languages
from ...errors import IsoglossError, UnknownName, require
from ._fonts import families

SINGLE, DOUBLE = 3.3, 6.9  # inches: one and two columns of a page
WIDTHS = {"single": SINGLE, "double": DOUBLE}
NARROWEST, WIDEST = 1.5, 40.0
FORMATS = ("svg", "png", "pdf")
NAMES = ("english", "own", "tag")
# Okabe and Ito's colours without their yellow, which is too pale for lines on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
LOW, MIDDLE, HIGH = "#0072B2", "#F2F0EB", "#D55E00"
GREY, PALE = "#6E6E6E", "#D9D9D9"
WEAK, WEAK_NAME = "#ABABAB", "not interpretable"  # the model is not shown to tell sense from nonsense
UPWARDS = "cividis_r"
SMALL = 6.0  # points; no letter is smaller
STYLE: dict[str, Any] = {
    "font.size": 7.5,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.0,
    "lines.markersize": 4,
    "hatch.linewidth": 0.4,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 1.2,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.2,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "isogloss",
    "pdf.fonttype": 42,
    "pdf.compression": 6,
    "text.parse_math": False,  # a '$' in a word is a '$'
}
ADVICE = "Install fonts for them, such as Noto (Debian: fonts-noto-core and fonts-noto-cjk)."


@dataclass(frozen=True, slots=True)
class Canvas:
    """How wide a figure is in inches, how it names languages, and which languages its reader looks at."""

    width: float = SINGLE
    names: str = "english"
    languages: tuple[str, ...] = ()


def open_canvas(width: str = "single", *, names: str = "english", languages: Sequence[str] = ()) -> Canvas:
    """The canvas of a width: 'single', 'double', or inches."""
    if names not in NAMES:
        raise UnknownName("way to name languages", names, NAMES)
    if width in WIDTHS:
        return Canvas(WIDTHS[width], names, tuple(languages))
    try:
        inches = float(width)
    except ValueError as error:
        raise IsoglossError(f"'{width}' is not a width. Use single, double, or a number of inches.") from error
    if not NARROWEST <= inches <= WIDEST:
        raise IsoglossError(f"A width of {width} inches cannot be drawn. Use {NARROWEST:g} to {WIDEST:g}.")
    return Canvas(inches, names, tuple(languages))


@contextmanager
def styled(texts: Sequence[str] = (), *, languages: Sequence[str] = ()) -> Iterator[None]:
    """While this is open, matplotlib writes in our style; afterwards all its settings are as before."""
    matplotlib: Any = require("matplotlib", extra="report")
    with matplotlib.rc_context({**STYLE, "font.family": families(texts, languages=languages)}):
        yield


def new_figure(canvas: Canvas, height: float) -> Any:
    """An empty figure of the canvas' width and this height in inches, without any global state."""
    figures: Any = require("matplotlib.figure", extra="report")
    return figures.Figure(figsize=(canvas.width, height), layout="constrained")


def set_fonts(figure: Any, canvas: Canvas) -> Any:
    """The figure, each of its texts with the families that have its letters."""
    text: Any = require("matplotlib.text", extra="report")
    for axis in figure.findobj(require("matplotlib.axis", extra="report").Axis):
        axis.get_ticklabels()  # some are not made before they are asked for
    found = list(figure.findobj(text.Text))
    chosen = families((one.get_text() for one in found), languages=canvas.languages)
    for one in found:
        one.set_fontfamily(chosen)
    return figure


def choose_file(name: str, kind: str, *, out: Path | None = None) -> Path:
    """The file to write: the given one, with the format as its ending where it has none."""
    if kind not in FORMATS:
        raise UnknownName("format of figures", kind, FORMATS)
    target = out if out is not None else Path(name.replace("-", "_"))
    chosen = target if target.suffix else target.with_name(f"{target.name}.{kind}")
    check_ending(chosen)
    return chosen


def check_ending(path: Path) -> str:
    """The format that a file's ending stands for."""
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        endings = ", ".join(f".{one}" for one in FORMATS)
        raise IsoglossError(f"A chart cannot be written as '{path.suffix}'. Use one of {endings}.")
    return kind


def save_figure(figure: Any, path: str | Path, *, title: str = "") -> Path:
    """The path of the file, by its ending PNG (300 dpi), SVG or PDF; equal figures give equal bytes."""
    target = Path(path)
    kind = check_ending(target)
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}, "png": {}}[kind]
    with styled(), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            figure.savefig(target, metadata={"Title": title, **dates})
        except OSError as error:
            raise IsoglossError(
                f"Cannot write {target} ({error.strerror}). Does the folder exist, and may you write there?"
            ) from error
    _pass_on(heard)
    return target


def _pass_on(heard: Sequence[warnings.WarningMessage]) -> None:
    """Say once which letters no font has; pass on every other warning."""
    missing = []
    for one in heard:
        words = str(one.message).split()
        if words[0] == "Glyph" and "missing" in words:
            missing.append(chr(int(words[1])))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if missing:
        letters = " ".join(dict.fromkeys(missing))
        warnings.warn(
            f"No installed font has these letters, which are shown as boxes: {letters}. {ADVICE}", stacklevel=3
        )


# ---- what several figures share


def language_label(tag: str, canvas: Canvas) -> str:
    """A language as the canvas names it."""
    known = languages.describe(tag)
    return {"english": known.name, "own": known.autonym, "tag": tag}[canvas.names]


def english_first(tags: Iterable[str]) -> list[str]:
    """The tags, each once: English, then the others by their letters."""
    return sorted(set(tags), key=lambda tag: (tag != "en", tag))


def whole_ticks() -> Any:
    """Few ticks, at whole numbers."""
    ticker: Any = require("matplotlib.ticker", extra="report")
    return ticker.MaxNLocator(4, integer=True)


def style_of(number: int) -> tuple[str, str]:
    """The colour and the marker of the n-th of several things."""
    turn = number + number // len(COLOURS)
    return COLOURS[number % len(COLOURS)], MARKERS[turn % len(MARKERS)]


def marks(names: Sequence[str]) -> list[Any]:
    """What a legend shows for each of several things: its colour and marker; grey for what is not interpretable."""
    lines: Any = require("matplotlib.lines", extra="report")
    looks = [(WEAK, "o") if name == WEAK_NAME else style_of(number) for number, name in enumerate(names)]
    return [
        lines.Line2D([], [], color=colour, marker=marker, linestyle="none", markersize=4) for colour, marker in looks
    ]


def columns_for(canvas: Canvas, labels: Sequence[str], *, least: int = 1) -> int:
    """How many columns a legend can have without being wider than the figure."""
    widest = max((len(label) for label in labels), default=1) * 0.058 + 0.42
    return max(least, min(len(labels) or 1, int(canvas.width / widest)))


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
