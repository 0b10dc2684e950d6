"""Measuring: scores in, estimates with n, ties, clusters and interval out, and the reason where there is none."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import polars as pl

from .. import registry
from ..errors import IsoglossError, UnknownName
from ..metrics import Contribution, Metric
from ..results import Results
from ..scores import KEY, Scored, check_scored
from ..stats import RESAMPLES
from .competence import Competence, find_competence, judge
from .groups import Part, check_by, check_rows, complete_rows, default_parts, make_part
from .intervals import Interval, IntervalSettings, check_interval_settings, find_interval
from .two_way import KIND, check_over, find_two_way

MODES = ("corrected", "paper")
COUNTED = {
    "unknown": "have tokens that the model does not know",
    "truncated": "were too long for the model and were cut",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """One value with its interval.

    `interpretable` is false below the competence limit, and None if that is unknown; `doubt` says why, and
    `competence_low` is the lower end that the limit of 60 applies to. `related_only` is SS on the items where both
    related candidates beat the unrelated one. `unbiased` and `homogeneous` are the expected values of a model
    without any preference, and of one with the same SS for every target, where they depend on the number of items
    per target.

    `interval` is jackknife, constant (all clusters agree), logarithm, bootstrap, bca or wilson. `above` and `below`
    are the groups favored on each side of the neutral value, where the data names them.
    """

    metric: str
    group: Mapping[str, str]
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    ties: int = 0
    clusters: int = 0
    mode: str = MODES[0]
    why: str | None = None
    interpretable: bool | None = None
    doubt: str | None = None
    unbiased: float | None = None
    homogeneous: float | None = None
    interval: str | None = None
    competence_low: float | None = None
    related_only: float | None = None
    above: str | None = None
    below: str | None = None


Measures = Results[Measure]


def measure(
    scored: Scored,
    *,
    metrics: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    mode: str = "corrected",
    interval: str = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
    over: str | None = None,
) -> Measures:
    """Every metric for every group, with n, ties and a 95 % interval.

    Parameters:
        scored: Scores, as `isogloss.score` or `isogloss.load` gives them.
        metrics: One metric or several; by default, all that fit the items.
        by: One column or several to group by; by default, tasks one by one and together.
        mode: `corrected` (a tie counts one half) or `paper` (as published).
        interval: `auto` (the jackknife over clusters), `bootstrap` (over clusters), `bca`, or `wilson` (independent
            items).
        resamples: How many times clusters are resampled, where an interval needs it.
        seed: The seed of the resampling.
        over: Extend intervals to new values of this column, such as the template that items share.

    Example:
        >>> measures = ig.measure(ig.load("runs/mine"), metrics="ss", by="category", resamples=200)
        >>> [(row.group["category"], row.n) for row in measures]
        [('gender', 20), ('profession', 34), ('race', 28), ('religion', 14)]
    """
    check_mode(mode)
    scored = check_scored(scored, "measure")
    names = check_by(by, scored.table.columns)
    table = check_rows(scored, variants="variant" in (names or ()))
    chosen = registry.chosen("metric", metrics)
    settings = check_interval_settings(IntervalSettings(interval, resamples, seed, over))
    if over is not None:
        check_over(table, over)
    rows = []
    for part in default_parts(table, names):
        measured = [
            _measure_one(Measure(name, part.group, mode=mode), metric, part=part, settings=settings)
            for name, metric in (chosen or fitting_metrics(part.rows)).items()
        ]
        measured = [_over_two(row, part, column=over, settings=settings) if over else row for row in measured]
        values = {
            row.metric: (row.value, Interval(row.low, row.high, row.interval or "", row.why))
            for row in measured
            if row.value is not None and interval != "wilson"  # which takes items for independent
        }
        competence = find_competence(part, mode=mode, settings=settings, measured=values)
        for row in measured:
            judgement = judge(row.metric, competence) if row.value is not None else Competence(None)
            rows.append(
                replace(row, interpretable=judgement.interpretable, doubt=judgement.doubt, competence_low=judgement.low)
            )
    measured_names = dict.fromkeys(row.metric for row in rows) if mode == MODES[0] else ()
    remarks = dict.fromkeys(note for name in measured_names for note in registry.get("metric", name).notes(table))
    notes = (*scored.notes, *_notes(table), *remarks, *interval_notes(rows))
    return Measures(tuple(rows), problem_counts(table, scored), notes)


def measure_with(
    settings: IntervalSettings,
    scored: Scored,
    *,
    metrics: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    mode: str = MODES[0],
) -> Measures:
    """As `measure`, with intervals as these settings say."""
    return measure(
        scored,
        metrics=metrics,
        by=by,
        mode=mode,
        interval=settings.kind,
        resamples=settings.resamples,
        seed=settings.seed,
        over=settings.over,
    )


def check_mode(mode: str) -> None:
    """Refuse a mode that does not exist."""
    if mode not in MODES:
        raise UnknownName("mode", mode, MODES)


def check_metrics(names: Sequence[str] | None) -> None:
    """Refuse a metric that does not exist."""
    for name in names or ():
        registry.get("metric", name)


def fitting_metrics(rows: pl.DataFrame) -> dict[str, Metric]:
    """The metrics that can be measured on a group's rows, in the order they are shown."""
    quantities, roles = set(rows["quantity"].unique()), set(rows["role"].unique())
    fitting = {
        name: metric
        for name, metric in registry.load_all("metric").items()
        if metric.quantity in quantities and set(metric.roles) <= roles and metric.fits(rows)
    }
    if not fitting:
        raise IsoglossError(f"No metric fits items with the roles {', '.join(sorted(map(str, roles)))}.")
    return dict(sorted(fitting.items(), key=lambda pair: (pair[1].order, pair[0])))


