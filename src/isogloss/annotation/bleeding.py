"""Bleeding: what models prefer where people do not know a stereotype, against where they do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from .. import languages, registry
from ..analysis.alignment import NOTHING, align
from ..analysis.differences import Difference, paired_test, unpaired_test
from ..analysis.groups import check_rows, group_rows
from ..analysis.intervals import IntervalSettings, clusters_needed, fewest, find_interval, too_few
from ..analysis.item_values import UNIT, values_by_item, with_unit
from ..analysis.measures import check_mode, contribution, fitting_metrics
from ..errors import IsoglossError, UnknownName
from ..metrics import Metric, from_sums, ratio
from ..reports.text.annotators import known_grid
from ..reports.text.views import View, view_of
from ..results import Results
from ..scores import KEY, Scored
from ..stats import RESAMPLES
from .labels import LabelTable, share_of_label

KNOWN = "known_stereotype"  # the column: yes, no, or empty where nobody was asked
SHARE = "known_share"  # the share of the people asked who know it, as text


@dataclass(frozen=True, slots=True)
class KnownRule:
    """When a stereotype is known: more than `share` of the people who were asked `question` gave `label`.

    With `place`, the labels of that country are used for all items in its language: es-MX for items in Spanish. Without
    it, labels and items belong to the same tag, where es-ES is es.
    """

    question: str = "stereotype"
    label: str = "stereotype"
    share: float = 0.5
    place: str | None = None


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A metric where the stereotype is known and where it is not, and unknown minus known with its 95 % interval.

    `all` is the metric over all labeled items; `weighted` weights each by the share of people who know it (only for
    means over items).
    """

    group: Mapping[str, str]
    metric: str
    all: float
    weighted: float | None
    weighted_low: float | None
    weighted_high: float | None
    known: float
    unknown: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    n_known: int
    n_unknown: int
    clusters_known: int
    clusters_unknown: int
    why: str | None = None


def join_known(scored: Scored, labels: LabelTable, *, rule: KnownRule | None = None) -> Scored:
    """The scores with a column that says whether people know the stereotype of the item with the same id and language."""
    rule = rule or KnownRule()
    asked = LabelTable(labels.table.filter(pl.col("candidate").is_null()))
    shares = share_of_label(asked, question=rule.question, label=rule.label)
    if rule.place is not None:
        places = shares["language"].drop_nulls().unique()
        if rule.place not in places:
            raise UnknownName("place", rule.place, places.to_list())
        shares = shares.filter(pl.col("language") == rule.place)
    column = pl.when(pl.col("share") > rule.share).then(pl.lit("yes")).otherwise(pl.lit("no"))
    share = pl.col("share").cast(pl.String).alias(SHARE)
    known = shares.select(_comparable("language", rule.place).alias("_language"), column.alias(KNOWN), share, id="item")
    table = scored.table.drop(KNOWN, SHARE, strict=False).with_columns(
        _comparable("language", rule.place).alias("_language")
    )
    joined = table.join(known, on=["id", "_language"], how="left", maintain_order="left", nulls_equal=True)
    if joined[KNOWN].null_count() == joined.height:
        raise IsoglossError("No scored item has a label: ids and languages of scores and labels do not meet.")
    return Scored(joined.drop("_language"), scored.skipped, scored.notes, scored.builds)


def _comparable(column: str, place: str | None) -> pl.Expr:
    """The tag by which labels and items meet: the language alone where a place was chosen."""
    return pl.col(column).map_elements(
        lambda tag: tag.split("-")[0] if place else languages.standard_tag(tag), return_dtype=pl.String
    )


def measure_bleeding(
    scored: Scored, *, metric: str = "ss", by: Sequence[str] = (), mode: str = "corrected", resamples: int = RESAMPLES
) -> Results[KnownDifference]:
    """For each model and language: the metric where the stereotype is not known, minus that where it is.

    Items about the same cluster on both sides are left out together; without common clusters each side is on its own.
    """
    check_mode(mode)
    if KNOWN not in scored.table.columns:
        raise IsoglossError("These scores do not say where a stereotype is known. Join the labels with join_known.")
    settings = IntervalSettings(resamples=resamples)
    table = check_rows(scored)
    lost = table.filter(pl.col(KNOWN).is_null()).select("language", "id").n_unique()
    rows = []
    for group, part in group_rows(table, ["model", "language", *by], keep_null=True):
        sides = [part.filter(pl.col(KNOWN) == value) for value in ("no", "yes")]
        if all(side.height for side in sides):
            rows.append(_difference(sides, metric, group=group, mode=mode, settings=settings))
    differences = tuple(row for row in rows if row is not None)
    if not differences:
        fitting = ", ".join(fitting_metrics(table))
        raise IsoglossError(
            f"No model has '{metric}' both where the stereotype is known and where it is not. Metrics of these scores: {fitting}."
        )
    return Results(
        differences,
        notes=(f"{lost} items have no label and were left out",) if lost else (),
    )


def _difference(
    sides: Sequence[pl.DataFrame], metric: str, *, group: Mapping[str, str], mode: str, settings: IntervalSettings
) -> KnownDifference | None:
    """The row of a group; the minimum of clusters holds on each side, for the smaller one decides how sure it is."""
    chosen: Metric = registry.get("metric", metric)
    unknown, known = (contribution(chosen, side, mode=mode) for side in sides)
    aligned = align(sides, [chosen] * 2, mode=mode)
    if unknown is None or known is None or aligned is None:
        return None
    least = min(fewest(unknown), fewest(known))
    if least < clusters_needed(chosen.bounds):
        side = "not known" if fewest(unknown) == least else "known"
        test = Difference(None, why=f"where it is {side}: {too_few(least, bounds=chosen.bounds)}")
    else:
        compare = unpaired_test if aligned.common == NOTHING else paired_test
        test = compare(*aligned.sides, bounds=chosen.bounds, settings=settings)
    whole = contribution(chosen, pl.concat(sides), mode=mode)
    weighted = _weighted(pl.concat(sides), metric, mode=mode, settings=settings)
    everything = whole.value if whole is not None else float("nan")
    values = (everything, *weighted, known.value, unknown.value, unknown.value - known.value)
    counts = (known.n, unknown.n, len(known.clusters), len(unknown.clusters))
    return KnownDifference(group, metric, *values, test.low, test.high, test.p, *counts, test.why)


def _weighted(
    rows: pl.DataFrame, metric: str, *, mode: str, settings: IntervalSettings
) -> tuple[float | None, float | None, float | None]:
    """The mean over items, each weighted by the share of people who know it, with its interval over clusters."""
    try:
        values = values_by_item(with_unit(rows, KEY), metric, mode=mode)
    except IsoglossError:
        return None, None, None
    facts = with_unit(rows, KEY).select(UNIT, "cluster", pl.col(SHARE).cast(pl.Float64).alias("known")).unique(UNIT)
    joined = values.join(facts, on=UNIT, maintain_order="left")
    weights = joined["weight"].to_numpy() * joined["known"].to_numpy()
    if not weights.sum() > 0:
        return None, None, None
    sums = np.column_stack([weights * joined["value"].to_numpy(), weights])
    chosen: Metric = registry.get("metric", metric)
    mean = from_sums(sums, joined["cluster"], finish=ratio, n=joined.height)
    interval = find_interval(mean, settings, bounds=chosen.bounds)
    return mean.value, interval.low, interval.high


@view_of.register
def _view(_: KnownDifference) -> View:
    return View("differences", grid=known_grid)
