"""Publishing: runs measured and written as a table for a paper, in one of several formats."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...analysis.groups import check_rows
from ...analysis.headlines import shown_metrics
from ...analysis.measures import fitting_metrics, measure_with
from ...analysis.published import PUBLISHED, add_published
from ...errors import IsoglossError, UnknownName
from ...runs import find_runs, in_languages, read_scored
from ...scores import Scored
from ...sealing import write_file
from ..chart_data import find_ranks, model_kinds
from ..figures import FigureRequest
from ..text.table import as_latex, as_markdown
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
        raise IsoglossError("Parquet is not text and cannot be printed. Name a file with --out.")
    paths = [path for path in request.sources if path != PUBLISHED]
    runs = in_languages(find_runs(*paths), request.languages)
    scored = read_scored(runs)
    fitting = list(fitting_metrics(check_rows(scored)))
    metrics = list(request.metrics) or shown_metrics(fitting)
    measures = measure_with(request.settings, scored, metrics=metrics, mode=request.mode)
    measures = add_published(measures, request.sources)
    if kind == "model-index":
        rows = tuple(row for row in measures if task in (None, row.group.get("task", "all")))
        if not rows:
            tasks = ", ".join(dict.fromkeys(row.group.get("task", "all") for row in measures))
            raise IsoglossError(f"There is nothing for the task '{task}'. Known: {tasks}.")
        content = index_as_yaml(model_index(replace(measures, rows=rows), runs)).encode()
    else:
        measured = dict.fromkeys(row.metric for row in measures)
        ranked = find_ranks(scored, measured, settings=request.settings, mode=request.mode)
        ranks = {(row.metric, group_key(row.model, row.group)): row for row in ranked}
        names = {model: str(facts["label"]) for model, facts in request.facts.items() if "label" in facts}
        models = ModelFacts(model_kinds(runs, request.facts), names, ranks)
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


def write_layouts(
    scored: Scored, requests: Sequence[LayoutRequest], *, kind: str = "markdown", order: ValueOrder | None = None
) -> str:
    """Tables in their papers' layouts, one after the other; one as published is followed by ours, with intervals."""
    texts = []
    for request in requests:
        editions = {request.title: request}
        if request.mode == "paper" and not (request.facts or request.shares or request.agreement):
            editions[f"{request.title}, corrected"] = replace(request, mode="corrected")
        for title, edition in editions.items():
            try:
                grid = layout_grid(scored, edition, order=order)
            except IsoglossError as error:
                texts.append(f"{title}\n\n{error}\n")
                continue
            texts.append(f"% {title}\n{as_latex(grid)}" if kind == "latex" else f"### {title}\n\n{as_markdown(grid)}")
    return "\n".join(texts)
