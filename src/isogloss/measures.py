"""Measuring: scores in, numbers with their honesty out (n, ties, clusters, interval, and why there is none)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl

from . import registry
from .errors import IsoglossError, UnknownName
from .scores import KEY, ROW_SCHEMA, Scored
from .stats import FEWEST_CLUSTERS, Array, bootstrap_interval, cluster_sums

MODES = ("corrected", "paper")
IDENTITY = ("model", "dataset", "language")
SYNONYMS = {"bias_type": "category", "target_original": "target"}
NOT_GROUPS = {*ROW_SCHEMA, "role", "derived_from"} - {"dataset", "language"}


@dataclass(frozen=True, slots=True)
class Contribution:
    """What the units of a group add up to: one row of `sums` per unit, `clusters` says which cluster it belongs to."""

    sums: Array
    clusters: Sequence[str]
    n: int
    ties: int


@dataclass(frozen=True, slots=True)
class Metric:
    """A number over a set of items: `contribute` gives each unit's part, `finish` turns (weighted) sums into the value.

    `contribute` gets a table with one row per item: its columns, and one score column per role in `roles`.
    `swap` is what happens when stereotype and anti-stereotype change places: "mirror" around `neutral`, or "same".
    """

    title: str
    formula: str
    citation: str
    caution: str
    roles: tuple[str, ...]
    bounds: tuple[float, float]
    neutral: float | None
    swap: str
    contribute: Callable[[pl.DataFrame, str], Contribution]
    finish: Callable[[Array], Array]
    order: int = 100


@dataclass(frozen=True, slots=True)
class Measure:
    """One number with its honesty; `low` and `high` may be missing, then `why` says why."""

    metric: str
    group: Mapping[str, str]
    value: float | None
    low: float | None
    high: float | None
    n: int
    ties: int
    clusters: int
    mode: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Measures:
    """A table of measures, with what was odd in the data behind them."""

    rows: tuple[Measure, ...]
    problems: Mapping[str, int]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Measure:
        return self.rows[index]

    def to_polars(self) -> pl.DataFrame:
        """One row per measure; the group's columns come first."""
        names = list(dict.fromkeys(name for row in self.rows for name in row.group))
        return pl.DataFrame(
            [
                {name: row.group.get(name) for name in names}
                | {key: value for key, value in asdict(row).items() if key != "group"}
                for row in self.rows
            ],
            infer_schema_length=None,
        )

    def __str__(self) -> str:
        from .report.tables import measures_as_text

        return measures_as_text(self)

    def _repr_html_(self) -> str:
        from .report.tables import measures_as_html

        return measures_as_html(self)


def measure(
    scored: Scored,
    *,
    metrics: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    mode: str = "corrected",
    resamples: int = 10_000,
    seed: int = 0,
) -> Measures:
    """Every metric for every group, with a 95 % interval by bootstrap over clusters.

    Without `by`, each model, data set and language is measured over all its items and per task.
    Without `metrics`, all whose roles the data has.
    """
    if mode not in MODES:
        raise UnknownName("mode", mode, MODES)
    wide = widen(scored)
    chosen = _chosen_metrics(metrics, set(wide.columns))
    interval = partial(bootstrap_interval, resamples=resamples, seed=seed)
    rows = []
    for group, part in _groups(wide, by):
        for name, metric in chosen.items():
            nothing = Measure(name, group, None, None, None, n=0, ties=0, clusters=0, mode=mode)
            rows.append(_measure_one(nothing, metric, part=part, interval=interval))
    return Measures(tuple(rows), scored.problems, scored.notes + _unscored_note(wide, chosen))


def widen(scored: Scored) -> pl.DataFrame:
    """One row per item, method and model, with the score of each role in a column of the role's name."""
    table = scored.table.filter((pl.col("quantity") == "score") & pl.col("against").is_null())
    if not table.height:
        raise IsoglossError("There are no scores to measure.")
    broken = table.filter(pl.col("value").is_nan() | pl.col("value").is_infinite())
    if broken.height:
        raise IsoglossError(f"{broken.height} scores are not numbers; the first belongs to item '{broken['id'][0]}'.")
    twice = table.filter(table.select("model", "method", *KEY, "candidate").is_duplicated())
    if twice.height:
        item, model, method = twice.row(0, named=True)["id"], twice["model"][0], twice["method"][0]
        raise IsoglossError(
            f"Item '{item}' was scored twice by '{model}' with the method '{method}'. Give one of the runs."
        )
    index = [name for name in table.columns if name not in NOT_GROUPS or name == "id"]
    wide = table.pivot(on="role", index=index, values="value", aggregate_function="first", maintain_order=True)
    return wide.with_columns(pl.coalesce("cluster", "id").alias("cluster"))


