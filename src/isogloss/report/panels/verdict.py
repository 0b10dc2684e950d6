"""The verdict: what the numbers say in two sentences, each with its uncertainty."""

from __future__ import annotations

from collections.abc import Sequence

from ... import registry
from ...analysis.measures import Measure
from ..findings import Findings, datasets, distinct, headline, whole
from ..fragments import Panel, ends, panel, plain_name, short, side, subject
from ..tables import metric_name

LITTLE_SENSE = 60  # LMS of 50 is chance; below this, SS says little about stereotypes


def draw(found: Findings) -> Panel | None:
    """Two sentences for each data set, what to mind, and what was looked at."""
    said = [
        {"dataset": name, "sentences": sentences(rows), "mind": mind(rows)}
        for name, rows in datasets(whole(found.overall)).items()
    ]
    return panel("verdict", "In two sentences", said=said, facts=_facts(found)) if said else None


def sentences(rows: Sequence[Measure]) -> list[str]:
    """What can be said of one data set: how many lie apart from neutral, and between which ends."""
    name = headline([row.metric for row in rows])
    neutral = registry.get("metric", name).neutral
    there = [row for row in rows if row.metric == name and row.value is not None]
    if not there:
        return ["No value could be measured."]
    ordered = sorted(there, key=lambda row: row.value or 0.0)
    if len(there) == 1:
        return [f"{_named(there[0])}: {_value(there[0])}.", f"That is {_place(there[0], neutral)}."]
    ends_ = f"{metric_name(name)} is highest for {_named(ordered[-1])} ({_value(ordered[-1])}) and lowest for {_named(ordered[0])} ({_value(ordered[0])})."
    return [_counted(there, neutral), ends_]


def _counted(rows: Sequence[Measure], neutral: float | None) -> str:
    name = metric_name(rows[0].metric)
    pairs = f"{len(rows)} pairs of a model and a language"
    if neutral is None:
        return f"{name} was measured for {pairs}."
    counts = {place: sum(side(row, neutral) == place for row in rows) for place in ("above", "below", "unclear", "")}
    words = {
        "above": f"{counts['above']} {_lie(counts['above'])} above {neutral:g}",
        "below": f"{counts['below']} {'' if counts['above'] else _lie(counts['below']) + ' '}below {neutral:g}",
        "unclear": f"{counts['unclear']} cannot be told from {neutral:g}",
        "": f"{counts['']} {'has' if counts[''] == 1 else 'have'} no interval",
    }
    parts = [words[place] for place in words if counts[place]]
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    meaning = "no preference" if rows[0].metric == "ss" else "neutral"
    return f"Of {pairs}, {listed} ({name}: {neutral:g} is {meaning}; 95 % intervals)."


def _lie(count: int) -> str:
    return "lies" if count == 1 else "lie"


def _place(row: Measure, neutral: float | None) -> str:
    if neutral is None or row.low is None or row.high is None:
        return f"all that can be said: {row.why or 'the metric has no neutral point'}"
    words = {
        "above": f"above {neutral:g}, more than chance over the choice of items explains",
        "below": f"below {neutral:g}, more than chance over the choice of items explains",
        "unclear": f"not distinguishable from {neutral:g}, which is not the same as equal to it",
    }
    return words[side(row, neutral)]


def _named(row: Measure) -> str:
    return f"{subject(row.group)} in {plain_name(row.group['language'])}"


def _value(row: Measure) -> str:
    interval = f"95 % interval {ends(row)}" if ends(row) else f"no interval: {row.why}"
    return f"{metric_name(row.metric)} {short(row)}, {interval}, n = {row.n}"


def mind(rows: Sequence[Measure]) -> str:
    """A warning about models that hardly tell sense from nonsense, or nothing."""
    weak = [row for row in rows if row.metric == "lms" and row.value is not None and row.value < LITTLE_SENSE]
    if not weak:
        return ""
    names = "; ".join(f"{_named(row)} ({short(row)})" for row in weak[:4])
    more = f" and {len(weak) - 4} more" if len(weak) > 4 else ""
    return f"LMS is below {LITTLE_SENSE} for {names}{more}: where sense and nonsense are hardly told apart, SS says little."


def _facts(found: Findings) -> list[dict[str, str]]:
    rows = found.overall
    items = found.scored.table.select("dataset", "id", "language").n_unique()
    return [
        {"value": str(len(distinct(rows, "model"))), "name": "models"},
        {"value": str(len(distinct(rows, "language"))), "name": "languages"},
        {"value": f"{items:,}", "name": "items"},
        {"value": str(len(distinct(rows, "dataset"))), "name": "data sets"},
    ]
