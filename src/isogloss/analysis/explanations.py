"""Explaining: per metric what was published, what the published code does, what we do, and what that makes on these scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from .. import registry
from ..metrics import Metric
from ..results import Results
from ..scores import Scored
from .groups import IDENTITY, check_rows, group_rows, several_methods
from .intervals import IntervalSettings, find_interval
from .measures import contribution, fitting_metrics

TIES = "a tie counts for the anti-stereotype and against the related candidates"
CODE = {  # what the published evaluation does, in our words; SEMANTICS of the snapshots that we read
    "lms": f"Compares strictly: {TIES}. Intra- and intersentence items are pooled for the overall value.",
    "ss": f"Compares strictly: {TIES}. Intra- and intersentence items are pooled for the overall value.",
    "icat": "As defined, from the two values above; the tool of Nadeem et al. prints the micro value under this name.",
    "lms_multiclass": "The mean over target terms (the English term also in translations), although the paper names bias types.",
    "ss_multiclass": "The mean over target terms (the English term also in translations), although the paper names bias types.",
    "icat_macro": "The mean of the terms' ICAT; the tool of Nadeem et al. has the names macro and micro exchanged.",
    "icat_micro": "ICAT of the two means over terms; the tool of Nadeem et al. has the names macro and micro exchanged.",
}
OURS = {
    "lms": "A tie counts one half; the number of ties is always shown. --mode paper counts as published.",
    "ss": "A tie counts one half; the number of ties is always shown. --mode paper counts as published.",
    "icat": "From our LMS and SS; never the micro value.",
    "lms_multiclass": "The published classes (target terms), with ties counted one half.",
    "ss_multiclass": "The published classes (target terms), with ties counted one half.",
    "icat_macro": "The mean of the terms' ICAT, under the name of the paper.",
    "icat_micro": "ICAT of the means over terms, under the name of the paper.",
}
CLASSES = ("lms_multiclass", "ss_multiclass", "icat_macro", "icat_micro")
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
        code = CODE.get(name, "We have not compared this metric with published code.")
        ours = OURS.get(name, "As defined; where the two modes differ, --mode paper follows the publication.")
        differences = [row for group, part in groups for row in _differences(name, metric, group=group, part=part)]
        definition = (metric.title, metric.formula, metric.citation)
        rows.append(Explanation(name, *definition, code, ours, metric.caution, tuple(differences)))
    return Results(tuple(rows), notes=scored.notes)


def _differences(
    name: str, metric: Metric, *, group: Mapping[str, str], part: pl.DataFrame
) -> Iterator[ExplainedDifference]:
    """Each choice that can be undone on these scores, undone alone."""
    pooled = contribution(metric, part, mode="corrected")
    if pooled is None:
        return
    ours = pooled.value
    paper = contribution(metric, part, mode="paper")
    if paper is not None:
        yield ExplainedDifference("ties counted as published", group, ours, paper.value, paper.ties)
    tasks = [rows for _, rows in group_rows(part, ["task"], keep_null=True)] if "task" in part.columns else []
    values = [value for task in tasks if (value := _value(metric, task)) is not None]
    if len(values) > 1:
        yield ExplainedDifference(
            "the mean of the tasks instead of all items pooled", group, ours, float(np.mean(values)), pooled.n
        )
    for column, what in OTHER_CLASSES.items() if name in CLASSES else ():
        if column in part.columns and not part[column].null_count() and not part[column].equals(part["cluster"]):
            other = _value(metric, part.with_columns(cluster=pl.col(column)))
            if other is not None:
                yield ExplainedDifference(what, group, ours, other, part[column].n_unique())
    if name == "icat" and (micro := _value(registry.get("metric", "icat_micro"), part)) is not None:
        yield ExplainedDifference("the micro value, which another tool prints as ICAT", group, ours, micro, pooled.n)
    if "problems" in part.columns:
        odd = part.filter(pl.col("problems").list.contains("several_blanks"))["id"].unique().to_list()
        rest = _value(metric, part.filter(~pl.col("id").is_in(odd))) if odd else None
        if rest is not None:
            yield ExplainedDifference("without the items that have more than one BLANK", group, ours, rest, len(odd))
    widths = [_width(metric, table) for table in (part, part.with_columns(cluster=pl.col("id")))]
    if widths[0] is not None and widths[1] is not None and not metric.title.startswith(("Multi", "Macro", "Micro")):
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
