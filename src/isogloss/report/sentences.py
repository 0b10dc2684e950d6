"""Measures in plain words that never claim more than the interval allows."""

from __future__ import annotations

from ..measures import Measure, Measures
from .tables import metric_name


def explain_measure(row: Measure, neutral: float) -> str:
    """One measure as a sentence: the value, its interval, and whether it can be told from the neutral point."""
    name = f"{metric_name(row.metric)} {row.value:.1f}" if row.value is not None else metric_name(row.metric)
    if row.value is None or row.low is None or row.high is None:
        return f"{name}, n = {row.n}: no interval ({row.why})"
    range_ = f"95 % CI {row.low:.1f}-{row.high:.1f}, n = {row.n}"
    if row.low <= neutral <= row.high:
        return f"{name}, {range_}: not distinguishable from {neutral:g}"
    side = "above" if row.value > neutral else "below"
    return f"{name}, {range_}: {side} {neutral:g}"


def explain_measures(measures: Measures) -> str:
    """What the stereotype scores of a table say, group by group, and what they do not say."""
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


def _only_task(measures: Measures, row: Measure) -> bool:
    without = {key: value for key, value in row.group.items() if key != "task"}
    return not any(dict(other.group) == without for other in measures)
