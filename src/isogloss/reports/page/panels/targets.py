"""Targets: which terms a model stereotypes most and least in a language."""

from collections.abc import Mapping, Sequence
from typing import Any

from .... import registry
from ....analysis.measures import Measure
from ...numbers import language_name, metric_name, model_label, number
from ..charts import WEAK, altair, chart_row, data, domain, finish, neutral_line
from ..data import PageData
from ..parts import Figure
from . import Panel

MOST = 8
LINE = 22
FEWEST = 5  # items; a share of fewer is hardly a number


def draw(data: PageData) -> dict[str, Any] | None:
    """The ends of the list for each model and language, one at a time."""
    cells: dict[str, list[Measure]] = {}
    for row in data.targets:
        if row.value is not None and row.n >= FEWEST and row.group.get("target") != "none":
            cell = f"{model_label(row.group)}, {language_name(row.group['language'])}, {row.group['dataset']}"
            cells.setdefault(cell, []).append(row)
    shown = {}
    for cell, rows in cells.items():
        ordered = sorted(rows, key=lambda row: (-(row.value or 0.0), row.group["target"]))
        if len(rows) > 1:
            shown[cell] = ordered if len(rows) <= 2 * MOST else [*ordered[:MOST], *ordered[-MOST:]]
    return {"figure": _figure(shown), "fewest": FEWEST} if shown else None


def _figure(cells: Mapping[str, Sequence[Measure]]) -> Figure:
    metric = next(iter(cells.values()))[0].metric
    name = metric_name(metric)
    rows, table = [], []
    for cell, measures in enumerate(cells.values()):
        for index, row in enumerate(measures):
            target, end = row.group["target"], "most" if index < len(measures) / 2 else "least"
            tip = f"{target}: {metric_name(row.metric)} {number(row)}, n = {row.n}"
            rows.append(chart_row(row, cell=cell, target=target, index=index, end=end, tip=tip))
            table.append([target, number(row), str(row.n)])
    return Figure(
        "targets-chart",
        _chart(rows, metric),
        label=f"{name} of the most and least stereotyped targets with 95 % intervals; all values are in the table below.",
        caption="Each item of a target counts as a unit of its own here, so intervals hold for these items' kind, not for all that is said of the target. Grey targets (†) are not interpretable.",
        heading=["target", name, "n"],
        rows=table,
        pick={str(index): cell for index, cell in enumerate(cells)},
        keys=[str(row["cell"]) for row in rows],
    )


def _chart(rows: Sequence[Mapping[str, Any]], metric: str) -> dict[str, Any]:
    alt = altair()
    neutral = registry.get("metric", metric).neutral
    span = domain([row[key] for row in rows for key in ("value", "low", "high")], around=neutral)
    y = alt.Y("target:N", title=None, sort=alt.EncodingSortField("index", order="ascending"))
    colour = alt.Color("end:N", scale=alt.Scale(domain=["most", "least"], range=["#d2700a", "#3a7fc2"]), legend=None)
    pick = alt.param(name="pick", value=0)
    grey = alt.condition("datum.weak", alt.value(WEAK), colour)
    chosen = alt.Chart(data(rows)).transform_filter("datum.cell == pick").encode(y=y, color=grey)
    title = metric_name(metric)
    x = alt.X("low:Q", title=title, scale=alt.Scale(domain=span, zero=False, nice=False))
    rules = chosen.mark_rule(strokeWidth=2, opacity=0.75).encode(x=x, x2="high:Q")
    points = chosen.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("value:Q", title=title), tooltip=[alt.Tooltip("tip:N", title=" ")]
    )
    tallest = max(row["index"] for row in rows) + 1
    return finish((neutral_line(neutral) + rules + points).add_params(pick), height=LINE * tallest)


panel = Panel("Most and least stereotyped targets", order=50, draw=draw)
