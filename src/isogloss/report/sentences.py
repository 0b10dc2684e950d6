"""Numbers in plain words that never claim more than their interval allows."""

from __future__ import annotations

from .. import registry
from ..analysis.comparisons import Comparison
from ..analysis.gates import Verdict
from ..analysis.measures import Measure, Measures
from .comparing import p_value, side_name
from .tables import metric_name

LEVEL = 0.05


def explain_measure(row: Measure, neutral: float | None = None) -> str:
    """One measure as a sentence: the value, its interval, and whether it can be told from the neutral point.

    Without a neutral point, that of the metric is taken; a metric that has none is only stated.
    """
    name = f"{metric_name(row.metric)} {row.value:.1f}" if row.value is not None else metric_name(row.metric)
    if row.value is None or row.low is None or row.high is None:
        return f"{name}, n = {row.n}: no interval ({row.why})"
    range_ = f"95 % CI {row.low:.1f}-{row.high:.1f}, n = {row.n}"
    if neutral is None:
        neutral = registry.get("metric", row.metric).neutral
    if neutral is None:
        return f"{name}, {range_}"
    if row.low <= neutral <= row.high:
        return f"{name}, {range_}: not distinguishable from {neutral:g}"
    side = "above" if row.value > neutral else "below"
    return f"{name}, {range_}: {side} {neutral:g}"


def explain_measures(measures: Measures) -> str:
    """What the values of a table say, group by group, and what they do not say."""
    if all(row.metric not in ("ss", "lms") for row in measures):
        return _explain_others(measures)
    lines = []
    for row in measures:
        if (row.metric == "ss" and "task" not in row.group) or (row.metric == "ss" and _only_task(measures, row)):
            place = ", ".join(row.group[key] for key in ("model", "language") if key in row.group)
            lines.append(f"{place}: {explain_measure(row, 50)}.")
    meaning = (
        "SS is the share of items on which the model finds the stereotype more probable than the anti-stereotype: 50 is no "
        "preference. LMS is the share on which it tells sense from nonsense: near 50 the model does not know the language "
        "well enough for SS to mean anything. None of this says how the model behaves in use."
    )
    return "\n".join([*lines, meaning])


def _explain_others(measures: Measures) -> str:
    """Every measure as a sentence, and what each of their metrics says of itself."""
    lines = []
    for row in measures:
        place = ", ".join(row.group[key] for key in ("model", "language") if key in row.group)
        lines.append(f"{place}: {explain_measure(row)}.")
    names = dict.fromkeys(row.metric for row in measures)
    return "\n".join([*lines, *(f"{metric_name(name)}: {registry.get('metric', name).caution}" for name in names)])


def _only_task(measures: Measures, row: Measure) -> bool:
    without = {key: value for key, value in row.group.items() if key != "task"}
    return not any(dict(other.group) == without for other in measures)


def explain_comparison(row: Comparison) -> str:
    """One comparison as a sentence; a difference is claimed only when its adjusted p and its interval both say so."""
    where = "".join(f"{row.group[key]}, " for key in row.group if key not in ("dataset", "model", "method"))
    name = f"{where}{metric_name(row.metric)}"
    if row.difference is None or row.value_a is None or row.value_b is None:
        return f"{name}: no difference can be given ({row.why})."
    values = f"{name}: {row.value_a:.1f} for {side_name(row.a)} and {row.value_b:.1f} for {side_name(row.b)}"
    count = f"n = {row.n} {'pairs' if row.design == 'paired' else 'items'}"
    if row.low is None or row.high is None:
        return f"{values}, difference {row.difference:+.1f}, p {_p(row.p)} ({_p(row.p_holm)} adjusted), {count}; no interval ({row.why})."
    numbers = f"difference {row.difference:+.1f}, 95 % CI {row.low:+.1f} to {row.high:+.1f}, p {_p(row.p)} ({_p(row.p_holm)} adjusted), {count}"
    return f"{values}; {numbers}: {_verdict(row)}."


def _p(p: float | None) -> str:
    shown = p_value(p)
    return shown.replace("<", "< ") if shown.startswith("<") else f"= {shown}"


def _verdict(row: Comparison) -> str:
    """What may be said: a difference, a hint that does not hold for all tests, or none; then what could have been seen."""
    low, high = row.low or 0.0, row.high or 0.0
    apart = low > 0 or high < 0
    if apart and row.p_holm is not None and row.p_holm <= LEVEL:
        return "they differ"
    if apart and row.p is not None and row.p <= LEVEL:
        return "a hint, not a finding: it does not survive the correction for all tests made here"
    if row.mde is None:
        return "the two sides cannot be told apart"
    return f"they cannot be told apart; a true difference below {row.mde:.1f} points would often be missed"


def explain_verdict(verdict: Verdict) -> str:
    """One verdict as a line: passed or failed, the measure, and what the limit is."""
    row, limit = verdict.measure, verdict.limit
    place = ", ".join(row.group[key] for key in ("model", "language") if key in row.group)
    place = ", ".join(
        [place, *(value for key, value in row.group.items() if key in limit.where and key not in ("model", "language"))]
    )
    ends = [
        f"at least {limit.low:g}" if limit.low is not None else "",
        f"at most {limit.high:g}" if limit.high is not None else "",
    ]
    wanted = " and ".join(end for end in ends if end)
    said = {
        "kept": f"keeps the limit ({wanted})",
        "broken": f"breaks the limit ({wanted})",
        "unclear": f"the interval reaches both sides of the limit ({wanted})",
    }[verdict.status]
    value = f"{metric_name(row.metric)} {row.value:.1f}"
    if row.low is None or row.high is None:
        return f"{'passed' if verdict.passed else 'FAILED'}  {place}: {value}, n = {row.n}, no interval ({row.why}), so the value alone decides: {said}"
    return f"{'passed' if verdict.passed else 'FAILED'}  {place}: {value}, 95 % CI {row.low:.1f}-{row.high:.1f}, n = {row.n}: {said}"
