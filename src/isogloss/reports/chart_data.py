"""What charts show, for the figures of papers and the panels of the HTML report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from .. import registry
from ..analysis.groups import check_rows
from ..analysis.intervals import IntervalSettings
from ..analysis.measures import Measure
from ..analysis.rankings import Rank, Rankings, rank_models
from ..errors import IsoglossError
from ..items import group_by
from ..results import Results
from ..runs import Run
from ..scores import Scored
from .numbers import model_label

if TYPE_CHECKING:
    from ..analysis.comparisons import Comparison
    from ..analysis.structure import Structure
    from ..analysis.study import Study

Facts = Mapping[str, Mapping[str, Any]]
Row = TypeVar("Row", bound="Measure | Comparison")
Point = Mapping[str, Measure]
Position = tuple[float, float]
MONOLINGUAL, MULTILINGUAL, OTHER = "monolingual", "multilingual", "other"
KINDS = (MONOLINGUAL, MULTILINGUAL, OTHER)
PLANE = ("lms", "ss", "icat")  # the axes, and the lines of equal value, which this plane alone has
ICAT_LEVELS = range(10, 100, 10)
TRUE = ("true", "yes", "1")
RANK_RESAMPLES = 2_000


# ---- rows


def without_task(rows: Iterable[Row]) -> list[Row]:
    """The rows over all tasks; where a group has one task only, that one."""
    keyed = [(row, (row.metric, frozenset({**row.group, "task": ""}.items()))) for row in rows]
    whole = {key for row, key in keyed if "task" not in row.group}
    return [row for row, key in keyed if "task" not in row.group or key not in whole]


def datasets(rows: Iterable[Measure]) -> dict[str, list[Measure]]:
    """The measures by data set, in their order."""
    return group_by(rows, lambda row: row.group["dataset"])


def distinct(rows: Iterable[Measure], column: str) -> list[str]:
    """The values that a column takes, in their order."""
    return list(dict.fromkeys(row.group[column] for row in rows if column in row.group))


def with_values(rows: Sequence[Measure]) -> Sequence[Measure]:
    """The rows of the metrics that have a value; where none has, all."""
    names = {row.metric for row in rows if row.value is not None}
    return [row for row in rows if row.metric in names] or rows


def models_of(rows: Iterable[Measure]) -> list[str]:
    """The labels of the models, in their order."""
    return list(dict.fromkeys(model_label(row.group) for row in rows))


def holds(scored: Scored, column: str) -> bool:
    """Whether a column is there with more than nothing in it."""
    return column in scored.table.columns and scored.table[column].drop_nulls().len() > 0


def split_datasets(scored: Scored) -> Iterator[tuple[str, Scored]]:
    """The scores of each data set."""
    for name in scored.table["dataset"].unique(maintain_order=True):
        yield name, replace(scored, table=scored.table.filter(pl.col("dataset") == name))


def find_ranks(
    study: Study,
    metrics: Iterable[str],
    *,
    settings: IntervalSettings,
    mode: str = "corrected",
    by: Sequence[str] | None = None,
) -> Rankings:
    """The models from best to worst by each metric that has a best; nothing where no two models have the same items."""
    ordering = tuple(name for name in metrics if registry.get("metric", name).directed)
    key = ("ranks", ordering, settings, mode, None if by is None else tuple(by))
    return study.once(key, lambda: _rank(study.scores, ordering, settings=settings, mode=mode, by=by))


def _rank(
    scored: Scored, metrics: Sequence[str], *, settings: IntervalSettings, mode: str, by: Sequence[str] | None
) -> Rankings:
    resamples = min(settings.resamples, RANK_RESAMPLES)
    rows: list[Rank] = []
    notes: list[str] = []
    for _, part in split_datasets(scored):
        if part.table["model"].n_unique() < 2:
            continue
        with suppress(IsoglossError):  # other items
            ranks = rank_models(part, metric=list(metrics), by=by, mode=mode, resamples=resamples, seed=settings.seed)
            rows += ranks
            notes += ranks.notes[len(scored.notes) :]
    return Results(tuple(rows), notes=tuple(notes))


# ---- kinds of models: monolingual above multilingual


def model_kinds(runs: Iterable[Run], facts: Facts | None = None) -> dict[str, str]:
    """The kind of each model of the runs; given facts win over a study's labels, labels over what the model says."""
    kinds: dict[str, str] = {}
    for run in runs:
        model, labels = run.info["model"], run.info.get("labels", {})
        tags = run.info.get("facts", {}).get("languages")
        if MULTILINGUAL in labels:
            kinds[model] = _by_fact(labels[MULTILINGUAL])
        elif tags:
            kinds[model] = MULTILINGUAL if len(tags) > 1 or MULTILINGUAL in tags else MONOLINGUAL
        else:
            kinds.setdefault(model, OTHER)
    stated = {model: fact[MULTILINGUAL] for model, fact in (facts or {}).items() if MULTILINGUAL in fact}
    return kinds | {model: _by_fact(value) for model, value in stated.items()}


