"""Tables for papers: monolingual models over multilingual ones, languages under each metric, what is better than all others in bold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TypeVar

import polars as pl

from ... import registry
from ...analysis.measures import Measure, Measures
from ...analysis.rankings import HIGHER
from ...errors import IsoglossError
from ...stats import RESAMPLES
from ..chart_data import KINDS, MONOLINGUAL, MULTILINGUAL, OTHER, datasets, distinct, without_task
from ..numbers import dagger, english_first, format_interval, format_value, listed, metric_name, model_label
from ..text.measures import remarks
from ..text.table import Grid, as_markdown, latex, latex_lines

Name = TypeVar("Name")
MISSING = "—"
DIGITS = 2


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table: its kind, its name, and its measures by metric and language."""

    kind: str
    name: str
    cells: Mapping[tuple[str, str], Measure]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One data set and task; `best` holds the cells in bold by line, metric and language."""

    dataset: str
    task: str
    metrics: tuple[str, ...]
    languages: tuple[str, ...]
    lines: tuple[Line, ...]
    best: frozenset[tuple[str, str, str]]
    caption: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is arranged: each model's kind and name, one task or all, and whether intervals are shown."""

    kinds: Mapping[str, str]
    names: Mapping[str, str]
    task: str | None = None
    intervals: bool = False
    resamples: int = RESAMPLES
    languages: tuple[str, ...] = ()


def paper_tables(measures: Measures, layout: Layout) -> list[PaperTable]:
    """A table for each data set and each of its tasks, then one over all tasks; or for one task only."""
    found = []
    notes = tuple(remarks(measures))
    for name, rows in datasets(measures).items():
        tasks = distinct([row for row in rows if "task" in row.group], "task")
        if len(tasks) > 1:
            found += [_table(name, _of_task(rows, task), task=task, layout=layout, notes=notes) for task in tasks]
        every = [row for row in rows if "task" not in row.group] if len(tasks) > 1 else without_task(rows)
        found += [_table(name, every, task="", layout=layout, notes=notes)] if every else []
    known = [table.task or "all" for table in found]
    if layout.task is not None:
        found = [table for table in found if (table.task or "all") == layout.task]
    if not found:
        raise IsoglossError(
            f"There is no table for the task '{layout.task}'. Known: {', '.join(dict.fromkeys(known))}."
        )
    return found


def _of_task(rows: Sequence[Measure], task: str) -> list[Measure]:
    return [row for row in rows if row.group.get("task") == task]


def _table(dataset: str, rows: Sequence[Measure], *, task: str, layout: Layout, notes: tuple[str, ...]) -> PaperTable:
    metrics = tuple(dict.fromkeys(row.metric for row in rows))
    lines = tuple(_lines(rows, layout))
    tags = english_first(row.group["language"] for row in rows)
    tags = [*(tag for tag in layout.languages if tag in tags), *(tag for tag in tags if tag not in layout.languages)]
    best = frozenset(_best(lines))
    where = f"{dataset}, {task}" if task else dataset
    return PaperTable(
        dataset, task, metrics, tuple(tags), lines, best, _caption(where, rows, lines=lines, layout=layout), notes
    )


def _lines(rows: Sequence[Measure], layout: Layout) -> Iterator[Line]:
    """The rows of the table, kind by kind in the order of the data; two models cannot share a cell."""
    found: dict[tuple[str, str], dict[tuple[str, str], Measure]] = {}
    for row in rows:
        model = row.group["model"]
        name = layout.names.get(model, model) + model_label(row.group).removeprefix(model)
        cells = found.setdefault((layout.kinds.get(model, OTHER), name), {})
        key = (row.metric, row.group["language"])
        if key in cells:
            raise IsoglossError(
                f"Two models would stand in the row '{name}' under '{key[1]}': {cells[key].group['model']} and {model}. "
                "Give them different labels in the facts."
            )
        cells[key] = row
    given = list(dict.fromkeys(layout.names.values()))
    order = {name: index for index, name in enumerate(given)}
    for kind, name in sorted(found, key=lambda pair: (KINDS.index(pair[0]), order.get(pair[1], len(given)))):
        yield Line(kind, name, found[kind, name])


def _best(lines: Sequence[Line]) -> Iterator[tuple[str, str, str]]:
    """The cells of each kind, metric and language that are better than all others, with intervals that do not overlap."""
    for _, block in groupby(lines, key=lambda line: line.kind):
        kept = list(block)
        for metric, tag in dict.fromkeys(key for line in kept for key in line.cells):
            cells = {line.name: line.cells[metric, tag] for line in kept if (metric, tag) in line.cells}
            yield from ((name, metric, tag) for name in better_names(cells))


def better_names(cells: Mapping[Name, Measure]) -> list[Name]:
    """The name of the measure whose whole interval is better than that of every other one, if there is one."""
    rows = {name: row for name, row in cells.items() if row.value is not None and row.interpretable is not False}
    ranges = {name: _merit_range(row) for name, row in rows.items()}
    there = {name: ends for name, ends in ranges.items() if ends is not None}
    if len(there) < len(rows) or len(rows) < 2:
        return []
    return [
        name
        for name, (low, _) in there.items()
        if low > max(high for other, (_, high) in there.items() if other != name)
    ]


