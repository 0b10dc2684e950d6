"""Findings: every number that a report shows, found once by measuring; panels only arrange them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from ... import registry
from ...analysis.comparisons import HEADLINES
from ...analysis.controls import Control, check_controls
from ...analysis.groups import check_rows, group_rows, several_methods
from ...analysis.measures import Measure, fitting_metrics, measure
from ...analysis.regions import REGION, country_scores
from ...analysis.structure import Structure, find_structure
from ...chat.answer_rows import ANSWER
from ...errors import IsoglossError
from ...metrics._templates import is_templates, mean_shares, read_term_cells, read_term_items
from ...runs import Run
from ...scores import Scored
from ...stats import RESAMPLES
from ..text.measures import remarks
from .added_files import ANSWERS, SHARES, Extras
from .sources import Gathered


@dataclass(frozen=True, slots=True)
class ResamplingSettings:
    """How intervals are drawn in a report."""

    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True)
class PageData:
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
    drawn: ResamplingSettings = ResamplingSettings()


def measure_all(gathered: Gathered, extras: Extras, *, settings: ResamplingSettings) -> PageData:
    """Everything that can be measured on what was gathered; what cannot is told as a trouble."""
    troubles = list(gathered.troubles)
    if extras.shares is None:
        extras = replace(extras, shares=find_shares(gathered.scored))
    if extras.answers is None:
        extras = replace(extras, answers=find_answers(gathered.scored))
    rows: dict[str, list[Measure]] = {"overall": [], "categories": [], "targets": [], "regions": []}
    said: list[str] = []
    for scored, metrics in _sets(gathered.scored, troubles):
        for name, value in _measured(scored, metrics, settings=settings, said=said).items():
            rows[name] += value
    if not rows["overall"] and extras.shares is None and extras.answers is None:
        raise IsoglossError(f"Nothing in these runs can be measured. {' '.join(troubles)}".strip())
    alike = {over: _alike(gathered.scored, over, settings=settings) for over in ("language", "model")}
    return PageData(
        runs=gathered.runs,
        items=gathered.items,
        scored=gathered.scored,
        **{name: tuple(value) for name, value in rows.items()},
        languages_alike=alike["language"],
        models_alike=alike["model"],
        controls=(*_controls(gathered, settings=settings), *extras.controls),
        extras=extras,
        troubles=tuple(dict.fromkeys(troubles)),
        remarks=tuple(dict.fromkeys(said)),
        drawn=settings,
    )


def _sets(scored: Scored, troubles: list[str]) -> Iterator[tuple[Scored, list[str]]]:
    """Each data set's scores with its headline metrics."""
    for name in scored.table["dataset"].unique(maintain_order=True):
        part = replace(scored, table=scored.table.filter(pl.col("dataset") == name))
        try:
            fitting = list(fitting_metrics(check_rows(part)))
        except IsoglossError as error:
            troubles.append(f"{name}: {error}")
            continue
        yield part, [metric for metric in fitting if metric in HEADLINES] or fitting


def _measured(
    scored: Scored, metrics: list[str], *, settings: ResamplingSettings, said: list[str]
) -> dict[str, Iterable[Measure]]:
    """The data set measured as a whole and by its columns, where it has them."""
    options: dict[str, Any] = {"resamples": settings.resamples, "seed": settings.seed}
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


def _alike(scored: Scored, over: str, *, settings: ResamplingSettings) -> tuple[Structure, ...]:
    """The structures of every data set that has one."""
    found: list[Structure] = []
    for name in scored.table["dataset"].unique(maintain_order=True):
        part = replace(scored, table=scored.table.filter(pl.col("dataset") == name))
        try:
            found += find_structure(part, over=over, resamples=settings.resamples, seed=settings.seed)
        except IsoglossError:  # one language or model only, or no stereotypes: nothing to look at across them
            continue
    return tuple(found)


def _controls(gathered: Gathered, *, settings: ResamplingSettings) -> list[Control]:
    """The controls of runs that were made with control items."""
    table = gathered.scored.table
    controls = table.filter(pl.col("variant").is_not_null()) if "variant" in table.columns else table.clear()
    if not controls.height or not gathered.items.height:
        return []
    keys = controls.select("model", "language", "dataset").unique()
    part = replace(gathered.scored, table=table.join(keys, on=["model", "language", "dataset"], how="semi"))
    try:
        return list(check_controls(part, gathered.items, resamples=settings.resamples, seed=settings.seed))
    except IsoglossError:
        return []


def without_task(rows: Iterable[Measure]) -> list[Measure]:
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


def find_answers(scored: Scored) -> pl.DataFrame | None:
    """The share of each verdict for each model, language and prompt, every answer counting the same; None without answers."""
    if "prompt" not in scored.table.columns:
        return None
    columns = [name for name in ANSWERS if name not in ("verdict", "share")]
    rows = scored.table.filter((pl.col("quantity") == ANSWER) & pl.col("prompt").is_not_null())
    each = rows.select(*columns, pl.col("pieces").alias("verdict")).explode("verdict")
    if not each.height:
        return None
    counted = each.group_by(*columns, "verdict", maintain_order=True).len("count")
    return counted.select(*columns, "verdict", (pl.col("count") / pl.col("count").sum().over(columns)).alias("share"))


def find_shares(scored: Scored) -> pl.DataFrame | None:
    """The share of each term for each model, language, set and concept, over the set's templates; None without templates."""
    rows = [row for part in _templates(scored) for row in _rows(part)]
    return pl.DataFrame(rows, schema=[*SHARES], orient="row") if rows else None


def _templates(scored: Scored) -> Iterator[pl.DataFrame]:
    """The scores of templates, by data set, model, language and method."""
    if "task" not in scored.table.columns or not scored.table.height:
        return
    for _, part in group_rows(check_rows(scored), ["dataset", "model", "language", "method"], keep_null=True):
        if is_templates(part):
            yield part.filter(pl.col("quantity") == "score")


def _rows(part: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    frames = read_term_items(part)
    cells, names = read_term_cells(frames)
    model = part["model"][0] if not several_methods(part) else f"{part['model'][0]} · {part['method'][0]}"
    for (set_, concept), cell in zip(dict.fromkeys(one.cell for one in frames), cells, strict=True):
        shares = mean_shares(cell, np.ones((1, len(names))))[0]
        for term, share in zip(cell.terms, shares, strict=True):
            yield model, part["language"][0], set_ or part["dataset"][0], concept, term, float(share)
