"""Tables in a paper's own layout: any columns of the scores as rows and columns, for the metrics that a study names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import groupby

import polars as pl

from ... import registry
from ...analysis.agreements import Agreement, agree
from ...analysis.groups import IDENTITY, check_by, first_methods
from ...analysis.intervals import IntervalSettings
from ...analysis.mbe_tests import check_mbe
from ...analysis.measures import Measure, Measures, measure_with
from ...analysis.rankings import Rank
from ...analysis.study import Study
from ...analysis.term_shares import measure_shares
from ...errors import IsoglossError
from ...metrics import Metric
from ...scores import Scored
from ..chart_data import Facts, find_ranks
from ..numbers import dagger, format_interval, format_value, metric_name, plain_name
from ..pivots import Key, Pivot, pivot
from ..text.claims import rank_mark
from ..text.table import Grid

ROW = "row"  # the fact that puts the scores of a model, such as a head, into the row of another
JOINED, FIRST = "/", "|"
SIGNIFICANT, LEVEL = "‡", 0.05
FEWEST = 100  # resamples
WEAK_NOTE = "† not interpretable: below our competence limit on these items"
RANK_NOTE = "in parentheses: the 95 % interval of the model's rank in its block and language; 1 is best"
STATISTICS = ("Spearman", "Pearson", "Direction", "Diff")

ValueOrder = Mapping[str, Sequence[str]]  # of each column, its values in the order in which they are shown
Group = frozenset[tuple[str, str]]
MISSING = "—"


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """A table: which columns of the scores make its rows and columns, what is measured, and of which rows.

    A metric such as `a/b` shows two values in one cell, `a|b` the first that there is. `total` names the column over
    whose values a further row is measured, `shares` asks for the N terms with the largest shares instead of metrics,
    `against` for the difference from the rows with these values, `agreement` for how well metrics agree with one.
    `facts` are facts about the models instead of measures. Values of `where` may be patterns, and `labels` rename values.
    `bold` marks the best values as published tables do; a corrected table shows ranks with intervals instead. With
    `blocks` the first column of the rows makes blocks. `intervals` is the format of the intervals below values; without
    it they are written like the values, and with an empty one not at all.
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012  # for study files

    title: str
    rows: tuple[str, ...] = ("model",)
    columns: tuple[str, ...] = ("language",)
    metrics: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mode: str = "corrected"
    total: str | None = None
    shares: int | None = None
    against: Mapping[str, str] = field(default_factory=dict)
    agreement: str | None = None
    facts: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    form: str = ".2f"
    bold: bool = False
    marks: bool = False
    blocks: bool = False
    intervals: str | None = None


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """The measures of a table by row, and by metric and column; which of them are significant; the models' ranks; notes."""

    cells: Pivot[Measure]
    marked: frozenset[tuple[Key, Key]] = frozenset()
    ranks: Mapping[tuple[str, Group], Rank] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def group_key(model: str, group: Mapping[str, str]) -> Group:
    """A model's group as a key, whatever the order of its columns."""
    return frozenset({**group, "model": model}.items())


def layout_grid(
    scored: Scored, request: LayoutRequest, *, order: ValueOrder | None = None, settings: IntervalSettings | None = None
) -> Grid:
    """The table as text; `order` has the values of columns in the order in which they are shown."""
    table = scored.table
    if ROW in table.columns:
        table = table.with_columns(model=pl.coalesce(ROW, "model"))
    for name, wanted in request.where.items():
        check_by(name, table.columns)
        values = table[name].cast(pl.String).unique().drop_nulls()
        kept = [value for value in values if any(fnmatchcase(value, pattern) for pattern in wanted)]
        table = table.filter(pl.col(name).cast(pl.String).is_in(kept))
    table = first_methods(table, by=(*request.rows, *request.columns))
    if not table.height:
        raise IsoglossError(f"There are no scores for the table '{request.title}'.")
    chosen, settings = replace(scored, table=table), settings or IntervalSettings()
    if request.facts:
        return _fact_grid(table, request, order=order or {})
    if request.shares:
        return _share_grid(chosen, request, order=order or {}, settings=settings)
    if request.agreement:
        return _agreement_grid(chosen, request, order=order or {}, settings=settings)
    return metric_grid(_measure_cells(chosen, request, settings=settings), request, order=order or {})


def add_facts(scored: Scored, facts: Facts) -> Scored:
    """The scores with columns for facts about their models; the fact `label` renames the model."""
    names = {name for stated in facts.values() for name in stated}
    columns = []
    for name in sorted(names):
        values = {model: str(stated[name]) for model, stated in facts.items() if name in stated}
        column = pl.col(name) if name in scored.table.columns else pl.lit(None, dtype=pl.String)
        column = pl.col("model") if name == "label" else column
        new = pl.col("model").replace_strict(values, default=column, return_dtype=pl.String)
        columns.append(new.alias("model" if name == "label" else name))
    return replace(scored, table=scored.table.with_columns(columns)) if columns else scored