def _merit_range(row: Measure) -> tuple[float, float] | None:
    """The interval of how good a value is; nothing without an interval, or where a metric has no better and worse."""
    ends = [_merit(row.metric, end) for end in (row.low, row.high) if end is not None]
    known = [end for end in ends if end is not None]
    if len(known) < 2 or row.low is None or row.high is None:
        return None
    neutral: float | None = registry.get("metric", row.metric).neutral
    inside = neutral is not None and row.low <= neutral <= row.high
    return min(known), 0.0 if inside else max(known)


def best_names(cells: Mapping[Name, Measure]) -> list[Name]:
    """The names of the best of several measures of one metric; none among one only."""
    values = {name: row.value for name, row in cells.items() if row.interpretable is not False}
    there = {name: round(value, DIGITS) for name, value in values.items() if value is not None}
    merits = {name: _merit(cells[name].metric, value) for name, value in there.items()}
    top = max((merit for merit in merits.values() if merit is not None), default=None)
    return [name for name, merit in merits.items() if merit == top] if len(there) > 1 and top is not None else []


def _merit(metric: str, value: float) -> float | None:
    """How good a value is, or nothing where a metric has no better and worse."""
    neutral: float | None = registry.get("metric", metric).neutral
    if neutral is not None:
        return -round(abs(value - neutral), DIGITS)
    return value if metric in HIGHER else None


# ---- words


def _caption(where: str, rows: Sequence[Measure], *, lines: Sequence[Line], layout: Layout) -> str:
    """What the numbers are, over how many items, in which mode, what is bold, and what an interval is."""
    names = listed([metric_name(name) for name in dict.fromkeys(row.metric for row in rows)])
    modes = {"corrected": "ties count one half", "paper": "as published"}
    mode = rows[0].mode
    parts = [f"{names} on {where}: n = {_range([row.n for row in rows])} items, mode {mode} ({modes.get(mode, mode)})."]
    kinds = list(dict.fromkeys(line.kind for line in lines))
    if {MONOLINGUAL, MULTILINGUAL} <= set(kinds):
        parts.append("Monolingual models above, multilingual models below.")
    parts += _said_of_bold(rows, lines, several=len(kinds) > 1)
    if layout.intervals and any(row.low is not None for row in rows):
        parts.append(_said_of_intervals(rows, layout.resamples))
    return " ".join(parts)


def _said_of_bold(rows: Sequence[Measure], lines: Sequence[Line], *, several: bool) -> list[str]:
    if not any(_best(lines)):
        return []
    shown = list(dict.fromkeys(row.metric for row in rows))
    near = [(name, registry.get("metric", name).neutral) for name in shown]
    said = "; ".join(f"{metric_name(name)}: nearest {neutral:g}" for name, neutral in near if neutral is not None)
    where = "per block and language" if several else "per language"
    return [f"Bold: better than all others {where}, with intervals that do not overlap{f' ({said})' if said else ''}."]


def _said_of_intervals(rows: Sequence[Measure], resamples: int) -> str:
    clusters = _range([row.clusters for row in rows if row.low is not None])
    return (
        f"In brackets: 95 % intervals, by bootstrap over {clusters} clusters of items ({resamples:,} resamples) "
        "unless noted otherwise."
    )


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _value(row: Measure | None) -> str:
    return MISSING if row is None else format_value(row.value, missing=MISSING) + dagger(row).strip()


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
    """The table as text: languages under metrics, lines in blocks, the best in bold, intervals on second lines."""
    keys = [(metric, tag) for metric in table.metrics for tag in table.languages]
    cells = [[line.cells.get(key) for key in keys] for line in table.lines]
    kinds = [line.kind for line in table.lines]
    ends = [["", *(format_interval(row.low, row.high, form=".1f") if row else "" for row in rows)] for rows in cells]
    return Grid(
        ["model", *(tag for _, tag in keys)],
        [[line.name, *map(_value, rows)] for line, rows in zip(table.lines, cells, strict=True)],
        1,
        table.notes,
        spans=tuple((metric_name(metric), len(table.languages)) for metric in table.metrics),
        blocks={i: kind for i, kind in enumerate(kinds) if not i or kinds[i - 1] != kind},
        bold=frozenset(
            (i, 1 + j)
            for i, line in enumerate(table.lines)
            for j, key in enumerate(keys)
            if (line.name, *key) in table.best
        ),
        below={i: second for i, second in enumerate(ends) if intervals and any(second)},
    )


def papers_as_rows(tables: Sequence[PaperTable]) -> pl.DataFrame:
    """One row per number, with full precision, for CSV and Parquet."""
    rows = []
    for table in tables:
        for line in table.lines:
            for (metric, tag), row in line.cells.items():
                rest = {name: value for name, value in asdict(row).items() if name not in ("group", "metric")}
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
                        "best": (line.name, metric, tag) in table.best,
                    }
                )
    return pl.DataFrame(rows, infer_schema_length=None)
