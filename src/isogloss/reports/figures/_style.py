"""The canvas of figures for papers: widths, panels, type, and files."""

import os
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ... import languages
from ...errors import CannotWrite, IsoglossError, UnknownName, require
from ._svg import draw_svg

PLAIN = ("Noto Sans", "DejaVu Sans")  # the second comes with matplotlib
SCRIPTS = {
    "ARABIC": ("Noto Sans Arabic", "Noto Naskh Arabic", "Geeza Pro", "Segoe UI"),
    "BENGALI": ("Noto Sans Bengali", "Noto Serif Bengali", "Bangla Sangam MN", "Nirmala UI"),
    "DEVANAGARI": ("Noto Sans Devanagari", "Noto Serif Devanagari", "Kohinoor Devanagari", "Nirmala UI"),
    "HEBREW": ("Noto Sans Hebrew", "Arial Hebrew", "Segoe UI"),
    "THAI": ("Noto Sans Thai", "Thonburi", "Leelawadee UI"),
    "TAMIL": ("Noto Sans Tamil", "Tamil Sangam MN", "Nirmala UI"),
    "TELUGU": ("Noto Sans Telugu", "Nirmala UI"),
    "GUJARATI": ("Noto Sans Gujarati", "Nirmala UI"),
    "GURMUKHI": ("Noto Sans Gurmukhi", "Nirmala UI"),
    "ETHIOPIC": ("Noto Sans Ethiopic", "Kefa", "Nyala"),
    "ARMENIAN": ("Noto Sans Armenian", "Mshtakan"),
    "GEORGIAN": ("Noto Sans Georgian",),
}
HAN = {
    "ja": ("Noto Sans CJK JP", "Noto Sans JP", "Hiragino Sans", "Yu Gothic"),
    "zh": ("Noto Sans CJK SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei"),
    "zh-Hant": ("Noto Sans CJK TC", "Noto Sans TC", "PingFang TC", "Microsoft JhengHei"),
    "ko": ("Noto Sans CJK KR", "Noto Sans KR", "Apple SD Gothic Neo", "Malgun Gothic"),
}
EAST = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC", "FULLWIDTH")
FILES = ("NotoSans-", "NotoSansCJK-", "NotoNaskhArabic-", *(f"NotoSans{name.title()}-" for name in SCRIPTS))


def families(texts: Iterable[str] = (), *, languages: Iterable[str] = ()) -> list[str]:
    """The installed families for these texts, in the order in which a letter is looked up; the plain ones always.

    Han letters differ between Japanese, Chinese and Korean: kana or hangul in the texts decide, then the languages.
    """
    names = [unicodedata.name(letter, "") for letter in set("".join(texts)) if ord(letter) > 0x2FF]
    scripts = {name.split(" ")[0].split("-")[0] for name in names}
    wanted = [PLAIN[0]]
    for script in sorted(scripts & set(SCRIPTS)):
        wanted += SCRIPTS[script]
    if scripts & set(EAST):
        first = ["ja"] if scripts & {"HIRAGANA", "KATAKANA"} else ["ko"] if "HANGUL" in scripts else []
        order = [*first, *(tag for tag in languages if tag in HAN), "zh", *HAN]
        wanted += [name for tag in dict.fromkeys(order) for name in HAN[tag]]
    there = installed()
    return [name for name in wanted if name in there] + [PLAIN[1]]


@cache
def installed() -> frozenset[str]:
    """The names of all families; Noto fonts that were installed after matplotlib last looked are added."""
    manager: Any = require("matplotlib.font_manager", extra="report")
    paths = {font.fname for font in manager.fontManager.ttflist}
    for path in manager.findSystemFonts():
        if path not in paths and os.path.basename(path).startswith(FILES):
            manager.fontManager.addfont(path)
    return frozenset(font.name for font in manager.fontManager.ttflist)