# ---- measuring


def metric_names(request: LayoutRequest) -> list[str]:
    """The metrics that a table needs, each once."""
    entries = [*request.metrics, *([request.agreement] if request.agreement else [])]
    return list(dict.fromkeys(name for entry in entries for name in entry.replace(FIRST, JOINED).split(JOINED)))


def _measure(scored: Scored, request: LayoutRequest, *, by: Sequence[str], settings: IntervalSettings) -> Measures:
    """Each metric over the data sets that it fits, by these columns."""
    by = [name for name in by if name not in IDENTITY]
    if request.mode != "corrected":
        settings = replace(settings, resamples=FEWEST)  # no interval is shown as published
    rows: list[Measure] = []
    for metric in metric_names(request):
        fits = registry.get("metric", metric).fits
        parts = [part for _, part in scored.table.group_by("dataset", maintain_order=True) if fits(part)]
        if parts:
            fitting = replace(scored, table=pl.concat(parts))
            rows += measure_with(settings, fitting, metrics=[metric], by=by, mode=request.mode)
    return Measures(tuple(row for row in rows if row.value is not None))


def _measure_cells(scored: Scored, request: LayoutRequest, *, settings: IntervalSettings) -> MeasuredTable:
    by = [name for name in (*request.rows, *request.columns) if name not in IDENTITY]
    measures = _measure(scored, request, by=by, settings=settings)
    placed = [(row, request.rows) for row in measures]
    if request.total:
        rows = request.rows[: request.rows.index(request.total) + 1]
        totals = _measure(scored, request, by=[*rows, *request.columns], settings=settings)
        placed += [(row, rows) for row in totals]
    tests = check_mbe(scored, measures, by=by) if request.marks else ()
    groups = [test.group for test in tests if test.p_mcnemar < LEVEL]
    stars = frozenset((_key(group, request.rows), _key(group, request.columns)) for group in groups)
    ranked = request.bold and request.mode == "corrected"  # none as published
    ranks = find_ranks(Study(scored), metric_names(request), settings=settings, by=by) if ranked else ()
    cells = _place(placed, request)
    weak = WEAK_NOTE if request.mode == "corrected" and any(map(dagger, cells.cells.values())) else ""
    notes = tuple(filter(None, (weak, RANK_NOTE if ranks else "")))
    return MeasuredTable(cells, stars, {(row.metric, group_key(row.model, row.group)): row for row in ranks}, notes)


def _place(placed: Sequence[tuple[Measure, Sequence[str]]], request: LayoutRequest) -> Pivot[Measure]:
    """Each measure in the row that its columns name, under its metric and column; no two in one cell."""
    rows_of = {id(row): rows for row, rows in placed}

    def line(row: Measure) -> Key:
        return _key(row.group, rows_of[id(row)])

    def clash(one: Measure, two: Measure) -> str:
        apart = [name for name, value in two.group.items() if one.group.get(name) != value]
        cell = ", ".join((*line(two), *_key(two.group, request.columns)))
        return (
            f"The table '{request.title}' has two values for one cell ({cell}), which differ by "
            f"{' and '.join(apart)}. Add it to the rows or columns, or choose with 'where'."
        )

    measures = [row for row, _ in placed]
    return pivot(measures, line=line, column=lambda row: (row.metric, *_key(row.group, request.columns)), clash=clash)


def _key(group: Mapping[str, str], names: Sequence[str]) -> Key:
    return tuple(group.get(name, "") for name in names)


# ---- arranging


def sort_keys(keys: Sequence[Key], names: Sequence[str], *, order: ValueOrder) -> list[Key]:
    """The keys by the given order of each column's values, else as they came; a total after what it is the total of."""
    values = [
        list(dict.fromkeys([*order.get(name, ()), *(k[i] for k in keys if i < len(k))])) for i, name in enumerate(names)
    ]

    def rank(key: Key) -> tuple[int, ...]:
        return tuple(values[i].index(key[i]) if i < len(key) else len(values[i]) for i in range(len(names)))

    return sorted(dict.fromkeys(keys), key=rank)


def _labels(values: Key, names: Sequence[str], *, request: LayoutRequest) -> list[str]:
    """The values of these columns as they are shown."""
    spelled = "language" if len(request.rows) + len(request.columns) < 3 else None
    pairs = zip(values, names, strict=False)
    return [request.labels.get(value, plain_name(value) if name == spelled else value) for value, name in pairs]


def _cell(cells: Pivot[Measure], line: Key, *, entry: str, column: Key) -> list[Measure]:
    """The measures of a cell: several for `a/b`, the first that there is for `a|b`."""
    names = entry.split(FIRST if FIRST in entry else JOINED)
    rows = [row for name in names if (row := cells.get(line, (name, *column))) is not None]
    return rows[:1] if FIRST in entry else rows


