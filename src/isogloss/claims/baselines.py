"""Baselines: whether a model is worse than another one, such as the last release, by more than a margin."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from .. import languages, registry
from ..analysis.alignment import distance_from
from ..analysis.comparisons import CompareRequest, Comparison, Comparisons, compare_as
from ..analysis.competence import LEAST_COMPETENCE, LIMITS, at_limit
from ..analysis.differences import EQUAL
from ..analysis.groups import check_rows
from ..analysis.intervals import IntervalSettings, check_interval_settings
from ..errors import IsoglossError
from ..metrics import Contribution, Metric
from ..scores import KEY, Scored
from ..stats import RESAMPLES
from .evidence import ClaimPart, short_title
from .language import CHANGE, relations
from .verdicts import CONTRADICTED, NOT_INTERPRETABLE, NOT_TESTABLE, SUPPORTED, UNDECIDED, ClaimsFile, ClaimVerdict

BASELINE = "the baseline"
MARGIN = 2.0


def check_margins(file: ClaimsFile, margin: float | None) -> None:
    """Refuse one margin for every metric beside the margins of a file."""
    if margin is not None and file.margins:
        source = file.path or "the claims"
        raise IsoglossError(
            f"{source} has 'margins' of its own. Leave out `margin`, or delete 'margins' from the file."
        )


def without_baseline(file: ClaimsFile) -> list[ClaimVerdict]:
    """A verdict on each metric with a margin, where there is no baseline that it could be tested against."""
    reason = "it needs the scores of a baseline"
    return [
        ClaimVerdict(f"{short_title(name)} against the baseline", NOT_TESTABLE, reason, _says(name, margin))
        for name, margin in file.margins.items()
    ]


def check_baseline(
    scored: Scored, baseline: Scored, *, file: ClaimsFile, margin: float = MARGIN, resamples: int = RESAMPLES
) -> tuple[list[ClaimVerdict], tuple[str, ...]]:
    """Whether each metric is worse than in the baseline by at most its margin of the file, or by at most `margin` points.

    A file with margins names the metrics; otherwise they are the headlines and those of the file's claims, and a file that
    only limits changes gets no other verdict. What is worse is what the metric says: lower, higher, or farther from the
    neutral point. Items are compared in pairs where at least half of them are on both sides. What only the baseline has
    is not testable. The notes say what else was left out.
    """
    missing, baseline = _split_missing(scored, baseline)
    formulas = [claim.formula for claim in file.claims if claim.formula is not None]
    compared = [part for formula in formulas for part in relations(formula)]
    named = list(file.margins) or [part.left.metric for part in compared if part.kind != CHANGE]
    if not baseline.table.height or (compared and not named):
        return missing, ()
    rows = _compare(scored, baseline, file=file, named=list(dict.fromkeys(named)), resamples=resamples)
    margins = {row.metric: file.margins.get(row.metric, margin) for row in rows}
    verdicts = [_judge(row, margin=margins[row.metric], least=file.min_n) for row in rows]
    for limit in (limit for limit in LIMITS if limit != LEAST_COMPETENCE):
        others = [
            replace(row, interpretable=at_limit(row.interpretable, row.competence_low, limit=limit)) for row in rows
        ]
        again = [_judge(row, margin=margins[row.metric], least=file.min_n).status for row in others]
        verdicts = [
            replace(verdict, limits={**verdict.limits, f"{limit:g}": status})
            for verdict, status in zip(verdicts, again, strict=True)
        ]
    absent = [
        ClaimVerdict(f"{short_title(name)} against the baseline", NOT_TESTABLE, "no scores have this metric", "")
        for name in dict.fromkeys(named)
        if name not in margins
    ]
    return [*verdicts, *absent, *missing], rows.notes


def _compare(
    scored: Scored, baseline: Scored, *, file: ClaimsFile, named: Sequence[str], resamples: int
) -> Comparisons:
    """The metrics of each group that are checked: the named ones and, in a file without margins, the headlines."""
    items = [side.table.select(KEY).unique() for side in (scored, baseline)]
    both = items[0].join(items[1], on=KEY, how="semi", nulls_equal=True).height
    design = "paired" if 2 * both >= min(side.height for side in items) else "unpaired"
    settings = check_interval_settings(IntervalSettings(resamples=resamples))
    names = ("these runs", "the baseline")
    request = CompareRequest(None, [], file.mode, design, settings, also=named, names=names)
    rows = compare_as(_distance, (scored, baseline), request=request)
    if not named:
        return rows
    kept = [row for row in rows if row.metric in named or (not file.margins and _is_headline(row.metric))]
    return replace(rows, rows=tuple(kept))


def _is_headline(metric: str) -> bool:
    plugin: Metric = registry.get("metric", metric)
    return plugin.headline is not None


def _says(metric: str, margin: float) -> str:
    return f"{short_title(metric)} at most {margin:g} worse"


def _distance(side: Contribution, metric: str) -> Contribution:
    """The side's distance from the neutral point, whose kink has pieces; the value itself where more is better."""
    neutral = _neutral(metric)
    return side if neutral is None else distance_from(side, neutral)