def _by_fact(value: Any) -> str:
    return MULTILINGUAL if str(value).lower() in TRUE else MONOLINGUAL


def lines_by_kind(rows: Iterable[Measure], kinds: Mapping[str, str]) -> list[tuple[str, str]]:
    """The labels of the models with their kinds, kind by kind."""
    pairs = dict.fromkeys((model_label(row.group), kinds.get(row.group["model"], OTHER)) for row in rows)
    return sorted(pairs, key=lambda pair: KINDS.index(pair[1]))


# ---- the plane of LMS and SS


def plane_points(rows: Iterable[Measure]) -> dict[str, list[Point]]:
    """LMS, SS and ICAT of each model and language that has all three, by data set.

    Too few clusters for an interval make no point; published values, which have none either, do.
    """
    measured = [row for row in without_task(rows) if row.metric in PLANE and row.value is not None]
    placed = [row for row in measured if row.low is not None or not row.why]
    points = [
        {row.metric: row for row in own} for own in group_by(placed, lambda row: tuple(row.group.values())).values()
    ]
    return group_by((point for point in points if len(point) == len(PLANE)), lambda point: point["ss"].group["dataset"])


def icat_lines(xs: Sequence[float], ys: Sequence[float]) -> dict[int, list[Position]]:
    """Where SS and LMS give the same ICAT, for each round value of it, inside the ranges of both."""
    steps = [x / 4 for x in range(1, 400) if xs[0] <= x / 4 <= xs[1]]
    lines = {level: [(x, level * 50 / min(x, 100 - x)) for x in steps] for level in ICAT_LEVELS}
    return {level: [(x, y) for x, y in line if ys[0] <= y <= ys[1]] for level, line in lines.items()}


# ---- structure


def structures(scored: Scored, over: str) -> list[Structure]:
    """How alike languages or models are, for every data set that has several of them and stereotypes."""
    from ..analysis.structure import find_structure

    likenesses: list[Structure] = []
    for _, part in split_datasets(scored):
        with suppress(IsoglossError):  # one language or model only, or no stereotypes
            likenesses += find_structure(part, over=over)
    return likenesses


def leaves(structure: Structure) -> list[str]:
    """The units in the order of the tree, so that similar ones are next to each other."""
    return [*structure.tree[-1].left, *structure.tree[-1].right] if structure.tree else list(structure.units)


def branches(structure: Structure) -> list[tuple[float, Position, Position]]:
    """Each merge of the tree: its distance, and the ends (distance, row) of both branches that it joins."""
    ends = {frozenset([name]): (0.0, float(row)) for row, name in enumerate(leaves(structure))}
    merges = []
    for merge in structure.tree:
        first, second = ends[frozenset(merge.left)], ends[frozenset(merge.right)]
        merges.append((merge.distance, first, second))
        ends[frozenset((*merge.left, *merge.right))] = (merge.distance, (first[1] + second[1]) / 2)
    return merges


# ---- shares of terms and countries


def term_shares(scored: Scored, settings: IntervalSettings) -> list[Measure]:
    """The mean share of each term for each model, language, set and concept of templates, with intervals."""
    from ..analysis.term_shares import measure_shares
    from ..metrics._templates import is_templates

    rows: list[Measure] = []
    for _, part in split_datasets(scored):
        if "task" in part.table.columns and is_templates(check_rows(part)):
            by = [name for name in ("set", "concept") if name in part.table.columns]
            rows += [row for row in measure_shares(part, by=by, settings=settings) if row.value is not None]
    return rows


def by_country(scored: Scored, metric: str, *, settings: IntervalSettings) -> list[Measure]:
    """The metric of each country on the map; items that are valid worldwide would be in all of them, and are left out."""
    from ..analysis.regions import COUNTRY, REGION, country_names, country_scores

    table = scored.table.filter(~worldwide(scored.table))
    if not table[REGION].drop_nulls().len():
        return []
    kept = replace(scored, table=table)
    measures = country_scores(kept, metrics=[metric], resamples=settings.resamples, seed=settings.seed).measures
    return [row for row in measures if row.value is not None and row.group[COUNTRY] in country_names()]


def worldwide(table: pl.DataFrame) -> pl.Series:
    """Whether an item's region is the whole world."""
    from ..analysis.regions import REGION, countries_of, country_names

    every = set(country_names())
    cells = [(cell,) if isinstance(cell, str) else cell or () for cell in table[REGION].to_list()]
    covered = {name: set(countries_of(name) or ()) >= every for name in {name for cell in cells for name in cell}}
    return pl.Series("worldwide", [any(covered[name] for name in cell) for cell in cells], dtype=pl.Boolean)
