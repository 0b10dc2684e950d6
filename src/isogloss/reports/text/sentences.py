"""Numbers in plain words that never claim more than their interval and the model's competence allow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ... import registry
from ...analysis.headlines import leading_headlines, main_metric
from ...analysis.intervals import IntervalSettings
from ...analysis.measures import Measure, Measures
from ...analysis.study import Study
from ...items import group_by
from ..chart_data import datasets, find_ranks, without_task
from ..numbers import (
    direction,
    ends,
    english_first,
    listed,
    metric_name,
    model_label,
    number_format,
    p_value,
    plain_name,
    short,
    side,
    side_name,
    with_article,
)
from .claims import rank_lines
from .measures import remarks

if TYPE_CHECKING:
    from ...analysis.comparisons import Comparison, Comparisons

LEVEL = 0.05
IDENTITY = {"model", "dataset", "language"}
WHOLE = {*IDENTITY, "method", "task"}  # the most columns of a table that has a finding
MOST = 8  # models that a finding names
MOST_VALUES = 4  # languages whose values a finding of a metric without a neutral value gives; of more, the range


# ---- the finding of a table: the same words in the terminal, in a report and on the local pages


def state_findings(measures: Iterable[Measure], *, values: bool = True) -> list[str]:
    """The finding of each data set, a sentence for each model; none for a table by bias type or other columns.

    Without `values`, it names the languages only, for a place that shows the numbers already.
    """
    rows = list(measures)
    if any(not IDENTITY <= set(row.group) <= WHOLE for row in rows):
        return []
    sets = datasets(without_task(rows))
    findings = []
    for name, group in sets.items():
        models = group_by(_over_methods(group), lambda row: model_label(row.group))
        sentences = [_finding(model, model_rows, values=values) for model, model_rows in list(models.items())[:MOST]]
        more = [f"{len(models) - MOST} more models are in the table."] if len(models) > MOST else []
        findings.append(f"On {name}, {' '.join([*sentences, *more])}")
    return findings


def _over_methods(rows: Sequence[Measure]) -> list[Measure]:
    """The rows over all methods; where a model and language has none, those of each method."""
    keyed = [(row, (row.group["model"], row.group["language"])) for row in rows]
    whole = {key for row, key in keyed if "method" not in row.group}
    return [row for row, key in keyed if "method" not in row.group or key not in whole]


def _finding(model: str, rows: Sequence[Measure], *, values: bool) -> str:
    """What is found of one model by its headline metric, language by language; what says nothing comes last."""
    main = main_metric([row.metric for row in rows if row.value is not None] or [row.metric for row in rows])
    neutral = registry.get("metric", main).neutral
    rows_of_metric = [row for row in rows if row.metric == main]
    order = english_first(row.group["language"] for row in rows_of_metric)
    ordered = sorted(rows_of_metric, key=lambda row: order.index(row.group["language"]))
    kinds = group_by(ordered, lambda row: _kind(row, neutral))
    labels = _labels(rows_of_metric)
    names = {kind: listed([_place(row, labels, values=False) for row in group]) for kind, group in kinds.items()}
    verbs = _verbs(main, neutral, groups=_same_groups(rows_of_metric))
    places = {kind: listed([_place(row, labels, values=values) for row in kinds[kind]]) for kind in kinds}
    parts = [f"{verbs[kind]} {places[kind]}" for kind in verbs if kind in kinds]
    if "weak" in kinds:
        where, predicate = names["weak"], "is below our competence limit"
        start = f"in {where} it {predicate}" if parts else f"{predicate} in {where}"
        parts.append(f"{start}, so its {metric_name(main)} is not interpretable")
    if "missing" in kinds:
        parts.append(f"{'it ' if parts else ''}could not be measured in {names['missing']}")
    if "known" in kinds:
        parts.insert(0, _state_values(main, kinds["known"], labels=labels))
    first, *others = parts
    rest = [part if part.startswith(("in ", "it ")) else f"it {part}" for part in others]
    return f"{model}{'' if 'known' in kinds else ' '}{'; '.join([first, *rest])}."


def _labels(rows: Sequence[Measure]) -> list[str]:
    """The column that names a value next to its language: the task, where a language has a value for each."""
    return ["task"] if len({row.group["language"] for row in rows}) < len(rows) else []


def _state_values(metric: str, rows: Sequence[Measure], *, labels: Sequence[str]) -> str:
    """What a model's values of a metric without a neutral point are; of many languages, the lowest and the highest."""
    lowest, highest = (pick(rows, key=lambda row: row.value or 0.0) for pick in (min, max))
    name = f"'s {metric_name(metric)}"
    if len(rows) > MOST_VALUES and short(lowest) != short(highest):
        return f"{name} ranges from {_value_in(lowest, labels)} to {_value_in(highest, labels)}"
    return f"{name} is {listed([_value_in(row, labels) for row in rows])}"