def _neutral(metric: str) -> float | None:
    """The neutral point of a metric without a better and a worse direction."""
    plugin: Metric = registry.get("metric", metric)
    return plugin.neutral if plugin.better is None else None


def _split_missing(scored: Scored, baseline: Scored) -> tuple[list[ClaimVerdict], Scored]:
    """A verdict on each data set, language, task or model that only the baseline has, and the rest of the baseline."""
    now, before = check_rows(scored), check_rows(baseline)
    columns = ["dataset", "language"]
    columns += [name for name in ("task",) if name in now.columns and name in before.columns]
    columns += ["model"] if max(table["model"].n_unique() for table in (now, before)) > 1 else []
    lost = before.join(now, on=columns, how="anti", nulls_equal=True).select(columns).unique().sort(columns)
    names: list[str] = []
    for column in columns:
        whole = lost.join(now, on=column, how="anti", nulls_equal=True)[column].drop_nulls().unique().sort()
        names += map(str, whole)
        lost = lost.filter(~pl.col(column).is_in(whole.to_list()).fill_null(False))
    names += [", ".join(str(value) for value in row if value is not None) for row in lost.iter_rows()]
    table = baseline.table.join(now, on=columns, how="semi", nulls_equal=True, maintain_order="left")
    verdicts = [
        ClaimVerdict(f"{name} against the baseline", NOT_TESTABLE, f"{name} is in the baseline, not in these runs", "")
        for name in names
    ]
    return verdicts, replace(baseline, table=table)


def worsening(row: Comparison) -> tuple[float | None, float | None, float | None]:
    """How much worse side a is than side b, with the interval: farther from the neutral point, or lower where more is better.

    The side of the neutral point is never taken from the estimates: both releases share the targets' chance, and where both land
    on the wrong side of it, a change for the worse would read as one for the better.
    """
    metric: Metric = registry.get("metric", row.metric)
    if row.difference is None or not metric.directed:
        return None, None, None
    if metric.better != "higher":  # the lowest value, or the lowest distance, is the best
        return row.difference, row.low, row.high
    low, high = (None if end is None else -end for end in (row.high, row.low))
    return -row.difference, low, high


def _judge(row: Comparison, *, margin: float, least: int) -> ClaimVerdict:
    """Supported where the whole interval is below the margin, contradicted where it is above."""
    value, low, high = worsening(row)
    where = {**row.group, **row.a}
    names = [value for name, value in where.items() if name in ("model", "language")]
    short = short_title(row.metric)
    language = f" in {languages.describe(where['language']).name}" if "language" in where else ""
    subject = f"{short} of {where['model']}{language}" if "model" in where else f"{short}{language}"
    neutral = _neutral(row.metric)
    part = ClaimPart(subject, BASELINE, -1, margin, row.value_a, row.value_b, value, low, high)
    part = replace(part, n=row.n, clusters=row.clusters, mde=row.mde, design=row.design)
    part = replace(part, interpretable=row.interpretable, doubt=row.doubt)
    part = part if neutral is None else replace(part, scale=f"distance from {neutral:g}")
    reasons: Sequence[tuple[bool, str, str]] = (  # the first that holds decides
        (row.difference is None, NOT_TESTABLE, f"no value ({row.why})"),
        (value is None, NOT_TESTABLE, "the metric has no better and worse"),
        (row.interpretable is False, NOT_INTERPRETABLE, str(row.doubt)),
        (row.n < least, NOT_TESTABLE, f"{row.n} items are too few (at least {least} are needed)"),
        (row.why == EQUAL, SUPPORTED, "the two sides never differ"),
        (low is None, UNDECIDED, f"no interval ({row.why})"),
        (high is not None and high <= margin, SUPPORTED, "the whole interval agrees"),
        (low is not None and low > margin, CONTRADICTED, "the whole interval says the opposite"),
        (True, UNDECIDED, "the interval includes the margin"),
    )
    status, reason = next((status, reason) for holds, status, reason in reasons if holds)
    name = ", ".join([f"{short} against the baseline", *names])
    mde = row.mde if status == UNDECIDED else None
    return ClaimVerdict(name, status, reason, _says(row.metric, margin), part=part, parts=1, mde=mde, mode=row.mode)