def contribution(
    metric: Metric, rows: pl.DataFrame | Part, *, mode: str, items: Sequence[str] | None = None
) -> Contribution | None:
    """What a group's rows, or those of some `items`, are to a metric; nothing when no item can be measured.

    They come sorted by cluster, so that an interval does not depend on the order of the runs.
    """
    part = rows if isinstance(rows, Part) else make_part(rows)
    if not metric.roles:
        chosen = part.rows.filter(pl.col("quantity") == metric.quantity).drop_nulls("value")
        table = chosen.sort("cluster", maintain_order=True)
    else:
        table = part.items(metric.quantity)
        if any(role not in table.columns for role in metric.roles):
            return None
        table = complete_rows(table, metric.roles)
    if items is not None:
        table = table.filter(pl.col("id").is_in(items))
    contributed = metric.contribute(table, mode) if table.height else None
    if contributed is None or not contributed.n:
        return None
    if contributed.items is not None:
        return contributed
    return replace(contributed, items=table["id"].unique())


def _measure_one(blank: Measure, metric: Metric, *, part: Part, settings: IntervalSettings) -> Measure:
    """`blank` with the metric's value over the part's items filled in."""
    contributed = contribution(metric, part, mode=blank.mode)
    if contributed is None:
        lacks = "all the roles" if metric.roles else "what this metric needs"
        return replace(blank, why=f"no item of the group has {lacks}")
    value, clusters = contributed.value, len(contributed.clusters)
    counted = replace(blank, value=value, n=contributed.n, ties=contributed.ties, clusters=clusters)
    counted = replace(counted, unbiased=contributed.unbiased, homogeneous=contributed.homogeneous)
    below, above = contributed.groups or (None, None)
    counted = replace(counted, above=above, below=below)
    counted = replace(counted, related_only=contributed.related_only)
    if math.isnan(value):
        return replace(counted, value=None, why="the value is a division by zero here")
    ends = find_interval(contributed, settings, bounds=metric.bounds)
    kind = ends.kind if ends.low is not None else None
    return replace(counted, low=ends.low, high=ends.high, why=ends.why, interval=kind)


