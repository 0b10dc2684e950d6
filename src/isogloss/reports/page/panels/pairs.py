"""Pairs and parallel texts: CrowS-Pairs, MBE and other metrics beside LMS, SS and ICAT, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

from .... import registry
from ....analysis.comparisons import HEADLINES
from ....analysis.measures import Measure
from ...text.measures import any_weak, metric_name, number
from ..charts import altair, domain, finish, intervals, legend, neutral_line
from ..data import PageData, datasets, distinct, without_task
from ..parts import Figure, Panel, language_name, model_label, panel
from .forest import LINE, chart_row


def draw(data: PageData) -> Panel | None:
    """One chart for each metric that is not a headline of StereoSet."""
    rows = [row for row in without_task(data.overall) if row.metric not in HEADLINES and row.value is not None]
    who = list(dict.fromkeys(model_label(row.group) for row in rows))
    figures = [
        _figure(f"{name}-{metric}", [row for row in group if row.metric == metric], who=who)
        for name, group in datasets(rows).items()
        for metric in dict.fromkeys(row.metric for row in group)
    ]
    return (
        panel(
            "pairs",
            "Pairs, parallel texts and other measures",
            figures=figures,
            legend=legend(who, weak=any_weak(rows)),
        )
        if figures
        else None
    )


def _figure(name: str, rows: Sequence[Measure], *, who: Sequence[str]) -> Figure:
    known = registry.get("metric", rows[0].metric)
    tags = distinct(rows, "language")
    span = domain([end for row in rows for end in (row.value, row.low, row.high)], around=known.neutral)
    y = altair().Y("language:N", title=None, sort=tags)
    chart = neutral_line(known.neutral) + intervals(
        [chart_row(row) for row in rows], y=y, names=who, span=span, title=metric_name(rows[0].metric)
    )
    return Figure(
        f"pairs-{name}",
        finish(chart, height=max(70, len(tags) * (LINE * len(who) + 8))),
        label=f"{known.title} with 95 % intervals by language and model; all values are in the table below.",
        caption=f"{rows[0].group['dataset']}: {known.title}. {known.caution}",
        heading=["model", "language", metric_name(rows[0].metric), "n"],
        rows=[[model_label(row.group), language_name(row.group["language"]), number(row), str(row.n)] for row in rows],
    )