SINGLE, DOUBLE = 3.3, 6.9  # inches: one and two columns of a page
WIDTHS = {"single": SINGLE, "double": DOUBLE}
NARROWEST, WIDEST = 1.5, 40.0
FORMATS = ("svg", "png", "pdf")
NAMES = ("english", "own", "tag")
SMALL = 6.0  # points; no letter is smaller
LETTER = 0.052  # inches: the width of a letter of a name
STYLE = Path(__file__).parent.parent.parent / "data" / "figure.mplstyle"
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


@cache
def _settings() -> dict[str, Any]:
    """The settings of matplotlib that our figures have."""
    return dict(require("matplotlib", extra="report").rc_params_from_file(STYLE, use_default_template=False))


@contextmanager
def styled(texts: Sequence[str] = (), *, languages: Sequence[str] = ()) -> Iterator[None]:
    """While this is open, matplotlib writes in our style; afterwards all its settings are as before."""
    matplotlib: Any = require("matplotlib", extra="report")
    with matplotlib.rc_context({**_settings(), "font.family": families(texts, languages=languages)}):
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
    texts = list(figure.findobj(text.Text))
    chosen = families((label.get_text() for label in texts), languages=canvas.languages)
    for label in texts:
        label.set_fontfamily(chosen)
    return figure


def check_ending(path: Path) -> str:
    """The format that a file's ending stands for."""
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        endings = ", ".join(f".{ending}" for ending in FORMATS)
        raise IsoglossError(f"A chart cannot be written as '{path.suffix}'. Use one of {endings}.")
    return kind


def save_figure(figure: Any, path: str | Path, *, title: str = "") -> Path:
    """The path of the file, by its ending PNG (300 dpi), SVG or PDF; equal figures give equal bytes."""
    target = Path(path)
    kind = check_ending(target)
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}, "png": {}}[kind]
    with styled(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _write(figure, target, kind=kind, metadata={"Title": title, **dates})
        except OSError as error:
            raise CannotWrite(target, error) from error
    _pass_on(caught)
    return target


def _write(figure: Any, path: Path, *, kind: str, metadata: Mapping[str, Any]) -> None:
    if kind == "svg":
        path.write_bytes(draw_svg(figure, metadata=metadata))
    else:
        figure.savefig(path, metadata=metadata)


def _pass_on(caught: Sequence[warnings.WarningMessage]) -> None:
    """Say once which letters no font has; pass on every other warning."""
    missing = []
    for warning in caught:
        words = str(warning.message).split()
        if words[0] == "Glyph" and "missing" in words:
            missing.append(chr(int(words[1])))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if missing:
        letters = " ".join(dict.fromkeys(missing))
        warnings.warn(
            f"No installed font has these letters, which are shown as boxes: {letters}. {ADVICE}", stacklevel=3
        )


def language_label(tag: str, canvas: Canvas) -> str:
    """A language as the canvas names it."""
    language = languages.describe(tag)
    return {"english": language.name, "own": language.autonym, "tag": tag}[canvas.names]


def fit_name(name: str, canvas: Canvas, *, share: float = 0.45) -> str:
    """The name, or its two ends where it would take more than this share of the canvas' width."""
    most = max(8, int(share * canvas.width / LETTER))
    return name if len(name) <= most else f"{name[: most // 2]}…{name[len(name) - (most - most // 2 - 1) :]}"


def new_panels(
    canvas: Canvas, count: int, *, height: Callable[[int, float], float], most: int = 2, shared: str = ""
) -> tuple[Any, list[Any], Any]:
    """A figure with as many panels, side by side as far as the canvas is wide; also its panels, and their whole grid.

    `height` gives the inches of the figure from the rows of panels and the width of one; `shared` names the axes, such
    as 'xy', that are the same in all panels.
    """
    columns = min(count, most if canvas.width >= DOUBLE else 1)
    down = -(-count // columns)
    figure = new_figure(canvas, height(down, canvas.width / columns))
    grid = figure.subplots(down, columns, squeeze=False, sharex="x" in shared, sharey="y" in shared)
    for axes in grid.flat[count:]:
        axes.set_visible(False)
    return figure, list(grid.flat[:count]), grid
