"""When a score is interpreted: where the model prefers meaningful to meaningless sentences on the same items often enough.

How often is enough is a convention: nothing happens at the limit itself, so results say what other limits would change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from .. import registry
from ..items import group_by
from ..metrics import Contribution, Metric, from_values, percent
from ..metrics._preferences import LEAST_COMPETENCE as LEAST_COMPETENCE
from ..scores import KEY
from .groups import CONTROLLED, CORPUS, IDENTITY, SHUFFLED, Part, complete_rows, make_part, several_methods
from .intervals import Interval, IntervalSettings, find_interval

LIMITS = (55.0, LEAST_COMPETENCE, 65.0)
"""The limits at which results say whether the mark would be the same."""
UNMEASURED = "competence not measured"
NO_CONTROLS = (
    "shuffled controls do not measure the competence of scores that compare two sentences with each other; "
    "score with a method that scores each sentence by itself, such as pll"
)
NO_INTERVAL = "has no interval"
DEPENDS = "depends on the limit"
BOUNDS = (0.0, 100.0)


@dataclass(frozen=True, slots=True)
class Competence:
    """Whether a group's scores can be interpreted (None: not known), and why not.

    `low` is the lower end that was compared with the limit, where the limit is one of `LIMITS`.
    """

    interpretable: bool | None
    doubt: str | None = None
    low: float | None = None


def find_competence(
    part: Part,
    *,
    mode: str,
    settings: IntervalSettings,
    measured: Mapping[str, tuple[float, Interval]] | None = None,
    containing: Part | None = None,
) -> Competence:
    """What the measures of competence of a group say; without any, how often real sentences win over shuffled ones.

    LMS decides where it can be measured. Questions are judged by their control questions, where these were scored. Choices of a chat model need a share of answers that pick an option, and picks
    that are above the chance level. Values with intervals that were `measured` already are not computed again. A group
    with too few clusters for an interval is marked where the group that contains it is: `containing`, or all that the
    part's table has of the same model, data set and language.
    """
    settings = replace(settings, kind="auto") if settings.kind == "wilson" else settings
    return inherit(
        _own_competence(part, mode=mode, settings=settings, measured=measured or {}),
        lambda: _own_competence(containing or _containing(part), mode=mode, settings=settings, measured={}),
    )


def inherit(own: Competence, of_containing: Callable[[], Competence]) -> Competence:
    """The competence of a group, or the mark of the group that contains it where its own has no interval."""
    if own.interpretable is not None or own.doubt == UNMEASURED:
        return own
    whole = of_containing()
    if whole.interpretable is not False or NO_INTERVAL in str(whole.doubt):
        return own
    return replace(whole, doubt=f"of all items, {whole.doubt}")


def _containing(part: Part) -> Part:
    """All rows of the part's table with the same model, data set and language; of several methods, the part's."""
    first = part.rows.head(1)
    rows = part.whole.table.filter(pl.all_horizontal(pl.col(name) == first[name][0] for name in IDENTITY))
    names = ["model", "method", *KEY, "candidate", "against", "quantity", "prompt", CORPUS]
    rows = rows.unique(
        [name for name in names if name in rows.columns], maintain_order=True
    )  # an item of several groups
    return make_part(
        rows.filter(pl.col("method").is_in(part.rows["method"].unique())) if several_methods(rows) else rows
    )


def _own_competence(
    part: Part, *, mode: str, settings: IntervalSettings, measured: Mapping[str, tuple[float, Interval]]
) -> Competence:
    for metrics in _limited_metrics(frozenset(part.rows["quantity"].unique())):
        judged = None
        limits = {name: metric.limit for name, metric in metrics.items() if metric.limit is not None}
        for name, metric in metrics.items():
            limit = limits[name]
            controlled = None if limit.shortfall else _of_controls(metric, part, mode=mode, settings=settings)
            competence = controlled or measured.get(name) or _value(metric, part, mode=mode, settings=settings)
            if limit.shortfall and (competence is None or competence[0] < limit.least):
                value = 0.0 if competence is None else competence[0]
                return Competence(False, limit.shortfall.format(value=value, least=limit.least))
            if competence is None or limit.shortfall:
                continue
            whose = f"{limit.name} of the control questions" if controlled else limit.name
            judged = judge_value(whose, competence[0], ends=competence[1], least=limit.least)
            if not judged.interpretable:
                return judged
        if judged is not None:
            return judged
    estimate = _against_shuffled(part.rows) if SHUFFLED in part.whole.table.columns else None
    if estimate is None or not estimate.n:
        paired = SHUFFLED in part.whole.table.columns and part.rows["against"].null_count() < part.rows.height
        return Competence(None, NO_CONTROLS if paired else UNMEASURED)
    ends = find_interval(estimate, settings, bounds=BOUNDS)
    return judge_value("real against shuffled sentences", estimate.value, ends=ends)


def _limited_metrics(quantities: frozenset[str]) -> list[dict[str, Metric]]:
    """The measures of competence of each quantity, in the order in which they are asked."""
    ordered = sorted(registry.load_all("metric").items(), key=lambda pair: (pair[1].order, pair[0]))
    limited = [pair for pair in ordered if pair[1].limit is not None and pair[1].quantity in quantities]
    return [dict(pairs) for pairs in group_by(limited, lambda pair: pair[1].quantity).values()]


def _value(metric: Metric, part: Part, *, mode: str, settings: IntervalSettings) -> tuple[float, Interval] | None:
    estimate = _estimate(metric, part, mode=mode)
    if estimate is None or not estimate.n:
        return None
    return estimate.value, find_interval(estimate, settings, bounds=metric.bounds)


def _of_controls(metric: Metric, part: Part, *, mode: str, settings: IntervalSettings) -> tuple[float, Interval] | None:
    """A measure of competence on control questions, which are about people without a group; none where there are none."""
    if metric.roles or CONTROLLED not in part.rows.columns:
        return None
    rows = part.rows.filter(pl.col("quantity") == metric.quantity).drop_nulls(CONTROLLED)
    rows = rows.with_columns(value=pl.col(CONTROLLED)).sort("cluster", maintain_order=True)
    estimate = metric.contribute(rows, mode) if rows.height and metric.fits(rows) else None
    if estimate is None or not estimate.n:
        return None
    return estimate.value, find_interval(estimate, settings, bounds=metric.bounds)


def judge_value(name: str, value: float, *, ends: Interval, least: float = LEAST_COMPETENCE) -> Competence:
    """What a measure of competence with its interval says."""
    text = f"{name} {value:.1f}"
    if ends.low is None or ends.high is None:
        return Competence(False if value < least else None, f"{text} {NO_INTERVAL}: {ends.why}")
    low = ends.low if least in LIMITS else None
    if ends.low >= least:
        return Competence(True, low=low)
    return Competence(False, f"{text}, {ends.low:.1f} to {ends.high:.1f}: its lower end is below {least:.3g}", low)


def at_limit(interpretable: bool | None, low: float | None, *, limit: float) -> bool | None:
    """Whether a score with this lower end of competence would be interpreted at another limit."""
    return interpretable if low is None else low >= limit


def state_of(low: float | None) -> str | None:
    """At which of the limits a score is interpreted: at all, at none, or depending on the limit."""
    if low is None:
        return None
    first, *rest = (f"{limit:g}" for limit in LIMITS)
    if low >= max(LIMITS):
        return f"holds at {', '.join([first, *rest[:-1]])} and {rest[-1]}"
    return "at none" if low < min(LIMITS) else DEPENDS


def judge(metric: str, competence: Competence) -> Competence:
    """The competence that a metric depends on."""
    return competence if registry.get("metric", metric).competence else Competence(True)


def judge_both(metric: str, sides: Mapping[str, Competence]) -> Competence:
    """The competence behind a difference: that of the weaker side, which is named."""
    judgements = {name: judge(metric, side) for name, side in sides.items()}
    low = min((known.low for known in judgements.values() if known.low is not None), default=None)
    for verdict in (False, None):
        doubts = {name: known.doubt for name, known in judgements.items() if known.interpretable is verdict}
        if doubts:
            text = "; ".join(f"{name}: {doubt}" for name, doubt in doubts.items())
            return Competence(verdict, UNMEASURED if set(doubts.values()) == {UNMEASURED} else text, low)
    return Competence(True, low=low)


def _estimate(metric: Metric, part: Part, *, mode: str) -> Contribution | None:
    if not metric.roles:
        rows = part.rows.filter(pl.col("quantity") == metric.quantity).drop_nulls("value")
        fitting = rows.height and metric.fits(rows)
        return metric.contribute(rows.sort("cluster", maintain_order=True), mode) if fitting else None
    if part.whole.items_of(metric.quantity) is None and not set(metric.roles) <= part.roles:
        return None
    items = part.items(metric.quantity)
    whole = complete_rows(items, metric.roles) if set(metric.roles) <= set(items.columns) else items.clear()
    return metric.contribute(whole, mode) if whole.height else None


def _against_shuffled(rows: pl.DataFrame) -> Contribution | None:
    """Per candidate that has a shuffled control: whether the real sentence scores higher, a tie being one half."""
    both = rows.drop_nulls(["value", SHUFFLED]).sort("cluster", maintain_order=True)
    if not both.height:
        return None
    won = (both["value"] > both[SHUFFLED]).cast(pl.Float64) + 0.5 * (both["value"] == both[SHUFFLED]).cast(pl.Float64)
    return from_values(won.to_numpy(), both["cluster"], finish=percent)