def _over_two(row: Measure, part: Part, *, column: str, settings: IntervalSettings) -> Measure:
    """The measure with its interval over new clusters and new values of a column."""
    if row.value is None:
        return row

    def contribute(metric: Metric, chosen: Part) -> Contribution | None:
        return contribution(metric, chosen, mode=row.mode)

    metric = registry.get("metric", row.metric)
    ends = find_two_way(metric, part, column=column, contribute=contribute, settings=settings)
    return replace(row, low=ends.low, high=ends.high, why=ends.why, interval=KIND if ends.low is not None else None)


def interval_notes(rows: Iterable[Measure]) -> list[str]:
    """Which intervals are not the jackknife's; metrics of which all are of a kind, and those of which only some are."""
    kinds: dict[str, set[str]] = {}
    for row in rows:
        if row.interval is not None:
            kinds.setdefault(row.metric, set()).add(row.interval)
    texts = {
        "wilson": ("Wilson's: every item is its own cluster", "Wilson's where every item is its own cluster"),
        "constant": ("Wilson's over clusters: all clusters agree", "Wilson's over clusters where all clusters agree"),
    }
    notes = []
    for kind, (whole, partly) in texts.items():
        for text, alone in ((whole, True), (partly, False)):
            names = sorted(name for name, has in kinds.items() if kind in has and (has == {kind}) is alone)
            notes += [f"the intervals of {', '.join(names)} are {text}"] if names else []
    if any(KIND in has for has in kinds.values()):
        notes.append("the intervals are over two kinds of clusters at once")
    if any("bca" in has for has in kinds.values()):
        notes.append("the intervals are bias-corrected and accelerated (BCa)")
    return notes


def keep_metrics(measures: Measures, names: Sequence[str]) -> Measures:
    """The measures of these metrics only, with the remarks on their intervals."""
    rows = tuple(row for row in measures if row.metric in names)
    others = [note for note in measures.notes if note not in interval_notes(measures)]
    return replace(measures, rows=rows, notes=(*others, *interval_notes(rows)))


def problem_counts(table: pl.DataFrame, scored: Scored) -> dict[str, int]:
    """How many items each check found odd, and how many rows could not be read; each item counts once."""
    counts: dict[str, int] = {}
    if "problems" in table.columns:
        odd = table.select(*KEY, "problems").filter(pl.col("problems").list.len() > 0)
        odd = odd.unique(KEY).explode("problems").drop_nulls("problems")
        counts = {name: int(count) for name, count in odd["problems"].value_counts().sort("problems").iter_rows()}
    skipped = sum(scored.skipped.values())
    return counts | ({"unreadable": skipped} if skipped else {})


def _notes(table: pl.DataFrame) -> list[str]:
    """The caveats of the scores themselves: what could not be scored, unknown tokens, cut texts."""
    notes = []
    unscored = table.filter(pl.col("value").is_null())
    if unscored.height:
        items = unscored.select("model", *KEY).unique(maintain_order=True)
        reasons = ", ".join(sorted(set(unscored["why"].drop_nulls())))
        why = f" ({reasons})" if reasons else ""
        where = _by_language(items, table)
        notes.append(f"{items.height} items lack a score{where}, such as '{items['id'][0]}', and were left out{why}")
    for column, what in COUNTED.items():
        rows = table.filter(pl.col(column).cast(pl.Boolean)).select("model", *KEY, "candidate").unique()
        if rows.height:
            notes.append(f"{rows.height} candidates {what}{_by_language(rows, table)}")
    return notes


def _by_language(rows: pl.DataFrame, table: pl.DataFrame) -> str:
    """How many rows each language has, where the table has several languages."""
    if table["language"].n_unique() < 2:
        return ""
    counts = rows["language"].value_counts().sort("language").iter_rows()
    return f" ({', '.join(f'{tag} {count}' for tag, count in counts)})"


def by_group(measures: Measures) -> Iterator[tuple[dict[str, str], list[Measure]]]:
    """Measures of the same group."""
    for group, rows in groupby(measures, key=lambda row: dict(row.group)):
        yield group, list(rows)
