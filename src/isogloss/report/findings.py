"""Findings: every number that a report shows, found once by measuring; panels only arrange them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from .. import registry
from ..analysis.comparisons import HEADLINES
from ..analysis.controls import Control, check_controls
from ..analysis.groups import usable_rows
from ..analysis.measures import Measure, fitting_metrics, measure
from ..analysis.regions import REGION, country_scores
from ..analysis.structure import Structure, find_structure
from ..errors import IsoglossError
from ..scores import Scored
from ..stats import RESAMPLES
from ..store import Run
from .answering import find_answers
from .extras import Extras
from .gathering import Gathered
from .sharing import find_shares
from .tables import remarks


@dataclass(frozen=True, slots=True)
class Drawn:
    """How intervals are drawn in a report."""

    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True)
class Findings:
    """All measures of a report; a tuple is empty where the runs have nothing of the kind.

    `overall` has each task and all tasks together, `targets` treats each item of a target as a unit of its own.
    """

    runs: tuple[Run, ...]
    items: pl.DataFrame
    scored: Scored
    overall: tuple[Measure, ...]
    categories: tuple[Measure, ...]
    targets: tuple[Measure, ...]
    regions: tuple[Measure, ...]
    languages_alike: tuple[Structure, ...]
    models_alike: tuple[Structure, ...]
    controls: tuple[Control, ...]
    extras: Extras
    troubles: tuple[str, ...]
    remarks: tuple[str, ...]
    drawn: Drawn = Drawn()


def find(gathered: Gathered, extras: Extras, *, drawn: Drawn) -> Findings:
    """Everything that can be measured on what was gathered; what cannot is told as a trouble."""
    troubles = list(gathered.troubles)
    if extras.shares is None:
        extras = replace(extras, shares=find_shares(gathered.scored))
    if extras.answers is None:
        extras = replace(extras, answers=find_answers(gathered.scored))
    rows: dict[str, list[Measure]] = {"overall": [], "categories": [], "targets": [], "regions": []}
    said: list[str] = []
    for scored, metrics in _sets(gathered.scored, troubles):
        for name, value in _measured(scored, metrics, drawn=drawn, said=said).items():
            rows[name] += value
    if not rows["overall"] and extras.shares is None and extras.answers is None:
        raise IsoglossError(f"Nothing in these runs can be measured. {' '.join(troubles)}".strip())
    alike = {over: _alike(gathered.scored, over, drawn=drawn) for over in ("language", "model")}
    return Findings(
        runs=gathered.runs,
        items=gathered.items,
        scored=gathered.scored,
        **{name: tuple(value) for name, value in rows.items()},
        languages_alike=alike["language"],
        models_alike=alike["model"],
        controls=(*_controls(gathered, drawn=drawn), *extras.controls),
        extras=extras,
        troubles=tuple(dict.fromkeys(troubles)),
        remarks=tuple(dict.fromkeys(said)),
        drawn=drawn,
    )


def _sets(scored: Scored, troubles: list[str]) -> Iterator[tuple[Scored, list[str]]]:
    """Each data set's scores with its headline metrics."""
    for name in scored.table["dataset"].unique(maintain_order=True):
        part = replace(scored, table=scored.table.filter(pl.col("dataset") == name))
        try:
            fitting = list(fitting_metrics(usable_rows(part)))
        except IsoglossError as error:
            troubles.append(f"{name}: {error}")
            continue
        yield part, [metric for metric in fitting if metric in HEADLINES] or fitting


def _measured(scored: Scored, metrics: list[str], *, drawn: Drawn, said: list[str]) -> dict[str, Iterable[Measure]]:
    """The data set measured as a whole and by its columns, where it has them."""
    options: dict[str, Any] = {"resamples": drawn.resamples, "seed": drawn.seed}
    overall = measure(scored, metrics=metrics, **options)
    said += remarks(overall)
    found: dict[str, Iterable[Measure]] = {"overall": overall}
    main = headline(metrics)
    if _holds(scored, "category"):
        found["categories"] = measure(scored, metrics=[main], by=["category"], **options)
    if _holds(scored, "target"):
        apart = replace(scored, table=scored.table.with_columns(cluster=pl.col("id")))
        found["targets"] = measure(apart, metrics=[main], by=["target"], **options)
    if _holds(scored, REGION):
        found["regions"] = country_scores(scored, metrics=[main], **options).measures
    return found


def headline(metrics: Sequence[str]) -> str:
    """The metric that speaks for the others: SS where there is one, else the first with a neutral point."""
    if "ss" in metrics:
        return "ss"
    return next((name for name in metrics if registry.get("metric", name).neutral is not None), metrics[0])


def _holds(scored: Scored, column: str) -> bool:
    """Whether a column is there with more than nothing in it."""
    return column in scored.table.columns and scored.table[column].drop_nulls().len() > 0


def _alike(scored: Scored, over: str, *, drawn: Drawn) -> tuple[Structure, ...]:
    """The structures of every data set that has one."""
    found: list[Structure] = []
    for name in scored.table["dataset"].unique(maintain_order=True):
        part = replace(scored, table=scored.table.filter(pl.col("dataset") == name))
        try:
            found += find_structure(part, over=over, resamples=drawn.resamples, seed=drawn.seed)
        except IsoglossError:  # one language or model only, or no stereotypes: nothing to look at across them
            continue
    return tuple(found)


def _controls(gathered: Gathered, *, drawn: Drawn) -> list[Control]:
    """The controls of runs that were made with twins."""
    table = gathered.scored.table
    twins = table.filter(pl.col("variant").is_not_null()) if "variant" in table.columns else table.clear()
    if not twins.height or not gathered.items.height:
        return []
    keys = twins.select("model", "language", "dataset").unique()
    part = replace(gathered.scored, table=table.join(keys, on=["model", "language", "dataset"], how="semi"))
    try:
        return check_controls(part, gathered.items, resamples=drawn.resamples, seed=drawn.seed)
    except IsoglossError:
        return []


def whole(rows: Iterable[Measure]) -> list[Measure]:
    """The measures over all tasks; where a group has one task only, that one."""
    shown = list(rows)
    without = {(row.metric, _key(row.group)) for row in shown if "task" not in row.group}
    return [row for row in shown if "task" not in row.group or (row.metric, _key(row.group)) not in without]


def _key(group: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in group.items() if name != "task"))


def datasets(rows: Iterable[Measure]) -> dict[str, list[Measure]]:
    """The measures by data set, in their order."""
    found: dict[str, list[Measure]] = {}
    for row in rows:
        found.setdefault(row.group["dataset"], []).append(row)
    return found


def distinct(rows: Iterable[Measure], column: str) -> list[str]:
    """The values that a column takes, in their order."""
    return list(dict.fromkeys(row.group[column] for row in rows if column in row.group))
