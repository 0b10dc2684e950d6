"""Tables for papers: monolingual models over multilingual ones, languages under each metric, the best in bold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

import polars as pl

from ... import registry
from ...analysis.gates import HIGHER
from ...analysis.measures import Measure, Measures
from ...errors import IsoglossError
from ...stats import RESAMPLES
from ..figures._style import english_first
from ..model_blocks import KINDS, MONOLINGUAL, MULTILINGUAL, OTHER
from ..page.data import datasets, distinct, without_task
from ..page.parts import model_label
from ..text.measures import dagger, metric_name, remarks
from ..text.table import latex, latex_notes, latex_number

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
    tags = tuple(english_first(row.group["language"] for row in rows))
    best = frozenset(_best(lines))
    where = f"{dataset}, {task}" if task else dataset
    return PaperTable(
        dataset, task, metrics, tags, lines, best, _caption(where, rows, lines=lines, layout=layout), notes
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
    for kind, name in sorted(found, key=lambda pair: KINDS.index(pair[0])):
        yield Line(kind, name, found[kind, name])


def _best(lines: Sequence[Line]) -> Iterator[tuple[str, str, str]]:
    """The best cells of each kind, metric and language: the highest, or the nearest to neutral; none among one only."""
    for _, block in groupby(lines, key=lambda line: line.kind):
        kept = list(block)
        for metric, tag in dict.fromkeys(key for line in kept for key in line.cells):
            cells = {line.name: line.cells[metric, tag] for line in kept if (metric, tag) in line.cells}
            values = {name: row.value for name, row in cells.items() if row.interpretable is not False}
            there = {name: round(value, DIGITS) for name, value in values.items() if value is not None}
            merits = {name: _merit(metric, value) for name, value in there.items()}
            top = max((merit for merit in merits.values() if merit is not None), default=None)
            if len(there) > 1 and top is not None:
                yield from ((name, metric, tag) for name, merit in merits.items() if merit == top)


def _merit(metric: str, value: float) -> float | None:
    """How good a value is, or nothing where a metric has no better and worse."""
    neutral: float | None = registry.get("metric", metric).neutral
    if neutral is not None:
        return -round(abs(value - neutral), DIGITS)
    return value if metric in HIGHER else None


# ---- words


def _caption(where: str, rows: Sequence[Measure], *, lines: Sequence[Line], layout: Layout) -> str:
    """What the numbers are, over how many items, in which mode, what is bold, and what an interval is."""
    names = _listed([metric_name(name) for name in dict.fromkeys(row.metric for row in rows)])
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
    return [f"Best value {where} in bold{f' ({said})' if said else ''}."]


def _said_of_intervals(rows: Sequence[Measure], resamples: int) -> str:
    clusters = _range([row.clusters for row in rows if row.low is not None])
    return (
        f"In brackets: 95 % intervals, by bootstrap over {clusters} clusters of items ({resamples:,} resamples) "
        "unless noted otherwise."
    )


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]


def _value(row: Measure | None) -> str:
    return MISSING if row is None or row.value is None else f"{row.value:.{DIGITS}f}{dagger(row).strip()}"


def _ends(row: Measure | None) -> str:
    if row is None or row.low is None or row.high is None:
        return ""
    return f"[{row.low:.1f}, {row.high:.1f}]"


# ---- formats


def papers_as_latex(tables: Sequence[PaperTable], *, intervals: bool = False) -> str:
    """Floating tables with booktabs, one after the other, with their notes below."""
    return "\n".join("\n".join(_latex_lines(table, intervals=intervals)) + "\n" for table in tables)


def _latex_lines(table: PaperTable, *, intervals: bool) -> Iterator[str]:
    wide = len(table.metrics) * len(table.languages)
    star = "*" if wide > 6 else ""
    yield from (rf"\begin{{table{star}}}", r"\centering", r"\small")
    yield rf"\caption{{{_tex(table.caption)}}}"
    yield rf"\label{{tab:{_slug(table.dataset, table.task)}}}"
    yield from (rf"\begin{{tabular}}{{l{'r' * wide}}}", r"\toprule")
    count = len(table.languages)
    spans = [rf"\multicolumn{{{count}}}{{c}}{{{_tex(metric_name(name))}}}" for name in table.metrics]
    yield " & ".join(["", *spans]).strip() + r" \\"
    starts = [2 + count * index for index in range(len(table.metrics))]
    yield " ".join(rf"\cmidrule(lr){{{start}-{start + count - 1}}}" for start in starts)
    yield " & ".join(["model", *[_tex(tag) for _ in table.metrics for tag in table.languages]]) + r" \\"
    blocks = [(kind, list(lines)) for kind, lines in groupby(table.lines, key=lambda line: line.kind)]
    for kind, lines in blocks:
        yield r"\midrule"
        if len(blocks) > 1:
            yield rf"\multicolumn{{{wide + 1}}}{{l}}{{\emph{{{kind}}}}} \\"
        for line in lines:
            yield from _latex_line(table, line, intervals=intervals)
    yield from (r"\bottomrule", r"\end{tabular}", *map(_dashes, latex_notes(table.notes)), rf"\end{{table{star}}}")


def _latex_line(table: PaperTable, line: Line, *, intervals: bool) -> Iterator[str]:
    cells = [_tex(line.name)]
    for metric, tag in _columns(table):
        text = _dashes(latex_number(_value(line.cells.get((metric, tag)))))
        cells.append(rf"\textbf{{{text}}}" if (line.name, metric, tag) in table.best else text)
    yield " & ".join(cells) + r" \\"
    if intervals:
        ends = [latex_number(_ends(line.cells.get(key))) for key in _columns(table)]
        if any(ends):
            yield " & ".join(["", *(rf"{{\scriptsize {end}}}" if end else "" for end in ends)]).strip() + r" \\"


def _columns(table: PaperTable) -> list[tuple[str, str]]:
    return [(metric, tag) for metric in table.metrics for tag in table.languages]


def _tex(text: str) -> str:
    return _dashes(latex(text))


def _dashes(text: str) -> str:
    return text.replace("—", "---").replace("–", "--")


def _slug(*parts: str) -> str:
    return "-".join("".join(sign if sign.isalnum() else "-" for sign in part) for part in parts if part)


def papers_as_markdown(tables: Sequence[PaperTable], *, intervals: bool = False) -> str:
    """The tables for a page in Markdown, each under its caption."""
    return "\n".join("\n".join(_markdown_lines(table, intervals=intervals)) + "\n" for table in tables)


def _markdown_lines(table: PaperTable, *, intervals: bool) -> Iterator[str]:
    yield from (table.caption, "")
    yield _row(["model", *(f"{metric_name(metric)} {tag}" for metric, tag in _columns(table))])
    yield _row(["---", *["--:"] * len(_columns(table))])
    several = len({line.kind for line in table.lines}) > 1
    kind = ""
    for line in table.lines:
        if several and line.kind != kind:
            kind = line.kind
            yield _row([f"*{kind}*", *[""] * len(_columns(table))])
        cells = [_markdown_cell(table, line, key=key, intervals=intervals) for key in _columns(table)]
        yield _row([line.name.replace("|", r"\|"), *cells])
    if table.notes:
        yield from ("", *(f"- {note}" for note in table.notes))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_cell(table: PaperTable, line: Line, *, key: tuple[str, str], intervals: bool) -> str:
    row = line.cells.get(key)
    text = f"**{_value(row)}**" if (line.name, *key) in table.best else _value(row)
    ends = _ends(row) if intervals else ""
    return f"{text}<br>{ends}" if ends else text


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
