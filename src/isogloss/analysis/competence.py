"""When a score can be interpreted: only where the model reliably prefers meaningful to meaningless sentences on the same items."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from .. import registry
from ..metrics import Contribution, Metric, from_values, percent
from ..metrics._preferences import CHOICE
from .groups import SHUFFLED, Part, complete_rows
from .intervals import Interval, IntervalSettings, find_interval

LEAST_COMPETENCE = 60.0
"""The lower end that the interval of LMS needs; 50 is guessing. Below it SS and all that is built on it say nothing."""
LEAST_COVERAGE = 80.0
"""The share of answers of a chat model that must pick an option; below it the choices say nothing about the rest."""
GUESSED_CHOICES = 200 / 3  # the share of related options among three that guessing picks
OWN = ("lms", "lms_multiclass", "coverage_choice", "sense_choice")
"""These measure competence, and are always interpretable."""
UNMEASURED = "competence not measured"
BOUNDS = (0.0, 100.0)


@dataclass(frozen=True, slots=True)
class Competence:
    """Whether a group's scores can be interpreted (None: not known), and why not."""

    interpretable: bool | None
    doubt: str | None = None


def find_competence(part: Part, *, mode: str, settings: IntervalSettings) -> Competence:
    """What the LMS of a group says; without unrelated candidates, how often real sentences win over shuffled ones.

    Choices of a chat model need a share of answers that pick an option, and picks that are better than guessing.
    """
    settings = replace(settings, kind="auto") if settings.kind == "wilson" else settings
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
        return Competence(False if value < least else None, f"{text} has no interval: {ends.why}")
    if ends.low >= least:
        return Competence(True)
    return Competence(False, f"{text}, {ends.low:.1f} to {ends.high:.1f}: its lower end is below {least:.3g}")


def judge(metric: str, competence: Competence) -> Competence:
    """The competence that a metric depends on."""
    return Competence(True) if metric in OWN else competence


def judge_both(metric: str, sides: Mapping[str, Competence]) -> Competence:
    """The competence behind a difference: that of the weaker side, which is named."""
    judgements = {name: judge(metric, side) for name, side in sides.items()}
    for verdict in (False, None):
        doubts = {name: known.doubt for name, known in judgements.items() if known.interpretable is verdict}
        if doubts:
            text = "; ".join(f"{name}: {doubt}" for name, doubt in doubts.items())
            return Competence(verdict, UNMEASURED if set(doubts.values()) == {UNMEASURED} else text)
    return Competence(True)


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
