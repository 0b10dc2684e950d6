"""Measures as tables: text for a terminal, HTML for a notebook, CSV, LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...analysis.competence import DEPENDS, LIMITS, UNMEASURED, at_limit, state_of
from ...analysis.headlines import find_metric
from ...analysis.measures import Measure, Measures, by_group
from ...analysis.published import KNOWN_FAULT
from ...chat.answer_rows import ANSWER
from ...items import group_by
from ...scores import UNSUPPORTED_LANGUAGE, unsupported_language_note
from ..chart_data import datasets, distinct, with_values, without_task
from ..numbers import (
    DAGGER,
    direction,
    expected,
    format_value,
    merge_notes,
    metric_name,
    missing_intervals,
    number,
    order_name,
    split_reason,
)
from .table import Grid, as_remarks, as_text

if TYPE_CHECKING:
    from ...analysis.comparisons import Comparison

NOT_INTERPRETABLE = "not interpretable"
BELOW = "below our competence limit"
LOWER_END = ": its lower end "
MOST = 5  # groups that a remark names
RELATED = "SS, both win"  # over the items on which both related candidates win over the unrelated one
COUNTS = 3  # columns: n, ties and clusters
EXPECTED = (
    "unbiased: what a model without any preference would get from as many items per target; homogeneous: one with the same SS "
    "for every target. Compare ICAT macro between data of different sizes by ICAT macro corrected"
)
PROBLEMS = {
    "several_blanks": "items with more than one BLANK",
    "equal_words": "items whose stereotype and anti-stereotype are the same",
    "sentence_differs": "items whose sentence differs from the filled context",
    "not_normal": "items whose text was changed to normal form C on reading",
    "odd_characters": "items with invisible, control or replacement characters",
    "mixed_scripts": "items with a word of letters of two scripts",
    "unreadable": "bad rows, left out",
    "special_tokens": "items whose text contains a model's special token, such as [MASK]",
    "wrong_language": "sampled items that are clearly not in the stated language",
    "wrong_script": "sampled items that are not written in their language's script",
}


def doubts(rows: Iterable[Measure | Comparison]) -> list[str]:
    """The caveats of numbers that are not interpretable, or whose competence is not known; each once.

    A task is not named where the same holds for all tasks together.
    """
    rows = list(rows)
    weak: dict[str, str] = {}
    unknown: dict[str, str] = {}
    for row in without_task([row for row in rows if row.doubt is not None]):
        label = ", ".join(value for name, value in row.group.items() if name not in ("dataset", "method"))
        (weak if row.interpretable is False else unknown)[f"{label}: {row.doubt}"] = str(row.doubt)
    faulty = [label for label, doubt in weak.items() if KNOWN_FAULT in doubt]
    below = [label for label, doubt in weak.items() if KNOWN_FAULT not in doubt]
    lines = [_marked(below, BELOW)] if below else []
    if faulty:
        lines.append(_marked([label.replace(f" {KNOWN_FAULT}:", "") for label in faulty], KNOWN_FAULT))
    lines += _depending(rows)
    if UNMEASURED in unknown.values():
        bare = dict.fromkeys(row.group.get("model", "") for row in rows if row.doubt == UNMEASURED)
        others = {row.group.get("model", "") for row in rows} - set(bare)
        whose = f" for {', '.join(bare)}" if others and all(bare) else ""
        lines.append(f"{UNMEASURED}{whose}: {_why_unmeasured(rows)}")
    rest = [label for label, doubt in unknown.items() if doubt != UNMEASURED]
    if rest:
        more = [f"and {len(rest) - MOST} more"] if len(rest) > MOST else []
        lines.append(f"competence is uncertain: {'; '.join([*rest[:MOST], *more])}")
    return lines


def _why_unmeasured(rows: Sequence[Measure | Comparison]) -> str:
    """What is missing for competence to be measured, and how to get it."""
    if any(metric.quantity == ANSWER for row in rows if (metric := find_metric(row.metric))):
        return "no control statements were asked about, so a model that says yes to everything would not be noticed"
    return "these scores have neither unrelated candidates nor shuffled controls; score with controls to have them"


def _marked(labels: Sequence[str], reason: str) -> str:
    """The remark on what has a dagger; where all have the same limit, it is given once."""
    shown, why = labels[:MOST], ""
    same = {label.rpartition(LOWER_END)[2] for label in shown}
    if len(shown) > 1 and len(same) == 1 and LOWER_END in shown[0]:
        shown, why = [label.rpartition(LOWER_END)[0] for label in shown], f" (every lower end {same.pop()})"
    more = [f"and {len(labels) - MOST} more"] if len(labels) > MOST else []
    return f"{DAGGER} {NOT_INTERPRETABLE}: {reason}{why}: {'; '.join([*shown, *more])}"


def _depending(rows: Sequence[Measure | Comparison]) -> list[str]:
    """Which groups would change their mark at another competence limit."""
    chosen = without_task([row for row in rows if state_of(row.competence_low) == DEPENDS])
    names: dict[str, None] = {}
    for row in chosen:
        label = ", ".join(value for name, value in row.group.items() if name not in ("dataset", "method"))
        held = [f"{limit:g}" for limit in LIMITS if at_limit(None, row.competence_low, limit=limit)]
        names[f"{label} (passes {' and '.join(held)})"] = None
    if not names:
        return []
    more = [f"and {len(names) - MOST} more"] if len(names) > MOST else []
    limits = ", ".join(f"{limit:g}" for limit in LIMITS[:-1])
    return [f"the mark {DEPENDS} ({limits} or {LIMITS[-1]:g}): {'; '.join([*list(names)[:MOST], *more])}"]


def grid(measures: Measures) -> Grid:
    """One row per group, one column per metric, then n, ties and clusters.

    A metric that was measured on fewer items than another says on how many.
    """
    columns = list(dict.fromkeys(name for row in measures for name in row.group))
    metrics = list(dict.fromkeys(row.metric for row in measures))
    has_related = any(row.related_only is not None and (row.competence_low or 100) < LIMITS[-1] for row in measures)
    rows = []
    empty = "overall" if "task" in columns else "all"
    for group, row_group in by_group(measures):
        most = max(row.n for row in row_group)
        values = {
            row.metric: number(row) + _order(row, measures) + (f" (n {row.n})" if 0 < row.n < most else "")
            for row in row_group
        }
        labels = {name: group.get(name, empty) for name in columns}
        unsupported = unsupported_language_note(group.get("model", ""), group.get("language", ""))
        if "language" in labels and any(note.startswith(unsupported) for note in measures.notes):
            labels["language"] += " *"  # the remark that says so has one too
        counts = [str(most), str(max(row.ties for row in row_group)), str(max(row.clusters for row in row_group))]
        rows.append(
            [*labels.values(), *(values.get(name, "-") for name in metrics), *_related(row_group, has_related), *counts]
        )
    heading = [*columns, *(_heading(name, measures) for name in metrics), *([RELATED] if has_related else [])]
    heading += ["n", "ties", "clusters"]
    marked = tuple(f"* {line}" if UNSUPPORTED_LANGUAGE in line else line for line in remarks(measures))
    return Grid(heading, rows, len(columns), marked, repeated=COUNTS)


def _heading(metric: str, measures: Measures) -> str:
    """The metric's name, with the order of the groups where all rows have the same."""
    orders = {order_name(row) for row in measures if row.metric == metric and row.value is not None}
    order = orders.pop() if len(orders) == 1 else ""
    return f"{metric_name(metric)} ({order})" if order else metric_name(metric)


