"""Tables for papers: monolingual models over multilingual ones, languages under each metric, each value with its model's rank."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import polars as pl

from ... import registry
from ...analysis.intervals import IntervalSettings
from ...analysis.measures import Measure, Measures
from ...analysis.rankings import Rank
from ...errors import IsoglossError
from ...items import group_by
from ..chart_data import KINDS, MONOLINGUAL, MULTILINGUAL, OTHER, datasets, distinct, with_values, without_task
from ..figures import FigureRequest
from ..numbers import english_first, expected_ranges, listed, metric_name, model_label
from ..pivots import Key, pivot
from ..text.claims import rank_lines
from ..text.measures import remarks
from ..text.table import Grid, as_markdown, latex, latex_lines
from .layouts import Group, LayoutRequest, MeasuredTable, ValueOrder, group_key, metric_grid, sort_keys

ROWS = ("kind", "model")


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One data set and task: its measures, how they are arranged, its caption, and the notes that say how to read it."""

    dataset: str
    task: str
    table: MeasuredTable
    request: LayoutRequest
    order: ValueOrder
    caption: str
    printed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of the models of a table: the kind and the name of each, and their ranks."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    ranks: Mapping[tuple[str, Group], Rank] = field(default_factory=dict)


def paper_tables(
    measures: Measures, models: ModelFacts, *, request: FigureRequest, task: str | None = None, intervals: bool = False
) -> list[PaperTable]:
    """A table for each data set and each of its tasks, then one over all tasks; or for one task only."""
    tables = []
    about_intervals = tuple(note for note in measures.notes if "interval" in note)
    for name, rows in datasets(measures).items():
        tasks = distinct(rows, "task")
        groups = group_by(rows, lambda row: row.group.get("task", "")) if len(tasks) > 1 else {"": without_task(rows)}
        for part in (*tasks, "") if len(tasks) > 1 else ("",):
            if part in groups:
                chosen = replace(measures, rows=tuple(with_values(groups[part])))
                drawn = _table(chosen.rows, models, request=request, intervals=intervals)
                table = replace(drawn.table, notes=(*drawn.table.notes, *remarks(chosen)))
                printed = frozenset(remarks(replace(chosen, problems={}, notes=about_intervals)))
                tables.append(replace(drawn, dataset=name, task=part, table=table, printed=printed))
    task_names = [table.task or "all" for table in tables]
    if task is not None:
        tables = [table for table in tables if (table.task or "all") == task]
    if not tables:
        raise IsoglossError(f"There is no table for the task '{task}'. Known: {', '.join(dict.fromkeys(task_names))}.")
    return tables


def _table(rows: Sequence[Measure], models: ModelFacts, *, request: FigureRequest, intervals: bool) -> PaperTable:
    """The measures of one table: models in blocks of their kinds, languages under metrics."""

    def line(row: Measure) -> Key:
        model = row.group["model"]
        name = models.names.get(model, model) + model_label(row.group).removeprefix(model)
        return models.kinds.get(model, OTHER), name

    def clash(one: Measure, two: Measure) -> str:
        return (
            f"Two models would stand in the row '{line(two)[1]}' under '{two.group['language']}': {one.group['model']} "
            f"and {two.group['model']}. Give them different labels in the facts."
        )

    cells = pivot(rows, line=line, column=lambda row: (row.metric, row.group["language"]), clash=clash)
    keys = {(row.metric, group_key(row.group["model"], row.group)) for row in rows}
    ranks = {key: rank for key, rank in models.ranks.items() if key in keys}
    tags = english_first(row.group["language"] for row in rows)
    order = {
        "kind": KINDS,
        "model": tuple(dict.fromkeys(models.names.values())),
        "language": tuple(dict.fromkeys([*(tag for tag in request.languages if tag in tags), *tags])),
    }
    # the tag of a language is its heading here: a table for a paper has many columns
    labels, metrics = {tag: tag for tag in tags}, tuple(dict.fromkeys(row.metric for row in rows))
    layout = LayoutRequest(
        "", ROWS, ("language",), metrics, labels=labels, blocks=True, intervals=".1f" if intervals else ""
    )
    table = MeasuredTable(cells, ranks=ranks, notes=tuple(rank_lines(list(ranks.values()), models.names)))
    place = ", ".join(filter(None, (rows[0].group["dataset"], rows[0].group.get("task", ""))))
    caption = _caption(place, rows, table=table, settings=request.settings if intervals else None)
    return PaperTable("", "", table, layout, order, caption)


