"""Tables for papers: monolingual models over multilingual ones, languages under each metric, each value with its model's rank."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import polars as pl

from ... import registry
from ...analysis.intervals import IntervalSettings
from ...analysis.measures import Measure, Measures
from ...analysis.rankings import Rank
from ...errors import IsoglossError
from ..chart_data import KINDS, MONOLINGUAL, MULTILINGUAL, OTHER, Facts, datasets, distinct, without_task
from ..numbers import dagger, english_first, format_interval, format_value, listed, metric_name, model_label
from ..text.claims import rank_lines, rank_span
from ..text.measures import remarks
from ..text.table import Grid, as_markdown, latex, latex_lines

MISSING = "—"
USUAL = IntervalSettings()

Group = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table: its kind, its name, and its measures by metric and language."""

    kind: str
    name: str
    cells: Mapping[tuple[str, str], Measure]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One data set and task; `ranks` has the rank of each cell by line, metric and language."""

    dataset: str
    task: str
    metrics: tuple[str, ...]
    languages: tuple[str, ...]
    lines: tuple[Line, ...]
    ranks: Mapping[tuple[str, str, str], Rank]
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
    drawing: IntervalSettings = USUAL
    facts: Facts = field(default_factory=dict)


def group_key(model: str, group: Mapping[str, str]) -> Group:
    """A model's group as a key, whatever the order of its columns."""
    return frozenset({**group, "model": model}.items())


def paper_tables(measures: Measures, layout: Layout) -> list[PaperTable]:
    """A table for each data set and each of its tasks, then one over all tasks; or for one task only."""
    tables = []
    notes = tuple(remarks(measures))
    for name, rows in datasets(measures).items():
        tasks = distinct([row for row in rows if "task" in row.group], "task")
        if len(tasks) > 1:
            tables += [_table(name, _of_task(rows, task), task=task, layout=layout, notes=notes) for task in tasks]
        every = [row for row in rows if "task" not in row.group] if len(tasks) > 1 else without_task(rows)
        tables += [_table(name, every, task="", layout=layout, notes=notes)] if every else []
    known = [table.task or "all" for table in tables]
    if layout.task is not None:
        tables = [table for table in tables if (table.task or "all") == layout.task]
    if not tables:
        raise IsoglossError(
            f"There is no table for the task '{layout.task}'. Known: {', '.join(dict.fromkeys(known))}."
        )
    return tables


def _of_task(rows: Sequence[Measure], task: str) -> list[Measure]:
    return [row for row in rows if row.group.get("task") == task]


def _table(dataset: str, rows: Sequence[Measure], *, task: str, layout: Layout, notes: tuple[str, ...]) -> PaperTable:
    metrics = tuple(dict.fromkeys(row.metric for row in rows))
    lines = tuple(_lines(rows, layout))
    tags = english_first(row.group["language"] for row in rows)
    tags = [*(tag for tag in layout.languages if tag in tags), *(tag for tag in tags if tag not in layout.languages)]
    ranks: dict[tuple[str, str, str], Rank] = {}
    for line in lines:
        for (metric, tag), row in line.cells.items():
            rank = layout.ranks.get((metric, group_key(row.group["model"], row.group)))
            ranks |= {(line.name, metric, tag): rank} if rank else {}
    where = f"{dataset}, {task}" if task else dataset
    caption = _caption(where, rows, kinds={line.kind for line in lines}, ranked=bool(ranks), layout=layout)
    rank_notes = rank_lines(list(ranks.values()), layout.names)
    return PaperTable(dataset, task, metrics, tuple(tags), lines, ranks, caption, (*rank_notes, *notes))


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
        yield Line(kind, name, cells_of[kind, name])


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
    if layout.intervals and any(row.low is not None for row in rows):
        parts.append(_said_of_intervals(rows, layout.drawing.resamples))
    return " ".join(parts)


def _said_of_intervals(rows: Sequence[Measure], resamples: int) -> str:
    clusters = _range([row.clusters for row in rows if row.low is not None])
    return (
        f"In brackets: 95 % intervals, by bootstrap over {clusters} clusters of items ({resamples:,} resamples) "
        "unless noted otherwise."
    )


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _value(row: Measure | None, rank: Rank | None) -> str:
    if row is None:
        return MISSING
    place = f" ({rank_span(rank)})" if rank and rank.low is not None else ""
    return format_value(row.value, missing=MISSING) + dagger(row).strip() + place


# ---- formats


def papers_as_latex(tables: Sequence[PaperTable], *, intervals: bool = False) -> str:
    """Floating tables with booktabs, one after the other, with their notes below."""
    return "\n".join("\n".join(_latex_lines(table, intervals=intervals)) + "\n" for table in tables)


def _latex_lines(table: PaperTable, *, intervals: bool) -> Iterator[str]:
    star = "*" if len(table.metrics) * len(table.languages) > 6 else ""
    yield from (rf"\begin{{table{star}}}", r"\centering", r"\small")
    yield rf"\caption{{{latex(table.caption)}}}"
    yield rf"\label{{tab:{_slug(table.dataset, table.task)}}}"
    yield from latex_lines(_grid(table, intervals=intervals))
    yield rf"\end{{table{star}}}"


def _slug(*parts: str) -> str:
    return "-".join("".join(sign if sign.isalnum() else "-" for sign in part) for part in parts if part)


def papers_as_markdown(tables: Sequence[PaperTable], *, intervals: bool = False) -> str:
    """The tables for a page in Markdown, each under its caption."""
    return "\n".join(f"{table.caption}\n\n{as_markdown(_grid(table, intervals=intervals))}" for table in tables)


def _grid(table: PaperTable, *, intervals: bool) -> Grid:
    """The table as text: languages under metrics, lines in blocks, intervals on second lines."""
    keys = [(metric, tag) for metric in table.metrics for tag in table.languages]
    cells = [[line.cells.get(key) for key in keys] for line in table.lines]
    kinds = [line.kind for line in table.lines]
    ends = [["", *(format_interval(row.low, row.high, form=".1f") if row else "" for row in rows)] for rows in cells]
    return Grid(
        ["model", *(tag for _, tag in keys)],
        [
            [line.name, *(_value(row, table.ranks.get((line.name, *key))) for row, key in zip(rows, keys, strict=True))]
            for line, rows in zip(table.lines, cells, strict=True)
        ],
        1,
        table.notes,
        spans=tuple((metric_name(metric), len(table.languages)) for metric in table.metrics),
        blocks={i: kind for i, kind in enumerate(kinds) if not i or kinds[i - 1] != kind},
        below={i: second for i, second in enumerate(ends) if intervals and any(second)},
    )


def papers_as_rows(tables: Sequence[PaperTable]) -> pl.DataFrame:
    """One row per number, with full precision, for CSV and Parquet."""
    rows = []
    for table in tables:
        for line in table.lines:
            for (metric, tag), row in line.cells.items():
                rest = {name: value for name, value in asdict(row).items() if name not in ("group", "metric")}
                rank = table.ranks.get((line.name, metric, tag))
                rows.append(
                    {
                        "dataset": table.dataset,
                        "task": table.task or "all",
                        "block": line.kind,
                        "row": line.name,
                        "model": row.group["model"],
                        "language": tag,
                        "metric": metric,
                        **rest,
                        **{
                            name: getattr(rank, name) if rank else None
                            for name in ("rank", "may_be_best", "may_be_worst")
                        },
                        "rank_low": rank.low if rank else None,
                        "rank_high": rank.high if rank else None,
                    }
                )
    return pl.DataFrame(rows, infer_schema_length=None)
