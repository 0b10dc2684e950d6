"""The data of a report: every number that it shows, measured once; panels only arrange them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from ...analysis.controls import Control, check_controls
from ...analysis.groups import check_rows
from ...analysis.headlines import main_metric, shown_metrics
from ...analysis.intervals import IntervalSettings
from ...analysis.measures import Measure, Measures, fitting_metrics, measure_with
from ...analysis.rankings import Rankings
from ...analysis.regions import REGION
from ...analysis.structure import Structure
from ...analysis.study import Measuring, Study
from ...chat.answer_rows import ANSWER
from ...errors import IsoglossError
from ...runs import Run
from ...scores import Scored
from ..chart_data import by_country, find_ranks, holds, structures, term_shares, without_task
from ..numbers import model_label
from ..text.measures import doubts, remarks
from .added_files import ANSWERS, SHARES, Extras


@dataclass(frozen=True)
class PageData:
    """All measures of a report; a tuple is empty where the runs have nothing of the kind.

    `overall` has each task and all tasks together, `targets` treats each item of a target as a unit of its own.
    `ranks` and `remarks` are those of each data set.
    """

    runs: tuple[Run, ...]
    items: pl.DataFrame
    scored: Scored
    overall: tuple[Measure, ...]
    categories: tuple[Measure, ...]
    targets: tuple[Measure, ...]
    regions: tuple[Measure, ...]
    ranks: Mapping[str, Rankings]
    languages_alike: tuple[Structure, ...]
    models_alike: tuple[Structure, ...]
    controls: tuple[Control, ...]
    extras: Extras
    problems: tuple[str, ...]
    remarks: Mapping[str, tuple[str, ...]]
    settings: IntervalSettings


def measure_all(study: Study, extras: Extras, *, settings: IntervalSettings) -> PageData:
    """Everything that can be measured on a study; what cannot is named as a problem."""
    problems = list(study.problems)
    scored = study.scores
    if extras.shares is None:
        extras = replace(extras, shares=find_shares(scored, settings=settings))
    if extras.answers is None:
        extras = replace(extras, answers=find_answers(scored))
    rows: dict[str, list[Measure]] = {"overall": [], "categories": [], "targets": [], "regions": []}
    notes: dict[str, tuple[str, ...]] = {}
    ranks: dict[str, Rankings] = {}
    for name in scored.table["dataset"].unique(maintain_order=True):
        part = study.narrow(where={"dataset": name}) if scored.table["dataset"].n_unique() > 1 else study
        try:
            fitting = list(fitting_metrics(check_rows(part.scores)))
        except IsoglossError as error:
            problems.append(f"{name}: {error}")
            continue
        metrics = tuple(shown_metrics(fitting))
        ranks[name] = find_ranks(part, metrics, settings=settings)
        measured = _measured(part, metrics, settings=settings)
        for column, measures in measured.items():
            rows[column] += measures
        noted = {*doubts(without_task(measured["overall"]))}
        notes[name] = tuple(line for line in dict.fromkeys(remarks(measured["overall"])) if line not in noted)
    if not rows["overall"] and extras.shares is None and extras.answers is None:
        raise IsoglossError(f"Nothing in these runs can be measured. {' '.join(problems)}".strip())
    items = study.items
    return PageData(
        runs=study.runs,
        items=items,
        scored=scored,
        **{name: tuple(value) for name, value in rows.items()},
        ranks=ranks,
        languages_alike=tuple(structures(scored, "language")),
        models_alike=tuple(structures(scored, "model")),
        controls=(*_controls(scored, items, settings=settings), *extras.controls),
        extras=extras,
        problems=tuple(dict.fromkeys(problems)),
        remarks=notes,
        settings=settings,
    )


def _measured(study: Study, metrics: tuple[str, ...], *, settings: IntervalSettings) -> dict[str, Measures]:
    """The data set measured as a whole and by its columns, where it has them."""
    settings = replace(settings, kind="auto")
    scored = study.scores
    overall = study.measure(Measuring(metrics, settings=settings))
    measured = {"overall": overall}
    main = main_metric(metrics)
    if holds(scored, "category"):
        measured["categories"] = study.measure(Measuring((main,), ("category",), settings=settings))
    if holds(scored, "target"):
        apart = replace(scored, table=scored.table.with_columns(cluster=pl.col("id")))
        measured["targets"] = measure_with(settings, apart, metrics=[main], by=["target"])
    if holds(scored, REGION):
        measured["regions"] = Measures(tuple(by_country(scored, main, settings=settings)))
    return measured


def _controls(scored: Scored, items: pl.DataFrame, *, settings: IntervalSettings) -> list[Control]:
    """The controls of runs that were made with control items."""
    table = scored.table
    controls = table.filter(pl.col("variant").is_not_null()) if "variant" in table.columns else table.clear()
    if not controls.height or not items.height:
        return []
    keys = controls.select("model", "language", "dataset").unique()
    part = replace(scored, table=table.join(keys, on=["model", "language", "dataset"], how="semi"))
    try:
        return list(check_controls(part, items, resamples=settings.resamples, seed=settings.seed))
    except IsoglossError:
        return []


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


def find_shares(scored: Scored, *, settings: IntervalSettings) -> pl.DataFrame | None:
    """The share of each term for each model, language, set and concept, with its interval; None without templates."""
    rows = [
        (model_label(row.group), group["language"], group.get("set", group["dataset"]), group.get("concept", ""),
         group["term"], row.value, row.low, row.high)
        for row in term_shares(scored, settings)
        for group in [row.group]
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=[*SHARES, "low", "high"], orient="row", infer_schema_length=None) if rows else None