def _value_in(row: Measure, labels: Sequence[str]) -> str:
    """A value with its interval, and the language."""
    return f"{short(row)} ({ends(row).replace('–', ' to ')}) in {_place(row, labels, values=False)}"


def _kind(row: Measure, neutral: float | None) -> str:
    if row.value is None:
        return "missing"
    if row.interpretable is False:
        return "weak"
    return "open" if row.low is None or row.high is None else side(row, neutral) or "known"


def _place(row: Measure, labels: Sequence[str], *, values: bool) -> str:
    """A language, with the task where it has several values, and with the value and interval."""
    interval = ends(row).replace("–", " to ")
    kind = ", ".join(row.group[name] for name in labels if name in row.group)
    value = f"{short(row)}{f', {interval}' if interval else ''}" if values else ""
    inner = ": ".join(filter(None, (kind, value)))
    return f"{plain_name(row.group['language'])}{f' ({inner})' if inner else ''}"


def _same_groups(rows: Sequence[Measure]) -> tuple[str | None, str | None]:
    """The groups below and above the neutral point, where all rows that have a value compare the same two."""
    groups = {(row.below, row.above) for row in rows if row.value is not None}
    return groups.pop() if len(groups) == 1 else (None, None)


def _verbs(metric: str, neutral: float | None, *, groups: tuple[str | None, str | None]) -> dict[str, str]:
    """What a model does where its interval lies above the neutral point, below it, and so on."""
    name = metric_name(metric)
    has_one = f"has {with_article(name)}"
    plugin = registry.get("metric", metric)
    above, below = plugin.above, plugin.below
    if None not in groups:
        below, above = (f"finds {group} sentences more likely" for group in groups)
    return {
        "above": f"{above} in" if above else f"{has_one} above {neutral} in",
        "below": f"{below} in" if below else f"{has_one} below {neutral} in",
        "unclear": "shows no clear preference in" if above else f"{has_one} not distinguishable from {neutral} in",
        "open": f"has too few clusters for an interval of {name} in",
    }


def study_as_json(study: Study) -> dict[str, Any]:
    """A study's measures and ranks as the documented JSON object, with findings and remarks in words."""
    measures = study.measure(study.measuring)
    content = measures.to_dict() | {"findings": state_findings(measures), "remarks": remarks(measures)}
    metrics = leading_headlines(dict.fromkeys(row.metric for row in measures))
    ranks = find_ranks(study, metrics, settings=IntervalSettings(), mode=measures[0].mode)
    whole = [row for row in ranks if "task" not in row.group] or list(ranks)
    return content | ({"ranking": rank_lines(whole), "ranks": ranks.to_dict()["ranks"]} if whole else {})


# ---- measures and comparisons, one by one