def metric_grid(table: MeasuredTable, request: LayoutRequest, *, order: ValueOrder) -> Grid:
    """The measures as text: columns under metrics, rows in their order, intervals on second lines."""
    entries = request.metrics or tuple(dict.fromkeys(metric for metric, *_ in table.cells.columns))
    columns = sort_keys([tuple(column) for _, *column in table.cells.columns], request.columns, order=order)
    lines = sort_keys(table.cells.lines, request.rows, order=order)
    keys = [
        (entry, column)
        for entry in entries
        for column in columns
        if any(_cell(table.cells, line, entry=entry, column=column) for line in lines)
    ]
    labels = len(request.rows) - request.blocks
    texts, below = [], {}
    for index, line in enumerate(lines):
        cells = [_cell(table.cells, line, entry=entry, column=column) for entry, column in keys]
        chosen_columns = [
            _value(rows, request, marked=(line, key[1]) in table.marked, ranks=table.ranks)
            for rows, key in zip(cells, keys, strict=True)
        ]
        against = keys if request.against else []
        extra = [_difference(table, line, entry=entry, column=column, request=request) for entry, column in against]
        names = _row_names(line, lines[index - 1] if index else (), request=request)[request.blocks :]
        texts.append([*names, *chosen_columns, *extra])
        ends = [_ends(rows, request) for rows in cells]
        if any(ends):
            below[index] = [*[""] * labels, *ends, *[""] * len(extra)]
    heading = [" ".join(_labels(column, request.columns, request=request)) for _, column in keys]
    grid = Grid(
        [*request.rows[request.blocks :], *heading],
        texts,
        labels,
        table.notes,
        spans=_spans(keys),
        blocks=_blocks(lines) if request.blocks else {},
        below=below,
    )
    if request.against:
        return replace(grid, heading=[*grid.heading, *["diff"] * len(keys)], spans=())
    bold = request.bold and request.mode != "corrected"
    return replace(grid, bold=_bold(table, lines, keys=keys, request=request)) if bold else grid


def _spans(keys: Sequence[tuple[str, Key]]) -> tuple[tuple[str, int], ...]:
    """The names of the metrics, each over as many columns as it has."""
    spans = []
    for entry, group in groupby(entry for entry, _ in keys):
        metrics = entry.replace(FIRST, JOINED).split(JOINED)
        spans.append((" / ".join(map(metric_name, metrics)), len(list(group))))
    return tuple(spans)


def _blocks(lines: Sequence[Key]) -> dict[int, str]:
    """The name of each block at its first row."""
    return {i: line[0] for i, line in enumerate(lines) if not i or lines[i - 1][0] != line[0]}


def _ends(rows: Sequence[Measure], request: LayoutRequest) -> str:
    """The interval that is shown below a value, or nothing."""
    form = (request.form if request.mode == "corrected" else "") if request.intervals is None else request.intervals
    return format_interval(rows[0].low, rows[0].high, form=form) if rows and form else ""


def _row_names(line: Key, above: Key, *, request: LayoutRequest) -> list[str]:
    """The names of a row; those that the row above has in the same columns are not repeated."""
    names = _labels(line, request.rows, request=request)
    if len(line) < len(request.rows):
        names += ["Aggregated", *[""] * (len(request.rows) - len(line) - 1)]
    last = len(request.rows) - 1
    same = [i < last and line[: i + 1] == above[: i + 1] for i in range(len(names))]
    return ["" if repeated else name for name, repeated in zip(names, same, strict=True)]


def _value(
    measures: Sequence[Measure], request: LayoutRequest, *, marked: bool, ranks: Mapping[tuple[str, Group], Rank]
) -> str:
    texts = [format_value(row.value, form=request.form, missing=MISSING) for row in measures]
    text = f"({'/'.join(texts)})" if len(texts) > 1 else (texts or [MISSING])[0]
    marked_weak = request.mode == "corrected" or request.blocks  # a table as published has no mark of ours
    weak = dagger(measures[0]).strip() if measures and marked_weak else ""
    group = measures[0].group if measures and ranks else {}
    rank = ranks.get((measures[0].metric, group_key(group["model"], group))) if group else None
    return text + weak + SIGNIFICANT * marked + rank_mark(rank)


def _difference(table: MeasuredTable, line: Key, *, entry: str, column: Key, request: LayoutRequest) -> str:
    """The difference from the row that has the values of `against` and else those of the line."""
    other = tuple(request.against.get(n, v) for n, v in zip(request.rows, line, strict=False))
    pair = [_cell(table.cells, key, entry=entry, column=column) for key in (line, other)]
    if line == other or not all(pair):
        return MISSING
    return f"{(pair[0][0].value or 0) - (pair[1][0].value or 0):+{request.form}}"


