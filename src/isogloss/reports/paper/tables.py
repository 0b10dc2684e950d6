"""Tables for papers: monolingual models over multilingual ones, languages under each metric, each value with its model's rank."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from ... import registry
from ...analysis.intervals import IntervalSettings
from ...analysis.measures import Measure, Measures
from ...analysis.rankings import Rank
from ...errors import IsoglossError
from ...items import group_by
from ..chart_data import KINDS, MONOLINGUAL, MULTILINGUAL, OTHER, Facts, datasets, distinct, without_task
from ..numbers import (
    dagger,
    english_first,
    expected_ranges,
    format_interval,
    format_value,
    listed,
    metric_name,
    model_label,
)
from ..text.claims import rank_lines, rank_mark
from ..text.measures import remarks
from ..text.table import Grid, as_markdown, latex, latex_lines

MISSING = "—"
DEFAULT_INTERVALS = IntervalSettings()

Group = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table: its kind, its name, and its measures and their ranks by metric and language."""

    kind: str
    name: str
    cells: Mapping[tuple[str, str], Measure]
    ranks: Mapping[tuple[str, str], Rank]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One data set and task."""

    dataset: str
    task: str
    metrics: tuple[str, ...]
    languages: tuple[str, ...]
    lines: tuple[Line, ...]
    caption: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """What a table is made of and how it is arranged: runs, which languages, metrics and task of them, measured how, with
    intervals or without; and, as they are found in the runs, each model's kind and name, and the ranks."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    ranks: Mapping[tuple[str, Group], Rank] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    task: str | None = None
    intervals: bool = False
    mode: str = "corrected"
    settings: IntervalSettings = DEFAULT_INTERVALS
    facts: Facts = field(default_factory=dict)


def group_key(model: str, group: Mapping[str, str]) -> Group:
    """A model's group as a key, whatever the order of its columns."""
    return frozenset({**group, "model": model}.items())


def paper_tables(measures: Measures, layout: Layout) -> list[PaperTable]:
    """A table for each data set and each of its tasks, then one over all tasks; or for one task only."""
    tables = []
    notes = remarks(measures)
    for name, rows in datasets(measures).items():
        tasks = distinct(rows, "task")
        groups = group_by(rows, lambda row: row.group.get("task", "")) if len(tasks) > 1 else {"": without_task(rows)}
        for task in (*tasks, "") if len(tasks) > 1 else ("",):
            if task in groups:
                tables.append(_table(groups[task], layout, where=(name, task), notes=notes))
    known = [table.task or "all" for table in tables]
    if layout.task is not None:
        tables = [table for table in tables if (table.task or "all") == layout.task]
    if not tables:
        raise IsoglossError(
            f"There is no table for the task '{layout.task}'. Known: {', '.join(dict.fromkeys(known))}."
        )
    return tables


def _table(rows: Sequence[Measure], layout: Layout, *, where: tuple[str, str], notes: Sequence[str]) -> PaperTable:
    metrics = tuple(dict.fromkeys(row.metric for row in rows))
    lines = tuple(_lines(rows, layout))
    tags = english_first(row.group["language"] for row in rows)
    tags = [*(tag for tag in layout.languages if tag in tags), *(tag for tag in tags if tag not in layout.languages)]
    ranks = [rank for line in lines for rank in line.ranks.values()]
    place = ", ".join(filter(None, where))
    caption = _caption(place, rows, kinds={line.kind for line in lines}, ranked=bool(ranks), layout=layout)
    return PaperTable(*where, metrics, tuple(tags), lines, caption, (*rank_lines(ranks, layout.names), *notes))


def _lines(rows: Sequence[Measure], layout: Layout) -> Iterator[Line]:
    """The rows of the table, kind by kind in the order of the data; two models cannot share a cell."""
    cells_of: dict[tuple[str, str], dict[tuple[str, str], Measure]] = {}
    for row in rows:
        model = row.group["model"]
        name = layout.names.get(model, model) + model_label(row.group).removeprefix(model)
        cells = cells_of.setdefault((layout.kinds.get(model, OTHER), name), {})
        key = (row.metric, row.group["language"])
        if key in cells:
            raise IsoglossError(
                f"Two models would stand in the row '{name}' under '{key[1]}': {cells[key].group['model']} and {model}. "
                "Give them different labels in the facts."
            )
        cells[key] = row
    names = list(dict.fromkeys(layout.names.values()))
    order = {name: index for index, name in enumerate(names)}
    for kind, name in sorted(cells_of, key=lambda pair: (KINDS.index(pair[0]), order.get(pair[1], len(names)))):
        cells = cells_of[kind, name]
        keys = {cell: (row.metric, group_key(row.group["model"], row.group)) for cell, row in cells.items()}
        yield Line(kind, name, cells, {cell: layout.ranks[key] for cell, key in keys.items() if key in layout.ranks})


