"""The summary: a report on two pages of paper, for those who must file it or hand it out."""

import io
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ...analysis.headlines import leading_headlines, main_metric
from ...analysis.measures import Measure, Measures
from ...atomic_files import write_file
from ...errors import require
from ..chart_data import datasets, model_kinds, without_task
from ..figures import draw_styled
from ..figures._style import Canvas, families, styled
from ..figures.forest import figure as forest
from ..figures.heatmap import HeatmapTable
from ..figures.heatmap import figure as heatmap
from ..text.measures import doubts, grid
from ..text.methods_paragraph import describe_methods
from ..text.sentences import state_findings
from .data import PageData
from .panels import claims, provenance, ranking
from .panels.limits import LIMITS

A4 = 8.27, 11.69  # inches
MARGIN, LEADING, GAP = 0.75, 1.35, 0.09  # inches at the edges; lines in letter sizes; inches between blocks
MOST = {"maps": 2, "rows": 22, "claims": 8, "runs": 12}  # what a page has space for; the HTML report has the rest
RUN_COLUMNS = {name: name for name in ("model", "dataset", "language", "method", "count", "run", "weights")}
RUN_COLUMNS |= {"dataset": "data", "count": "items"}
FULL = " · This page is full; the HTML report has the rest."
MORE = "The HTML report has the other {count} {what}."

Table = tuple[list[str], list[list[str]]]


@dataclass(frozen=True, slots=True)
class Letters:
    """How a text is set: its size in points, weight and color."""

    points: float
    bold: bool = False
    color: str = "#1a1a1a"


TITLE, HEADING, FINDING = Letters(16.0, bold=True), Letters(11.0, bold=True), Letters(11.0)
TEXT, STRONG, SMALL, QUIET = Letters(8.5), Letters(8.5, bold=True), Letters(7.0), Letters(7.0, color="#555555")


@dataclass(slots=True)
class PdfPage:
    """A page that is filled from top to bottom; `top` is the height in inches of what is still free."""

    figure: Any
    renderer: Any
    top: float = A4[1] - MARGIN
    width: float = A4[0] - 2 * MARGIN
    texts: list[str] = field(default_factory=list)
    is_full: bool = False


def write_summary(data: PageData, out: str | Path, *, title: str, command: str = "") -> Path:
    """The path of a PDF with two pages: the findings and their numbers; what limits them and where they come from."""
    backend: Any = require("matplotlib.backends.backend_pdf", extra="report")
    buffer = io.BytesIO()
    with styled(), backend.PdfPages(buffer, metadata={"Title": title, "CreationDate": None}) as pages:
        for index, fill in enumerate((_fill_front, _fill_back)):
            page = _new_page()
            fill(page, data, title=title, command=command)
            footer = f"{index + 1} / 2{FULL if page.is_full else ''}"
            _place(page, footer, at=(MARGIN, MARGIN / 2), letters=QUIET)
            for label in page.figure.texts:
                label.set_fontfamily(families(page.texts))
            pages.savefig(page.figure)
    write_file(Path(out), buffer.getvalue())
    return Path(out)


def _fill_front(page: PdfPage, data: PageData, *, title: str, command: str) -> None:
    """What was found: the findings, the heat maps, the values, and what is doubtful."""
    from ... import __version__

    _write(page, title, letters=TITLE)
    date = time.strftime("%Y-%m-%d", time.gmtime())
    _write(page, f"Isogloss {__version__}, {date}. Intervals are 95 % confidence intervals.", letters=QUIET)
    for problem in data.problems:
        _write(page, problem, letters=STRONG)
    sets = datasets(data.overall)
    for rows in sets.values():
        for line in state_findings(without_task(rows), values=False):
            _write(page, line, letters=FINDING)
    kinds = model_kinds(data.runs, data.extras.facts)
    for name, rows in list(sets.items())[: MOST["maps"]]:
        _draw(page, partial(heatmap.draw, [HeatmapTable(name, *_main_rows(rows), kinds)]))
    if sets:
        _write(page, "Values", letters=HEADING)
        _write_table(page, _value_table(sets), what="rows")
    for line in _caveats(data, sets):
        _write(page, line, letters=SMALL)
    rows = [row for row in data.categories if row.low is not None]
    if rows:
        _draw(page, partial(forest.draw, rows), heading="By bias type")


def _caveats(data: PageData, sets: Mapping[str, Sequence[Measure]]) -> list[str]:
    """What is doubtful, then the other remarks; each once, whatever the number of data sets."""
    doubtful = [line for rows in sets.values() for line in doubts(without_task(rows))]
    heads = {line.partition(":")[0] for line in doubtful}  # the remarks say the same of each task
    others = [line for name in sets for line in data.remarks.get(name, ()) if line.partition(":")[0] not in heads]
    return list(dict.fromkeys([*doubtful, *others]))


def _fill_back(page: PdfPage, data: PageData, *, title: str, command: str) -> None:
    """What the findings rest on: claims, ranks, limits, methods and runs."""
    if shown := claims.draw(data):
        _write(page, "Claims", letters=HEADING)
        for status, sentence, words, _ in shown["rows"][: MOST["claims"]]:
            _write(page, f"• {status}: {sentence.rstrip('.')}. {words}")
        _write_more(page, len(shown["rows"]) - MOST["claims"], what="claims")
    if shown := ranking.draw(data):
        _write(page, "Which model is best?", letters=HEADING)
        for line in (line for part in shown["parts"] for line in part["answers"]):
            _write(page, f"• {line}.")
    _write(page, "What the numbers do not mean", letters=HEADING)
    for head, text in LIMITS:
        _write(page, f"• {head} {text}")
    if data.runs:
        _write(page, "Methods", letters=HEADING)
        _write(page, describe_methods(data.runs, resamples=data.settings.resamples).partition("\n\n")[0])
        _write(page, "Runs", letters=HEADING)
        rows = [[str(run[key]) for key in RUN_COLUMNS] for run in map(provenance.describe_run, data.runs)]
        _write_table(page, (list(RUN_COLUMNS.values()), rows), what="runs")
    if command:
        _write(page, command, letters=QUIET)