def _bold(
    table: MeasuredTable, lines: Sequence[Key], *, keys: Sequence[tuple[str, Key]], request: LayoutRequest
) -> frozenset[tuple[int, int]]:
    """The best values of each block of rows (rows with the same first name) under each heading."""
    bold = set()
    for _, block in groupby(enumerate(lines), key=lambda pair: pair[1][:-1]):
        kept = list(block)
        for place, (entry, column) in enumerate(keys):
            cells = {number: _cell(table.cells, line, entry=entry, column=column) for number, line in kept}
            merits = {number: _merit(values[0]) for number, values in cells.items() if values}
            top = max((merit for merit in merits.values() if merit is not None), default=None)
            if len(merits) > 1 and top is not None:
                bold |= {(number, len(request.rows) + place) for number, merit in merits.items() if merit == top}
    return frozenset(bold)


def _merit(row: Measure) -> float | None:
    """How good a value is, or nothing where a metric has no better and worse, or the value says nothing."""
    metric: Metric = registry.get("metric", row.metric)
    merit = None if row.value is None or row.interpretable is False else metric.merit(row.value)
    return None if merit is None else round(merit, 2)


# ---- other kinds


def _share_grid(scored: Scored, request: LayoutRequest, *, order: ValueOrder, settings: IntervalSettings) -> Grid:
    """The N terms with the largest shares, each with its share, one row for each group."""
    by = [name for name in request.rows if name not in IDENTITY]
    shares = measure_shares(scored, by=by, top=request.shares, settings=settings)
    rows: dict[Key, list[str]] = {}
    for row in shares:
        name = row.group["term"].replace("_", " ").partition("-")[0]
        rows.setdefault(_key(row.group, request.rows), []).append(f"{name} {row.value:.3f}")
    texts = _named_rows(rows, request, order=order)
    count = max(map(len, texts))
    heading = [*request.rows, *(f"top {number}" for number in range(1, count - len(request.rows) + 1))]
    return Grid(heading, [[*row, *[MISSING] * (count - len(row))] for row in texts], len(request.rows))


def _named_rows(rows: Mapping[Key, list[str]], request: LayoutRequest, *, order: ValueOrder) -> list[list[str]]:
    """The rows in order, each after its names."""
    lines = sort_keys(list(rows), request.rows, order=order)
    above = [(), *lines]
    return [[*_row_names(line, above[i], request=request), *rows[line]] for i, line in enumerate(lines)]


def _agreement_grid(scored: Scored, request: LayoutRequest, *, order: ValueOrder, settings: IntervalSettings) -> Grid:
    """How each metric agrees with one over the models: correlations, direction and mean difference, row by row."""
    measures = _measure(scored, request, by=request.rows, settings=settings)
    lines = sort_keys([_key(row.group, request.rows) for row in measures], request.rows, order=order)
    texts: list[list[str]] = []
    for line in lines:
        of_line = [row for row in measures if _key(row.group, request.rows) == line]
        sides = {name: tuple(row for row in of_line if row.metric == name) for name in metric_names(request)}
        reference = replace(measures, rows=sides[str(request.agreement)])
        columns = [_statistics(agree(replace(measures, rows=sides[name]), reference)[0]) for name in request.metrics]
        names = _labels(line, request.rows, request=request)
        for statistic, *values in zip(STATISTICS, *columns, strict=True):
            texts.append([*names, statistic, *values])
            names = [""] * len(names)
    return Grid([*request.rows, "statistic", *map(metric_name, request.metrics)], texts, len(request.rows) + 1)


def _statistics(agreement: Agreement) -> list[str]:
    """The four statistics as text; a correlation whose interval excludes zero is marked."""
    texts = []
    for way in (agreement.spearman, agreement.pearson):
        mark = "†" if way.low is not None and way.high is not None and way.low * way.high > 0 else ""
        texts.append(MISSING if way.value is None else f"{way.value:.2f}{mark}")
    others = (agreement.direction, agreement.mean_absolute_difference)
    return [*texts, *(format_value(value, missing=MISSING) for value in others)]


def _fact_grid(table: pl.DataFrame, request: LayoutRequest, *, order: ValueOrder) -> Grid:
    """The models with facts about them, one row for each."""
    names = [name for name in request.facts if name in table.columns]
    rows = table.select(*request.rows, *names).unique(maintain_order=True)
    facts: dict[Key, list[str]] = {}
    for values in rows.iter_rows():
        cells = [MISSING if value is None else str(value) for value in values[len(request.rows) :]]
        facts.setdefault(tuple(map(str, values[: len(request.rows)])), cells)
    heading = [*request.rows, *(name.replace("_", " ") for name in names)]
    return Grid(heading, _named_rows(facts, request, order=order), len(request.rows))