def explain_measure(row: Measure, neutral: float | None = None) -> str:
    """One measure as a sentence: the value, its interval, and whether it can be told from the neutral point.

    Without a neutral point, that of the metric is taken; a metric that has none is only stated.
    """
    form = number_format(row.metric).brief
    name = f"{metric_name(row.metric)} {row.value:{form}}" if row.value is not None else metric_name(row.metric)
    if row.interpretable is False:
        return f"{name}, n = {row.n}: not interpretable ({row.doubt})"
    if row.value is None or row.low is None or row.high is None:
        return f"{name}, n = {row.n}: no interval ({row.why})"
    range_ = f"95 % CI {row.low:{form}}-{row.high:{form}}, n = {row.n}"
    if neutral is None:
        neutral = registry.get("metric", row.metric).neutral
    if neutral is None:
        return f"{name}, {range_}"
    if row.low <= neutral <= row.high:
        return f"{name}, {range_}: not distinguishable from {neutral:g}"
    side_of = "above" if row.value > neutral else "below"
    group = row.above if row.value > neutral else row.below
    more = f" ({group} sentences are the more likely ones)" if group else ""
    return f"{name}, {range_}: {side_of} {neutral:g}{more}"


def explain_measures(measures: Measures) -> str:
    """What the values of a table say, group by group, and what they do not say."""

    hidden = [name for name in ("dataset", "method", "task") if len({row.group.get(name) for row in measures}) == 1]

    def explain(row: Measure) -> str:
        where = ", ".join(value for key, value in row.group.items() if key not in hidden)
        return f"{where}: {explain_measure(row)}."

    metrics = dict.fromkeys(row.metric for row in measures)
    main = main_metric(metrics)
    meanings = {name: registry.get("metric", name).meaning for name in dict.fromkeys([main, *metrics])}
    if not any(meanings.values()):
        directions = dict.fromkeys(direction(row) + "." for row in measures if row.above)
        cautions = [f"{metric_name(name)}: {registry.get('metric', name).caution}" for name in metrics]
        return "\n".join([*map(explain, measures), *directions, *cautions])
    meaning = " ".join([*filter(None, meanings.values()), "None of this says how the model behaves in use."])
    return "\n".join([*(explain(row) for row in without_task(measures) if row.metric == main), meaning])


def explain_comparisons(comparisons: Comparisons) -> list[str]:
    """Each comparison as a sentence; the data set, model or method is named where there are several."""
    hidden = [key for key in ("dataset", "model", "method") if len({row.group.get(key) for row in comparisons}) == 1]
    return [explain_comparison(row, hidden=hidden) for row in comparisons]


def explain_comparison(row: Comparison, *, hidden: Sequence[str] = ("dataset", "model", "method")) -> str:
    """One comparison as a sentence; a difference is claimed only when competence, adjusted p and interval allow it."""
    where = "".join(f"{row.group[key]}, " for key in row.group if key not in hidden)
    name = f"{where}{metric_name(row.metric)}"
    if row.difference is None or row.value_a is None or row.value_b is None:
        return f"{name}: no difference can be given ({row.why})."
    values = f"{name}: {row.value_a:.1f} for {side_name(row.a)} and {row.value_b:.1f} for {side_name(row.b)}"
    if row.interpretable is False:
        return f"{values}: not interpretable ({row.doubt})."
    count = f"n = {row.n} {'pairs' if row.design == 'paired' else 'items'}"
    tests = (
        f"p {_equal_or_below(row.p)} (adjusted {_equal_or_below(row.p_holm)}), {count}" if row.p is not None else count
    )
    if row.low is None or row.high is None:
        return f"{values}, difference {row.difference:+.1f}, {tests}; no interval ({row.why})."
    interval = f"95 % CI {row.low:+.1f} to {row.high:+.1f}"
    verdict = _verdict(row, apart=row.low > 0 or row.high < 0)
    return f"{values}; difference {row.difference:+.1f}, {interval}, {tests}: {verdict}."


def _equal_or_below(p: float | None) -> str:
    """A p-value with its sign, such as `= 0.012` or `< 0.001`."""
    return f"= {p_value(p)}".replace("= <", "< ")


def _verdict(row: Comparison, *, apart: bool) -> str:
    """What may be said: a difference, a hint that does not hold for all tests, or none; then the smallest detectable one."""
    if apart and row.p_holm is not None and row.p_holm <= LEVEL:
        return "they differ"
    if apart and row.p is not None and row.p <= LEVEL:
        return "a hint, not a finding: it does not survive the correction for all tests made here"
    if row.mde is None:
        return "the two sides are not distinguishable"
    return f"they are not distinguishable; a true difference below {row.mde:.1f} points would often be missed"
