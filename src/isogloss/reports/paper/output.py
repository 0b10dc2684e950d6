"""Publishing: runs measured and written as a table for a paper, in one of several formats."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...analysis.comparisons import HEADLINES
from ...analysis.groups import check_rows
from ...analysis.intervals import IntervalSettings
from ...analysis.measures import Measures, fitting_metrics, measure
from ...errors import IsoglossError, UnknownName
from ...runs import Run, find_runs, in_languages, read_scored
from ...sealing import write_file
from ...storage import as_path
from ..chart_data import Facts, model_kinds, row_names
from .model_card import index_as_yaml, model_index
from .tables import Layout, paper_tables, papers_as_latex, papers_as_markdown, papers_as_rows

USUAL = IntervalSettings()
FORMATS = ("latex", "markdown", "csv", "parquet", "model-index")


@dataclass(frozen=True, slots=True)
class Paper:
    """What a table is made of: runs, and which languages and metrics of them, measured how."""

    sources: tuple[str, ...]
    languages: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    mode: str = "corrected"
    drawing: IntervalSettings = USUAL
    facts: Facts = field(default_factory=dict)


def write_paper(paper: Paper, kind: str, *, layout: Layout, out: Path | None = None) -> str:
    """The tables as text, or, with a file, what was written to it."""
    if kind not in FORMATS:
        raise UnknownName("format of tables", kind, FORMATS)
    if kind == "parquet" and out is None:
        raise IsoglossError("Parquet is not text and cannot be printed. Name a file with --out.")
    runs = in_languages([r for path in paper.sources for r in find_runs(as_path(path))], paper.languages)
    content = _content(measure_paper(paper, runs), runs, kind=kind, layout=_with_facts(layout, runs, facts=paper.facts))
    if out is None:
        return content.decode()
    write_file(out, content)
    return f"Wrote {out}."


def measure_paper(paper: Paper, runs: list[Run]) -> Measures:
    """The measures of the runs: the named metrics, or the headline ones that fit."""
    scored = read_scored(runs)
    fitting = list(fitting_metrics(check_rows(scored)))
    metrics = list(paper.metrics) or [name for name in fitting if name in HEADLINES] or fitting
    drawing = paper.drawing
    return measure(
        scored,
        metrics=metrics,
        mode=paper.mode,
        interval=drawing.kind,
        resamples=drawing.resamples,
        seed=drawing.seed,
    )


def _with_facts(layout: Layout, runs: list[Run], *, facts: Facts) -> Layout:
    return replace(layout, kinds=model_kinds(runs, facts), names=row_names(facts))


def _of_task(measures: Measures, task: str | None) -> Measures:
    """The measures of one task, or, for 'all', those over all tasks."""
    rows = tuple(row for row in measures if task is None or row.group.get("task", "all") == task)
    if not rows:
        known = ", ".join(dict.fromkeys(row.group.get("task", "all") for row in measures))
        raise IsoglossError(f"There is nothing for the task '{task}'. Known: {known}.")
    return replace(measures, rows=rows)


def _content(measures: Measures, runs: list[Run], *, kind: str, layout: Layout) -> bytes:
    if kind == "model-index":
        return index_as_yaml(model_index(_of_task(measures, layout.task), runs)).encode()
    tables = paper_tables(measures, layout)
    if kind == "parquet":
        buffer = io.BytesIO()
        papers_as_rows(tables).write_parquet(buffer)
        return buffer.getvalue()
    if kind == "csv":
        return papers_as_rows(tables).write_csv().encode()
    write = papers_as_latex if kind == "latex" else papers_as_markdown
    return write(tables, intervals=layout.intervals).encode()
