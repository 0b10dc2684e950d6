"""Comparing: two sides in, differences out, each with its interval, p-values, effect size and smallest detectable effect."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import polars as pl

from .. import registry
from ..errors import IsoglossError
from ..metrics import Contribution, Metric
from ..results import Results
from ..scores import Scored, check_scored
from ..stats import RESAMPLES
from ..stats.hypotheses import adjust_bh, adjust_holm
from .alignment import same_order
from .competence import Competence, find_competence, judge_both
from .differences import paired_test, unpaired_test
from .groups import IDENTITY, Group, check_by, group_rows, make_part
from .headlines import shown_metrics
from .intervals import IntervalSettings, check_interval_settings
from .measures import check_mode, contribution, fitting_metrics
from .sides import Sides, match_sides


@dataclass(frozen=True, slots=True)
class Comparison:
    """A difference (a minus b) with its interval and tests.

    `effect` is the difference in standard deviations of the clusters, `mde` the smallest true difference that is
    found with power 0.8. `n` counts pairs or, unpaired, all items. `unbiased_a` and `unbiased_b` are the values of
    a model without any preference, where they depend on the number of items. `competence_low` is the lower of
    the two sides' values, and `above` and `below` are as in `Measure`.
    """

    a: Mapping[str, str]
    b: Mapping[str, str]
    metric: str
    group: Mapping[str, str]
    value_a: float | None = None
    value_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    p_bh: float | None = None
    effect: float | None = None
    n: int = 0
    clusters: int = 0
    mde: float | None = None
    mode: str = "corrected"
    design: str = "paired"
    why: str | None = None
    interpretable: bool | None = None
    doubt: str | None = None
    unbiased_a: float | None = None
    unbiased_b: float | None = None
    competence_low: float | None = None
    above: str | None = None
    below: str | None = None


View = Callable[[Contribution, str], Contribution]
Comparisons = Results[Comparison]


def compare(
    a: Scored,
    b: Scored,
    *,
    metrics: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    mode: str = "corrected",
    design: str = "paired",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparisons:
    """Differences between side a and side b (a minus b), with interval, p-values, effect size and power.

    The interval and the two-sided p-value are Student's, with the jackknife's standard error over clusters.

    Parameters:
        a: The scores of side a.
        b: The scores of side b.
        metrics: One metric or several; by default the main ones, such as LMS, SS and ICAT.
        by: One column or several to group by; by default, tasks one by one and together.
        mode: `corrected` or `paper`.
        design: `paired` (item by item, on common items) or `unpaired` (independent samples).
        resamples: How many times clusters are resampled where an interval needs it (values without an upper bound).
        seed: The seed of the resampling.

    Example:
        >>> ig.compare(ig.load("runs/mine"), ig.load("runs/other"), metrics="ss", by=[], resamples=200)[0].n
        96
    """
    settings = check_interval_settings(IntervalSettings(resamples=resamples, seed=seed))
    return compare_as(_as_it_is, (a, b), request=CompareRequest(metrics, by, mode, design, settings))


def _as_it_is(side: Contribution, metric: str) -> Contribution:
    return side


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """What is compared and how, as the arguments of `compare` say; without `metrics`, those of `also` too where they fit.

    `names` is what the sides are called where no column tells them apart.
    """

    metrics: str | Sequence[str] | None
    by: str | Sequence[str] | None
    mode: str
    design: str
    settings: IntervalSettings
    also: Sequence[str] = ()
    names: tuple[str, str] = ("A", "B")


def compare_as(view: View, both: tuple[Scored, Scored], *, request: CompareRequest) -> Comparisons:
    """As `compare`, but `difference`, its interval and p are those of the sides as `view` gives them."""
    check_mode(request.mode)
    a, b = both
    mode, settings = request.mode, request.settings
    a, b = check_scored(a, "compare"), check_scored(b, "compare")
    names = check_by(request.by, a.table.columns)
    sides = match_sides(a, b, design=request.design, names=request.names)
    chosen = registry.chosen("metric", request.metrics)
    rows = []
    for group, part in _groups(sides, names):
        competence = _competence(part, sides, request=request)
        fitting = chosen or fitting_metrics(part)
        shown = chosen or dict.fromkeys([*shown_metrics(fitting), *(name for name in request.also if name in fitting)])
        for name, metric in ((name, fitting[name]) for name in shown):
            nothing = Comparison(sides.a, sides.b, name, {**sides.shared, **group}, mode=mode, design=request.design)
            known = judge_both(name, competence)
            row = _compare_one(nothing, metric, part=part, settings=settings, view=view)
            rows.append(replace(row, interpretable=known.interpretable, doubt=known.doubt, competence_low=known.low))
    if not rows:
        raise IsoglossError("There is nothing to compare.")
    adjusted = zip(rows, adjust_p([row.p for row in rows]), strict=True)
    notes = (*sides.notes, *(_left_out(sides.table) if request.design == "paired" else ()))
    return Comparisons(tuple(replace(row, p_holm=holm, p_bh=bh) for row, (holm, bh) in adjusted), notes=notes)


def _competence(part: pl.DataFrame, sides: Sides, *, request: CompareRequest) -> dict[str, Competence]:
    """The competence of either side in a group; one with too few clusters is marked where its model and language are."""
    same = part.select(name for name in IDENTITY if name in part.columns).unique()
    competence = {}
    for side, names_of_side in (("a", sides.a), ("b", sides.b)):
        rows, whole = (make_part(table.filter(pl.col("side") == side)) for table in (part, sides.table))
        containing = make_part(whole.rows.join(same, on=same.columns, how="semi", nulls_equal=True))
        known = find_competence(rows, mode=request.mode, settings=request.settings, containing=containing)
        competence[", ".join(names_of_side.values())] = known
    return competence


def _groups(sides: Sides, by: Sequence[str] | None) -> Iterator[tuple[Group, pl.DataFrame]]:
    columns = list(dict.fromkeys(["dataset", *sides.matched, *(by or ())]))
    columns = [name for name in columns if name not in sides.a]
    if by is not None:
        yield from group_rows(sides.table, columns, keep_null=True)
        return
    for whole, part in group_rows(sides.table, columns, keep_null=False):
        tasks = list(group_rows(part, [*columns, "task"], keep_null=False)) if "task" in part.columns else []
        yield from tasks if len(tasks) > 1 else []
        yield (tasks[0] if len(tasks) == 1 else (whole, part))


def _compare_one(
    nothing: Comparison, metric: Metric, *, part: pl.DataFrame, settings: IntervalSettings, view: View
) -> Comparison:
    """`nothing` with the metric's difference over the part's items filled in."""
    contributions = _contributions(part, metric, mode=nothing.mode, paired=nothing.design == "paired")
    if contributions is None:
        return replace(nothing, why="no item of the group has all the roles on both sides")
    a, b = contributions
    if a.unbiased is not None and b.unbiased is not None:
        nothing = replace(nothing, unbiased_a=a.unbiased, unbiased_b=b.unbiased)
    below, above = a.groups or (None, None)
    nothing = replace(nothing, above=above, below=below)
    paired = nothing.design == "paired"
    value_a, value_b = (None if math.isnan(side.value) else side.value for side in contributions)
    n, clusters = (a.n, len(a.clusters)) if paired else (a.n + b.n, len(a.clusters) + len(b.clusters))
    row = replace(nothing, value_a=value_a, value_b=value_b, n=n, clusters=clusters)
    if value_a is None or value_b is None:
        return replace(row, why="the value is a division by zero here")
    a, b = view(a, nothing.metric), view(b, nothing.metric)
    result = (paired_test if paired else unpaired_test)(a, b, bounds=metric.bounds, settings=settings)
    return replace(row, difference=a.value - b.value, **asdict(result))


def _left_out(table: pl.DataFrame) -> list[str]:
    """A note on the items that have a score for more candidates on one side than on the other."""
    scored = table.filter(pl.col("value").is_not_null()).group_by("id", "side").len()
    uneven = scored.group_by("id").agg(pl.col("len").n_unique(), pl.len().alias("sides")).sort("id")
    ids = uneven.filter((pl.col("len") > 1) & (pl.col("sides") == 2))["id"]
    if not len(ids):
        return []
    items = f"1 item, '{ids[0]}', lacks" if len(ids) == 1 else f"{len(ids)} items, such as '{ids[0]}', lack"
    return [f"{items} a score on one side; metrics that need it leave it out on both"]


def _contributions(
    part: pl.DataFrame, metric: Metric, *, mode: str, paired: bool
) -> tuple[Contribution, Contribution] | None:
    """Both sides as the metric sees them; paired, of the items that it used on both, with the clusters in one order."""
    rows = part.filter((pl.col("quantity") == metric.quantity) & pl.col("value").is_not_null())
    if paired:  # of the items that have as many candidates with a score on one side as on the other
        counted = rows.filter(pl.col("role").is_in(metric.roles)) if metric.roles else rows
        counts = counted.group_by("id", "side").len().pivot(on="side", index="id", values="len")
        both = counts.filter(pl.col("a") == pl.col("b")) if {"a", "b"} <= set(counts.columns) else counts.clear()
        rows = rows.filter(pl.col("id").is_in(both["id"].to_list()))
    tables = [rows.filter(pl.col("side") == side) for side in "ab"]
    a, b = (contribution(metric, table, mode=mode) for table in tables)
    if not paired or a is None or b is None:
        return None if a is None or b is None else (a, b)
    ids = a.ids, b.ids
    if ids[0] != ids[1]:
        shared = sorted(ids[0] & ids[1])
        a, b = (contribution(metric, table, mode=mode, items=shared) for table in tables)
    if a is None or b is None or not set(a.clusters) & set(b.clusters):
        return None
    first, second = same_order([a, b])
    return first, second


def adjust_p(values: Sequence[float | None]) -> list[tuple[float | None, float | None]]:
    """Each p-value adjusted for all that were computed, by Holm and by Benjamini and Hochberg."""
    p = [value for value in values if value is not None]
    adjusted = iter(zip(adjust_holm(p), adjust_bh(p), strict=True))
    return [(None, None) if value is None else next(adjusted) for value in values]
