"""Publishing: runs measured and written as a table for a paper, in one of several formats."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...analysis.groups import check_rows
from ...analysis.headlines import shown_metrics
from ...analysis.measures import fitting_metrics
from ...analysis.published import add_published
from ...analysis.study import Measuring
from ...atomic_files import write_file
from ...errors import IsoglossError, UnknownName
from ...scores import Scored
from ..chart_data import find_ranks, model_kinds
from ..figures import FigureRequest, open_study
from ..text.table import Grid, as_latex, as_markdown
from .layouts import LayoutRequest, ValueOrder, group_key, layout_grid
from .model_card import index_as_yaml, model_index
from .tables import ModelFacts, PaperTable, paper_tables, papers_as_latex, papers_as_markdown, papers_as_rows

FORMATS = ("latex", "markdown", "csv", "parquet", "model-index")


def write_paper(
    request: FigureRequest, kind: str, *, task: str | None = None, intervals: bool = False, out: Path | None = None
) -> str:
    """The tables as text, or, with a file, what was written to it."""
    if kind not in FORMATS:
        raise UnknownName("format of tables", kind, FORMATS)
    if kind == "parquet" and out is None:
        raise IsoglossError("Parquet is not text and cannot be printed. Name a file with `out`.")
    study = open_study(request)
    metrics = tuple(request.metrics) or tuple(shown_metrics(list(fitting_metrics(check_rows(study.scores)))))
    measures = study.measure(Measuring(metrics, mode=request.mode, settings=request.settings))
    measures = add_published(measures, request.sources)
    if kind == "model-index":
        rows = tuple(row for row in measures if task in (None, row.group.get("task", "all")))
        if not rows:
            tasks = ", ".join(dict.fromkeys(row.group.get("task", "all") for row in measures))
            raise IsoglossError(f"There is nothing for the task '{task}'. Known: {tasks}.")
        content = index_as_yaml(model_index(replace(measures, rows=rows), study.runs)).encode()
    else:
        measured = dict.fromkeys(row.metric for row in measures)
        ranked = find_ranks(study, measured, settings=request.settings, mode=request.mode)
        ranks = {(row.metric, group_key(row.model, row.group)): row for row in ranked}
        names = {model: str(facts["label"]) for model, facts in request.facts.items() if "label" in facts}
        models = ModelFacts(model_kinds(study.runs, request.facts), names, ranks)
        content = _encode(paper_tables(measures, models, request=request, task=task, intervals=intervals), kind)
    if out is None:
        return content.decode()
    write_file(out, content)
    return f"Wrote {out}."


def _encode(tables: Sequence[PaperTable], kind: str) -> bytes:
    if kind == "parquet":
        buffer = io.BytesIO()
        papers_as_rows(tables).write_parquet(buffer)
        return buffer.getvalue()
    if kind == "csv":
        return papers_as_rows(tables).write_csv().encode()
    write = papers_as_latex if kind == "latex" else papers_as_markdown
    return write(tables).encode()


def layout_grids(
    scored: Scored, requests: Sequence[LayoutRequest], *, order: ValueOrder | None = None
) -> dict[str, Grid | str]:
    """Tables in their papers' layouts by title; one as published is followed by ours, with intervals.

    Where a table cannot be made, a sentence that says why takes its place.
    """
    grids: dict[str, Grid | str] = {}
    for request in requests:
        editions = {request.title: request}
        if request.mode == "paper" and not (request.facts or request.shares or request.agreement):
            editions[f"{request.title}, corrected"] = replace(request, mode="corrected")
        for title, edition in editions.items():
            try:
                grids[title] = layout_grid(scored, edition, order=order)
            except IsoglossError as error:
                grids[title] = str(error)
    return grids


def write_layouts(grids: Mapping[str, Grid | str], kind: str = "markdown") -> str:
    """The tables one after the other, as Markdown or LaTeX."""
    texts = []
    for title, grid in grids.items():
        if isinstance(grid, str):
            texts.append(f"{title}\n\n{grid}\n")
        else:
            texts.append(f"% {title}\n{as_latex(grid)}" if kind == "latex" else f"### {title}\n\n{as_markdown(grid)}")
    return "\n".join(texts)
