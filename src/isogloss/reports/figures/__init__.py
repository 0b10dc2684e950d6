"""Figures for papers: one file each; here is what a figure is, what is asked of it, and how all of them are made."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from ... import registry
from ...analysis import headlines
from ...analysis.groups import check_rows
from ...analysis.intervals import IntervalSettings
from ...analysis.measures import Measure, Measures, fitting_metrics
from ...analysis.published import PUBLISHED, add_published
from ...analysis.study import Measuring, Study, check_readable, load_study
from ...errors import IsoglossError
from ...files.sources import read
from ...runs import in_languages, run_folders
from ...scores import item_table
from ...storage import as_path
from ..chart_data import Facts
from ..numbers import merge_notes
from ._style import Canvas, save_figure, set_fonts, styled

DEFAULT_INTERVALS = IntervalSettings()


@dataclass(frozen=True, slots=True)
class FigureRequest:
    """What a figure or a table is made of: a study, or folders of runs, data or other files; and what of it is wanted."""

    sources: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    mode: str = "corrected"
    facts: Facts = field(default_factory=dict)
    settings: IntervalSettings = DEFAULT_INTERVALS
    study: Study | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure: `find` turns a request into measured rows, `draw` turns rows into a matplotlib figure.

    `needs` says which data it is for and which command makes it; `caption` what its marks mean.
    """

    title: str
    needs: str
    caption: str
    find: Callable[[FigureRequest], Any]
    draw: Callable[[Any, Canvas], Any]


def make_figure(name: str, request: FigureRequest, *, canvas: Canvas | None = None) -> Any:
    """The matplotlib figure of that name; one sentence says what is missing when the sources have no data for it."""
    plot: Plot = registry.get("figure", name)
    with styled():
        found_data = plot.find(request)
        if not found_data:
            raise IsoglossError(f"Nothing in these sources can be drawn as '{name}'. It needs {plot.needs}.")
        return draw_plot(plot, found_data, canvas=canvas or Canvas())


@dataclass(frozen=True, slots=True, repr=False)
class WrittenFigure:
    """A matplotlib figure with its file, its size in inches, and its caption."""

    figure: Any
    path: Path | None
    inches: tuple[float, float]
    caption: str

    def __repr__(self) -> str:
        return f"WrittenFigure({self.inches[0]:.2f} x {self.inches[1]:.2f} in, {self.path or 'not written'})"

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with styled():
            self.figure.savefig(buffer, format="png")
        return buffer.getvalue()


def write_figure(
    name: str, request: FigureRequest, *, path: Path | None = None, canvas: Canvas | None = None
) -> WrittenFigure:
    """The figure of that name, written to a file if one is given."""
    request = with_study(request)
    figure = make_figure(name, request, canvas=canvas)
    plot: Plot = registry.get("figure", name)
    if path is not None:
        save_figure(figure, path, title=plot.title)
    width, height = figure.get_size_inches()
    title = plot.title if plot.title.endswith("?") else f"{plot.title}."
    runs = in_languages(request.study.runs, request.languages) if request.study and request.study.runs else []
    remarks = merge_notes(note for run in runs for note in run.info.get("notes", ()))
    caption = " ".join([title, plot.caption, *(f"{remark}." for remark in remarks)])
    return WrittenFigure(figure, path, (float(width), float(height)), caption)


def draw_plot(plot: Plot, data: Any, *, canvas: Canvas) -> Any:
    """The plot of what was found, in our style and with the fonts that its letters need."""
    figure = draw_styled(lambda canvas: plot.draw(data, canvas), canvas)
    figure.set_label(plot.title)
    return figure


def draw_styled(draw: Callable[[Canvas], Any], canvas: Canvas) -> Any:
    """What `draw` draws on a canvas, in our style and with the fonts that its letters need."""
    with styled():
        return set_fonts(draw(canvas), canvas)


# ---- what several figures start from


def open_study(request: FigureRequest) -> Study:
    """The study of a request in its languages, as far as it has the wanted values; its runs are read where it has none."""
    if request.study is not None:
        return request.study.narrow(request.languages, request.where)
    paths = [as_path(source) for source in request.sources if source != PUBLISHED]
    for path in paths:
        if not path.exists():
            raise IsoglossError(
                f"No such run: {path}. Make one with: isogloss eval MODEL --data demo --out {path}. "
                "What each figure needs: isogloss list figures"
            )
    study = load_study([str(path) for path in paths], tags=request.languages)
    return check_readable(study).narrow((), request.where)


def with_study(request: FigureRequest) -> FigureRequest:
    """The request with the study that its sources hold, where they are folders of runs, so that it is read once."""
    paths = [as_path(source) for source in request.sources if source != PUBLISHED]
    if request.study is not None or not paths or not all(path.exists() and run_folders(path) for path in paths):
        return request
    study = load_study([str(path) for path in paths], tags=request.languages)
    return replace(request, study=check_readable(study))


def measured(
    request: FigureRequest, study: Study, *, metrics: Sequence[str], by: Sequence[str] | None = None
) -> Measures:
    """The measures of a request, its metrics before the figure's own; rows without a value are left out."""
    names = tuple(request.metrics or metrics) or None
    measures = study.measure(Measuring(names, None if by is None else tuple(by), request.mode, request.settings))
    kept = Measures(tuple(row for row in measures if row.value is not None), measures.problems, measures.notes)
    return add_published(kept, request.sources)


def open_items(request: FigureRequest) -> pl.DataFrame:
    """The items of a request: those of its runs, or of data that was named or is in a file or folder."""
    if request.study is not None:
        return request.study.narrow(request.languages).items
    tables, data = [], []
    for source in request.sources:
        path = as_path(source)
        if path.exists() and run_folders(path):
            tables.append(check_readable(load_study(source, tags=request.languages)).items)
        else:
            data.append(source)
    if data:
        tables.append(item_table(read(data, language=list(request.languages), skip_bad=True)))
    return pl.concat(tables, how="diagonal_relaxed")


def main_metric(request: FigureRequest, study: Study) -> str:
    """The first metric of a request, or the headline of those that fit its scores."""
    return request.metrics[0] if request.metrics else headlines.main_metric(fitting_metrics(check_rows(study.scores)))


def value_of(row: Measure) -> float:
    """The value of a measure that has one."""
    if row.value is None:
        raise ValueError("the measure has no value")
    return row.value