# ---- words


def _caption(where: str, rows: Sequence[Measure], *, table: MeasuredTable, settings: IntervalSettings | None) -> str:
    """What the numbers are, over how many items, in which mode, what a rank is, and what an interval is."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    modes = {"corrected": "ties count one half", "paper": "as published"}
    mode, names = rows[0].mode, listed(list(map(metric_name, metrics)))
    parts = [
        f"{_capital(names)} on {where}: n = {_range([row.n for row in rows])} items, mode {mode} ({modes.get(mode, mode)})."
    ]
    if {MONOLINGUAL, MULTILINGUAL} <= {kind for kind, _ in table.cells.lines}:
        parts.append("Monolingual models above, multilingual models below.")
    if table.ranks:
        near = [(metric_name(name), registry.get("metric", name).neutral) for name in metrics]
        text = "".join(f"; by {name}, nearest {neutral:g}" for name, neutral in near if neutral is not None)
        parts.append(f"In parentheses: the 95 % interval of the rank among all models of a language (1 is best{text}).")
    for name in metrics:
        if chance := dict(expected_ranges(row for row in rows if row.metric == name)):
            parts.append(
                f"{metric_name(name)} depends on the number of items per target: here a model without any preference would "
                f"get {chance['unbiased']}, and one with the same SS for every target {chance['homogeneous']}."
            )
    clusters = [row.clusters for row in rows if row.low is not None]
    if settings and clusters:
        parts.append(
            f"In brackets: 95 % intervals over {_range(clusters)} clusters of items, by {_kind(settings)} "
            "unless noted otherwise."
        )
    return " ".join(parts)


def _capital(text: str) -> str:
    """A text as a sentence begins."""
    return f"{text[0].upper()}{text[1:]}"


def _kind(settings: IntervalSettings) -> str:
    """How intervals are made, in words."""
    if settings.kind in ("bootstrap", "bca"):
        return f"{settings.kind} ({settings.resamples:,} resamples)"
    return "Student's distribution with the jackknife's error"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


# ---- formats


def papers_as_latex(tables: Sequence[PaperTable]) -> str:
    """Floating tables with booktabs, one after the other: notes on how to read the numbers below, others as comments."""
    texts = []
    for table in tables:
        star = "*" if len(table.table.cells.columns) > 6 else ""
        name = "-".join(filter(None, [table.dataset, table.task]))
        lines = [rf"\begin{{table{star}}}", r"\centering", r"\small", rf"\caption{{{latex(table.caption)}}}"]
        lines.append(rf"\label{{tab:{''.join(sign if sign.isalnum() else '-' for sign in name)}}}")
        grid = _grid(table)
        first, *others = [note for note in grid.remarks if note in table.printed] or [""]
        lines += latex_lines(replace(grid, remarks=(_capital(first), *others) if first else ()))
        lines += [*(f"% {note}" for note in grid.remarks if note not in table.printed), rf"\end{{table{star}}}"]
        texts.append("\n".join(lines) + "\n")
    return "\n".join(texts)


def papers_as_markdown(tables: Sequence[PaperTable]) -> str:
    """The tables for a page in Markdown, each under its caption."""
    return "\n".join(f"{table.caption}\n\n{as_markdown(_grid(table))}" for table in tables)


def _grid(table: PaperTable) -> Grid:
    return metric_grid(table.table, table.request, order=table.order)


def papers_as_rows(tables: Sequence[PaperTable]) -> pl.DataFrame:
    """One row per number, with full precision, for CSV and Parquet."""
    rows = []
    for table in tables:
        place = {"dataset": table.dataset, "task": table.task or "all"}
        cells, ranks = table.table.cells, table.table.ranks
        for kind, name in sort_keys(cells.lines, table.request.rows, order=table.order):
            for (line, (metric, tag)), row in cells.cells.items():
                if line != (kind, name):
                    continue
                cell: dict[str, Any] = {**place, "block": kind, "row": name, "model": row.group["model"]}
                cell |= {"language": tag, "metric": metric}
                cell |= {key: value for key, value in asdict(row).items() if key not in ("group", "metric")}
                rank = ranks.get((metric, group_key(row.group["model"], row.group)))
                for column in ("rank", "may_be_best", "may_be_worst", "rank_low", "rank_high"):
                    cell[column] = getattr(rank, column.removeprefix("rank_")) if rank else None
                rows.append(cell)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.drop(name for name in ("above", "below") if frame[name].null_count() == frame.height)