def _chosen_metrics(wanted: Sequence[str] | None, columns: set[str]) -> dict[str, Metric]:
    known: dict[str, Metric] = registry.everything("metric")
    for name in wanted or ():
        metric = registry.get("metric", name)
        lacking = [role for role in metric.roles if role not in columns]
        if lacking:
            raise IsoglossError(f"The metric '{name}' needs the role '{lacking[0]}', which these items do not have.")
    names = (
        [name.replace("-", "_") for name in wanted] if wanted else [n for n in known if set(known[n].roles) <= columns]
    )
    if not names:
        raise IsoglossError("No metric fits these items: " + ", ".join(sorted(columns)) + ".")
    return {name: known[name] for name in (names if wanted else sorted(names, key=lambda n: (known[n].order, n)))}


def _groups(wide: pl.DataFrame, by: Sequence[str] | None) -> Iterator[tuple[dict[str, str], pl.DataFrame]]:
    """Each group's columns and items, in the order of the data."""
    identity = [*IDENTITY, "method"] if _several_methods(wide) else list(IDENTITY)
    if by is not None:
        names = [SYNONYMS.get(name, name) for name in by]
        known = [name for name in wide.columns if name not in NOT_GROUPS and wide.schema[name] != pl.Float64]
        for name in names:
            if name not in known:
                raise UnknownName("column", name, known)
        levels = [names]
    elif "task" in wide.columns:
        levels = [["task"], []]
    else:
        levels = [[]]
    for names in levels:
        columns = list(dict.fromkeys([*identity, *names]))
        parts = wide
        for name in columns:
            if parts.schema[name] == pl.List(pl.String):
                parts = parts.explode(name)
        for values, part in parts.group_by(columns, maintain_order=True):
            if by is None and names == [] and "task" in part.columns and part["task"].n_unique() == 1:
                continue
            named = zip(columns, values, strict=True)
            yield {n: "none" if v is None else str(v) for n, v in named if v is not None or by is not None}, part


def _several_methods(wide: pl.DataFrame) -> bool:
    return bool(wide.select("model", *KEY).is_duplicated().any())


def _measure_one(
    nothing: Measure, metric: Metric, *, part: pl.DataFrame, interval: Callable[..., tuple[float, float]]
) -> Measure:
    """`nothing` with the metric's value over the part's items filled in."""
    full = part.drop_nulls(list(metric.roles))
    if not full.height:
        return replace(nothing, why="no item of the group has all the roles")
    found = metric.contribute(full, nothing.mode)
    labels = {label: i for i, label in enumerate(dict.fromkeys(found.clusters))}
    sums = cluster_sums(found.sums, np.array([labels[label] for label in found.clusters]))
    value = float(metric.finish(sums.sum(axis=0)))
    counted = replace(nothing, value=value, n=found.n, ties=found.ties, clusters=len(labels))
    if len(labels) < FEWEST_CLUSTERS:
        return replace(counted, why=f"{len(labels)} clusters; an interval needs {FEWEST_CLUSTERS}")
    low, high = interval(sums, metric.finish)
    return replace(counted, low=low, high=high)


def _unscored_note(wide: pl.DataFrame, chosen: Mapping[str, Metric]) -> tuple[str, ...]:
    roles = sorted({role for metric in chosen.values() for role in metric.roles})
    lacking = wide.height - wide.drop_nulls(roles).height
    return (f"{lacking} items lack a score and were left out",) if lacking else ()


def rows_as_json(measures: Measures) -> dict[str, Any]:
    """The measures as the documented JSON object."""
    return {
        "measures": [asdict(row) | {"group": dict(row.group)} for row in measures],
        "problems": dict(measures.problems),
        "notes": list(measures.notes),
    }


def by_group(measures: Measures) -> Iterator[tuple[dict[str, str], list[Measure]]]:
    """Measures that stand together because they speak of the same group."""
    for group, rows in groupby(measures, key=lambda row: dict(row.group)):
        yield group, list(rows)