def _order(row: Measure, measures: Measures) -> str:
    """The order of the row's groups, where the heading cannot give it."""
    order = order_name(row)
    return f" ({order})" if order and _heading(row.metric, measures) == metric_name(row.metric) else ""


def _related(rows: Sequence[Measure], shown: bool) -> list[str]:
    """The cell of SS over the items on which both related candidates win, where a mark makes it worth showing."""
    values = [row.related_only for row in rows if row.related_only is not None]
    return [format_value(values[0] if values else None)] if shown else []


def remarks(measures: Measures) -> list[str]:
    """The caveats of the table: odd data, left-out items, missing intervals."""
    lines = [f"{count} {PROBLEMS.get(name, name)}" for name, count in sorted(measures.problems.items())]
    lines += merge_notes(measures.notes)
    lines += dict.fromkeys(direction(row) for row in measures if row.above and row.value is not None)
    lines += doubts(measures)
    lines += _chance_levels(measures)
    if any(expected(row) for row in measures):
        lines.append(EXPECTED)
    for rows in group_by((row for row in measures if row.why), lambda row: split_reason(row.why or "")[0]).values():
        names = ", ".join(dict.fromkeys(metric_name(row.metric) for row in rows))
        sets = distinct(rows, "dataset")
        where = f" on {' and '.join(sets)}" if len(sets) < len(distinct(measures, "dataset")) else ""
        lines.append(f"no interval for {names}{where}: {missing_intervals(rows)}")
    return lines


def _chance_levels(measures: Measures) -> list[str]:
    """The chance levels of the metrics in the table that have one."""
    names = dict.fromkeys(row.metric for row in measures if row.value is not None)
    metrics = {name: find_metric(name) for name in names}  # a share of terms is a number without a metric
    shown = [f"{metric_name(name)} {metric.chance}" for name, metric in metrics.items() if metric and metric.chance]
    return [f"chance level: {'; '.join(shown)}"] if shown else []


def measures_as_text(measures: Measures, *, width: int = 120) -> str:
    """The finding and a table of each data set for a terminal: what all rows share is above, and metrics that do not fit come in a further block."""
    from .sentences import state_findings

    finding = "\n".join(state_findings(measures))
    whole = grid(measures)
    named = len(distinct(measures, "dataset")) > 1 and all("dataset" in row.group for row in measures)
    sets = [with_values(rows) for rows in datasets(measures).values()] if named else [measures.rows]
    grids = [replace(grid(replace(measures, rows=tuple(rows))), remarks=()) for rows in sets]
    tables = "\n\n".join(as_text(one, width=width) for one in grids) + as_remarks(whole.remarks)
    return (f"{finding}\n\n" if finding else "") + tables
