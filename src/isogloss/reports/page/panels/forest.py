"""The forest plot: the headline metric by bias type and language, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .... import registry
from ....analysis.measures import Measure
from ...text.measures import any_weak, metric_name, number
from ..charts import altair, domain, finish, intervals, legend, neutral_line
from ..data import PageData, datasets, distinct
from ..parts import Figure, Panel, language_name, model_label, panel

LINE = 13


def draw(data: PageData) -> Panel | None:
    """One small chart for each bias type of each data set."""
    parts = []
    for name, rows in datasets(data.categories).items():
        there = [row for row in rows if row.value is not None]
        if there:
            parts.append(_part(name, there))
    return panel("forest", "By bias type", parts=parts) if parts else None


def _part(name: str, rows: Sequence[Measure]) -> dict[str, Any]:
    who = list(dict.fromkeys(model_label(row.group) for row in rows))
    neutral = registry.get("metric", rows[0].metric).neutral
    span = domain([end for row in rows for end in (row.value, row.low, row.high)], around=neutral)
    figures = [
        _figure(f"{name}-{number_}", [row for row in rows if row.group["category"] == kind], who=who, span=span)
        for number_, kind in enumerate(distinct(rows, "category"))
    ]
    why = sorted({row.why for row in rows if row.why})
    return {"dataset": name, "figures": figures, "legend": legend(who, weak=any_weak(rows)), "why": why}


def _figure(name: str, rows: Sequence[Measure], *, who: Sequence[str], span: Sequence[float]) -> Figure:
    metric, kind = rows[0].metric, rows[0].group["category"]
    tags = distinct(rows, "language")
    alt = altair()
    y = alt.Y("language:N", title=None, sort=tags, scale=alt.Scale(paddingInner=0.25))
    chart = neutral_line(registry.get("metric", metric).neutral) + intervals(
        [chart_row(row) for row in rows], y=y, names=who, span=span, title=metric_name(metric)
    )
    values = [
        [model_label(row.group), language_name(row.group["language"]), number(row), str(row.n), str(row.clusters)]
        for row in rows
    ]
    return Figure(
        f"forest-{name}",
        finish(chart, height=max(90, len(tags) * (LINE * len(who) + 8))),
        label=f"{metric_name(metric)} with 95 % intervals for {kind}, by language and model; all values are in the table below.",
        caption=kind,
        heading=["model", "language", metric_name(metric), "n", "clusters"],
        rows=values,
    )


def chart_row(row: Measure) -> Mapping[str, Any]:
    """A measure as a row of a chart of intervals."""
    where = language_name(row.group["language"])
    return {
        "who": model_label(row.group),
        "language": row.group["language"],
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "weak": row.interpretable is False,
        "tip": f"{model_label(row.group)}, {where}: {metric_name(row.metric)} {number(row)}, n = {row.n}",
    }
