"""Explaining: per metric what was published, what the published code does, what we do, and what that makes on these scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from .. import registry
from ..metrics import TIES, Metric, Origin
from ..results import Results
from ..scores import Scored
from .groups import IDENTITY, check_rows, group_rows, several_methods
from .intervals import IntervalSettings, find_interval
from .measures import contribution, fitting_metrics

UNSTATED = Origin(
    code="The metric does not say what published code does.",
    ours="As defined. The metric does not say more.",
    modes="the mode paper, of which the metric does not say what it changes",
)
OTHER_CLASSES = {"category": "bias types as classes, as the paper says", "target_term": "translated terms as classes"}


@dataclass(frozen=True, slots=True)
class ExplainedDifference:
    """What a choice makes on these scores: the value our way, the other way, and how many items it is about."""

    what: str
    group: Mapping[str, str]
    ours: float
    other: float
    n: int

    @property
    def points(self) -> float:
        return self.other - self.ours


@dataclass(frozen=True, slots=True)
class Explanation:
    """A metric: the published definition, what the published code does, what we do, and the differences on these scores."""

    metric: str
    title: str
    definition: str
    citation: str
    published_code: str
    ours: str
    caution: str
    differences: tuple[ExplainedDifference, ...]


def explain_scores(scored: Scored, *, metrics: str | Sequence[str] | None = None) -> Results[Explanation]:
    """One explanation for each metric that fits the scores, or that was asked for."""
    table = check_rows(scored)
    chosen = registry.chosen("metric", metrics) or fitting_metrics(table)
    identity = [*IDENTITY, "method"] if several_methods(table) else list(IDENTITY)
    groups = list(group_rows(table, identity, keep_null=True))
    rows = []
    for name, metric in chosen.items():
        origin = metric.origin or UNSTATED
        differences = [row for group, part in groups for row in _differences(metric, group=group, part=part)]
        definition = (metric.title, metric.formula, metric.citation)
        caution = " ".join([*_directions(metric, [part for _, part in groups]), metric.caution])
        rows.append(Explanation(name, *definition, origin.code, origin.ours, caution, tuple(differences)))
    return Results(tuple(rows), notes=scored.notes)


def _directions(metric: Metric, parts: Sequence[pl.DataFrame]) -> list[str]:
    """Which group a value above the neutral point favors, for each pair of groups that the data names."""
    contributions = [contribution(metric, part, mode="corrected") for part in parts]
    pairs = dict.fromkeys(one.groups for one in contributions if one is not None and one.groups is not None)
    return [
        f"Above {metric.neutral:g}: {second} sentences are the more likely ones; below: {first}."
        for first, second in pairs
    ]


def _differences(metric: Metric, *, group: Mapping[str, str], part: pl.DataFrame) -> Iterator[ExplainedDifference]:
    """Each choice that can be undone on these scores, undone alone."""
    pooled = contribution(metric, part, mode="corrected")
    if pooled is None:
        return
    ours = pooled.value
    paper = contribution(metric, part, mode="paper")
    origin = metric.origin or UNSTATED
    if paper is not None and origin.modes is not None:
        counted = paper.ties if origin.modes == TIES else paper.n
        yield ExplainedDifference(origin.modes, group, ours, paper.value, counted)
    tasks = [rows for _, rows in group_rows(part, ["task"], keep_null=True)] if "task" in part.columns else []
    values = [value for task in tasks if (value := _value(metric, task)) is not None]
    if len(values) > 1:
        yield ExplainedDifference(
            "the mean of the tasks instead of all items pooled", group, ours, float(np.mean(values)), pooled.n
        )
    for column, what in OTHER_CLASSES.items() if metric.per_class else ():
        if column in part.columns and not part[column].null_count() and not part[column].equals(part["cluster"]):
            other = _value(metric, part.with_columns(cluster=pl.col(column)))
            if other is not None:
                yield ExplainedDifference(what, group, ours, other, part[column].n_unique())
    for other_name, what in origin.others.items():
        if (other := _value(registry.get("metric", other_name), part)) is not None:
            yield ExplainedDifference(what, group, ours, other, pooled.n)
    if "problems" in part.columns:
        odd = part.filter(pl.col("problems").list.contains("several_blanks"))["id"].unique().to_list()
        rest = _value(metric, part.filter(~pl.col("id").is_in(odd))) if odd else None
        if rest is not None:
            yield ExplainedDifference("without the items that have more than one BLANK", group, ours, rest, len(odd))
    widths = [_width(metric, table) for table in (part, part.with_columns(cluster=pl.col("id")))]
    if widths[0] is not None and widths[1] is not None and not metric.per_class:
        what = "the width of the interval, if items of one target were independent"
        yield ExplainedDifference(what, group, widths[0], widths[1], part["id"].n_unique())


def _value(metric: Metric, part: pl.DataFrame) -> float | None:
    part_contribution = contribution(metric, part, mode="corrected")
    return None if part_contribution is None else part_contribution.value


def _width(metric: Metric, part: pl.DataFrame) -> float | None:
    """How wide the interval is; nothing without one."""
    contributed = contribution(metric, part, mode="corrected")
    if contributed is None:
        return None
    ends = find_interval(contributed, IntervalSettings("bootstrap", resamples=1000), bounds=metric.bounds)
    return None if ends.low is None or ends.high is None else ends.high - ends.low
