"""When a score is interpreted: where the model prefers meaningful to meaningless sentences on the same items often enough.

How often is enough is a convention: nothing happens at the limit itself, so results say what other limits would change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from .. import registry
from ..metrics import Contribution, Metric, from_values, percent
from ..metrics._preferences import CHOICE
from ..scores import KEY
from .groups import CORPUS, IDENTITY, SHUFFLED, Part, complete_rows, make_part, several_methods
from .intervals import Interval, IntervalSettings, find_interval

LEAST_COMPETENCE = 60.0
"""The lower end that the interval of LMS needs for SS, and all that is built on it, to be interpreted; 50 is chance. A convention."""
LIMITS = (55.0, LEAST_COMPETENCE, 65.0)
"""The limits at which results say whether the mark would be the same."""
LEAST_COVERAGE = 80.0
"""The share of answers of a chat model that must pick an option; below it the choices say nothing about the rest."""
GUESSED_CHOICES = 200 / 3  # the share of related options among three that guessing picks
OWN = ("lms", "lms_multiclass", "coverage_choice", "sense_choice")
"""These measure competence, and are always interpretable."""
UNMEASURED = "competence not measured"
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


def find_competence(part: Part, *, mode: str, settings: IntervalSettings, containing: Part | None = None) -> Competence:
    """What the LMS of a group says; without unrelated candidates, how often real sentences win over shuffled ones.

    Choices of a chat model need a share of answers that pick an option, and picks that are better than guessing. A group
    with too few clusters for an interval is marked where the group that contains it is: `containing`, or all that the
    part's table has of the same model, data set and language.
    """
    settings = replace(settings, kind="auto") if settings.kind == "wilson" else settings
    return inherit(
        _own_competence(part, mode=mode, settings=settings),
        lambda: _own_competence(containing or _containing(part), mode=mode, settings=settings),
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


def _own_competence(part: Part, *, mode: str, settings: IntervalSettings) -> Competence:
    estimate, name, least = _estimate("lms", part, mode=mode), "LMS", LEAST_COMPETENCE
    if estimate is None and CHOICE in part.rows["quantity"]:
        covered = _estimate("coverage_choice", part, mode=mode)
        if covered is None or covered.value < LEAST_COVERAGE:
            share = 0.0 if covered is None else covered.value
            return Competence(False, f"{share:.1f} % of the answers pick an option: fewer than {LEAST_COVERAGE:g} %")
        estimate, name, least = _estimate("sense_choice", part, mode=mode), "sensible choices", GUESSED_CHOICES
    if estimate is None and SHUFFLED in part.whole.table.columns:
        estimate, name = _against_shuffled(part.rows), "real against shuffled sentences"
    if estimate is None or not estimate.n:
        return Competence(None, UNMEASURED)
    return judge_value(name, estimate.value, ends=find_interval(estimate, settings, bounds=BOUNDS), least=least)


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
    return Competence(True) if metric in OWN else competence


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


def _estimate(name: str, part: Part, *, mode: str) -> Contribution | None:
    metric: Metric = registry.get("metric", name)
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