# ---- words


def _caption(where: str, rows: Sequence[Measure], *, kinds: set[str], ranked: bool, layout: Layout) -> str:
    """What the numbers are, over how many items, in which mode, what a rank is, and what an interval is."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    modes = {"corrected": "ties count one half", "paper": "as published"}
    mode, names = rows[0].mode, listed(list(map(metric_name, metrics)))
    parts = [f"{names} on {where}: n = {_range([row.n for row in rows])} items, mode {mode} ({modes.get(mode, mode)})."]
    if {MONOLINGUAL, MULTILINGUAL} <= kinds:
        parts.append("Monolingual models above, multilingual models below.")
    if ranked:
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
    if layout.intervals and clusters:
        parts.append(
            f"In brackets: 95 % intervals over {_range(clusters)} clusters of items, by {_kind(layout.settings)} "
            "unless noted otherwise."
        )
    return " ".join(parts)


def _kind(settings: IntervalSettings) -> str:
    """How intervals are made, in words."""
    if settings.kind in ("bootstrap", "bca"):
        return f"{settings.kind} ({settings.resamples:,} resamples)"
    return "Student's distribution with the jackknife's error"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


# ---- formats


def papers_as_latex(tables: Sequence[PaperTable], *, intervals: bool = False) -> str:
    """Floating tables with booktabs, one after the other, with their notes below."""
    texts = []
    for table in tables:
        star = "*" if len(table.metrics) * len(table.languages) > 6 else ""
        name = "-".join(filter(None, [table.dataset, table.task]))
        lines = [rf"\begin{{table{star}}}", r"\centering", r"\small", rf"\caption{{{latex(table.caption)}}}"]
        lines.append(rf"\label{{tab:{''.join(sign if sign.isalnum() else '-' for sign in name)}}}")
        lines += [*latex_lines(_grid(table, intervals=intervals)), rf"\end{{table{star}}}"]
        texts.append("\n".join(lines) + "\n")
    return "\n".join(texts)


def papers_as_markdown(tables: Sequence[PaperTable], *, intervals: bool = False) -> str:
    """The tables for a page in Markdown, each under its caption."""
    return "\n".join(f"{table.caption}\n\n{as_markdown(_grid(table, intervals=intervals))}" for table in tables)


def _grid(table: PaperTable, *, intervals: bool) -> Grid:
    """The table as text: languages under metrics, lines in blocks, intervals on second lines."""
    keys = [(metric, tag) for metric in table.metrics for tag in table.languages]
    kinds = [line.kind for line in table.lines]
    rows, below = [], {}
    for number, line in enumerate(table.lines):
        cells, ends = [line.name], [""]
        for key in keys:
            row = line.cells.get(key)
            value = format_value(row.value, missing=MISSING) + dagger(row).strip() if row else MISSING
            cells.append(value + rank_mark(line.ranks.get(key)))
            ends.append(format_interval(row.low, row.high, form=".1f") if row else "")
        rows.append(cells)
        if intervals and any(ends):
            below[number] = ends
    return Grid(
        ["model", *(tag for _, tag in keys)],
        rows,
        1,
        table.notes,
        spans=tuple((metric_name(metric), len(table.languages)) for metric in table.metrics),
        blocks={i: kind for i, kind in enumerate(kinds) if not i or kinds[i - 1] != kind},
        below=below,
    )


def papers_as_rows(tables: Sequence[PaperTable]) -> pl.DataFrame:
    """One row per number, with full precision, for CSV and Parquet."""
    rows = []
    for table in tables:
        for line in table.lines:
            place = {"dataset": table.dataset, "task": table.task or "all", "block": line.kind, "row": line.name}
            for (metric, tag), row in line.cells.items():
                cell: dict[str, Any] = {**place, "model": row.group["model"], "language": tag, "metric": metric}
                cell |= {name: value for name, value in asdict(row).items() if name not in ("group", "metric")}
                rank = line.ranks.get((metric, tag))
                for column in ("rank", "may_be_best", "may_be_worst", "rank_low", "rank_high"):
                    cell[column] = getattr(rank, column.removeprefix("rank_")) if rank else None
                rows.append(cell)
    return pl.DataFrame(rows, infer_schema_length=None)