def _main_rows(rows: Sequence[Measure]) -> tuple[str, tuple[Measure, ...]]:
    """The headline of a data set and its measures over all tasks."""
    whole = without_task(rows)
    main = main_metric(list(dict.fromkeys(row.metric for row in whole)))
    return main, tuple(row for row in whole if row.metric == main and row.value is not None)


def _value_table(sets: Mapping[str, Sequence[Measure]]) -> Table:
    """The table that `measure` prints of the headlines, over all tasks."""
    rows = [row for measures in sets.values() for row in without_task(measures)]
    metrics = leading_headlines(dict.fromkeys(row.metric for row in rows))
    table = grid(Measures(tuple(row for row in rows if row.metric in metrics)))
    return table.heading, table.rows


# ---- blocks of a page, one below the other


def _new_page() -> PdfPage:
    figures: Any = require("matplotlib.figure", extra="report")
    agg: Any = require("matplotlib.backends.backend_agg", extra="report")
    figure = figures.Figure(figsize=A4)
    return PdfPage(figure, agg.FigureCanvasAgg(figure).get_renderer())


def _write(page: PdfPage, text: str, *, letters: Letters = TEXT) -> None:
    """A paragraph over the whole width; on a page without space for it, it is left out, and the footer says so."""
    lines = _wrap(page, text, letters=letters)
    line = letters.points * LEADING / 72
    if page.top - len(lines) * line < MARGIN:
        page.is_full = True
        return
    for index, words in enumerate(lines):
        _place(page, words, at=(MARGIN, page.top - (index + 1) * line), letters=letters)
    page.top -= len(lines) * line + GAP


def _wrap(page: PdfPage, text: str, *, letters: Letters) -> list[str]:
    """The lines of a paragraph, broken at spaces; a word that is longer than a line stands alone."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and _width(page, longer, letters=letters) > page.width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _width(page: PdfPage, text: str, *, letters: Letters) -> float:
    """The inches that a line takes."""
    fonts: Any = require("matplotlib.font_manager", extra="report")
    weight = "bold" if letters.bold else "normal"
    font = fonts.FontProperties(family=families([text]), size=letters.points, weight=weight)
    width: float = page.renderer.get_text_width_height_descent(text, font, False)[0]
    return width / float(page.figure.dpi)


def _place(page: PdfPage, text: str, *, at: tuple[float, float], letters: Letters) -> None:
    """One line at a place in inches from the lower left corner."""
    page.texts.append(text)
    page.figure.text(
        at[0] / A4[0],
        at[1] / A4[1],
        text,
        fontsize=letters.points,
        fontweight="bold" if letters.bold else "normal",
        color=letters.color,
        va="baseline",
        parse_math=False,
    )


def _write_table(page: PdfPage, table: Table, *, what: str) -> None:
    """A table whose columns are as wide as their cells; the rows that the page has no space for are counted."""
    heading, rows = table
    line = SMALL.points * LEADING / 72
    shown = rows[: max(0, min(MOST[what], int((page.top - MARGIN) / line) - 3))]
    bold = replace(SMALL, bold=True)
    columns = list(zip(heading, *shown, strict=True))
    widths = [max(_width(page, cell, letters=bold) for cell in column) for column in columns]
    shrink = min(1.0, page.width / (sum(widths) + 0.12 * len(widths)))
    gap = min(0.3, max(0.05, (page.width - sum(widths)) / len(widths)))
    for index, cells in enumerate([heading, *shown]):
        letters = replace(SMALL, bold=not index, points=SMALL.points * shrink)
        x = MARGIN
        for cell, width in zip(cells, widths, strict=True):
            _place(page, cell, at=(x, page.top - (index + 1) * line), letters=letters)
            x += width * shrink + gap
    page.top -= (len(shown) + 1) * line + GAP
    _write_more(page, len(rows) - len(shown), what=what)


def _write_more(page: PdfPage, count: int, *, what: str) -> None:
    if count > 0:
        _write(page, MORE.format(count=count, what=what), letters=QUIET)


def _draw(page: PdfPage, draw: Callable[[Canvas], Any], *, heading: str = "") -> None:
    """A figure over the whole width with its heading; on a page without space for it, it is left out, and the footer says so."""
    image: Any = require("matplotlib.image", extra="report")
    figure = draw_styled(draw, Canvas(page.width))
    width, height = figure.get_size_inches()
    if page.top - height - (0.4 if heading else 0) < MARGIN:
        page.is_full = True
        return
    if heading:
        _write(page, heading, letters=HEADING)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=300)
    buffer.seek(0)
    axes = page.figure.add_axes((MARGIN / A4[0], (page.top - height) / A4[1], width / A4[0], height / A4[1]))
    axes.imshow(image.imread(buffer), aspect="auto", interpolation="none")
    axes.set_axis_off()
    page.top -= float(height) + GAP
