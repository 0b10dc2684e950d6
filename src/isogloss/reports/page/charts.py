"""Charts of the page: colours, shapes and axes that read well on white, on black and on paper; intervals and shares."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ... import registry
from ...analysis.measures import Measure
from ...errors import require
from ..chart_data import models_of
from ..numbers import any_weak, english_first, language_name, metric_name, model_label, number, plain_name
from .parts import Figure

# Each colour has a contrast of 3:1 or more on white and on the dark page; shapes tell apart what colours may not.
COLOURS = ("#3a7fc2", "#d2700a", "#1d9a6c", "#c8599f", "#8467c9", "#8f8120", "#1490a8", "#7d838c")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
SIGNS = ("●", "■", "▲", "◆", "✚", "▼", "▶", "◀")
Row = Mapping[str, Any]

WEAK = "#a9aeb6"  # what is not interpretable
LINE = 26  # pixels of a bar with its gap
MANY = 60  # points; more of them are drawn in a chart for each heading
BREAK = "\u001f"  # between a heading and a language in the name of a line


def altair() -> Any:
    """The library that charts are written with."""
    return require("altair", extra="report")


def style_of(number: int) -> tuple[str, str, str]:
    """The colour, the shape and the sign of the n-th of several things."""
    turn = (number + number // len(SHAPES)) % len(SHAPES)
    return COLOURS[number % len(COLOURS)], SHAPES[turn], SIGNS[turn]


def legend(names: Sequence[str], *, weak: bool = False) -> list[dict[str, str]]:
    """The legend above a chart: each name with its colour and sign; `weak`, also that of what is not interpretable."""
    known = [{"name": name, "colour": style_of(i)[0], "sign": style_of(i)[2]} for i, name in enumerate(names)]
    return [*known, *([{"name": "† not interpretable", "colour": WEAK, "sign": "○"}] if weak else [])]


def colour_of(field: str, names: Sequence[str]) -> Any:
    """A field's colours, in the order of the names, without a legend of its own."""
    alt = altair()
    scale = alt.Scale(domain=list(names), range=[style_of(i)[0] for i in range(len(names))])
    return alt.Color(f"{field}:N", scale=scale, legend=None)


def colour_or_grey(field: str, names: Sequence[str]) -> Any:
    """The same, but grey for rows that are `weak`: not interpretable."""
    return altair().condition("datum.weak", altair().value(WEAK), colour_of(field, names))


def shape_of(field: str, names: Sequence[str]) -> Any:
    """A field's shapes, in the order of the names, without a legend of its own."""
    alt = altair()
    scale = alt.Scale(domain=list(names), range=[style_of(i)[1] for i in range(len(names))])
    return alt.Shape(f"{field}:N", scale=scale, legend=None)


def data(rows: Sequence[Row]) -> Any:
    """Rows as a chart's own data; until the chart is finished they travel as the name of the data.

    So they are written once, however many layers use them, and not checked value by value.
    """
    return altair().NamedData(name=json.dumps([dict(row) for row in rows], ensure_ascii=False, allow_nan=False))


def finish(chart: Any, *, height: int | None = None) -> dict[str, Any]:
    """The chart as wide as its place, quiet for screen readers (its table speaks), in the page's own type."""
    sized = chart.properties(width="container", **({"height": height} if height else {}))
    tables: dict[str, str] = {}

    def share_tables(part: Any) -> Any:
        """Each table is written once, however many layers use it."""
        if isinstance(part, list):
            return [share_tables(child) for child in part]
        if not isinstance(part, dict):
            return part
        if set(part) == {"name"} and part["name"].startswith("["):
            return {"name": tables.setdefault(part["name"], f"table-{len(tables)}")}
        return {key: share_tables(value) for key, value in part.items()}

    spec: dict[str, Any] = share_tables(sized.to_dict())
    spec["datasets"] = {name: json.loads(text) for text, name in tables.items()}
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["config"] = {
        "background": "transparent",
        "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
        "aria": False,
        "mark": {"aria": False},
        "view": {"stroke": None},
        "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 500, "labelLimit": 220, "aria": False},
        "text": {"fontSize": 11},
        "legend": {"labelFontSize": 12, "titleFontSize": 12, "aria": False, "labelLimit": 260},
    }
    spec.pop("usermeta", None)
    return spec


def domain(values: Sequence[float | None], *, around: float | None) -> list[float]:
    """A range that holds all values and the neutral point, in round steps."""
    there = [value for value in values if value is not None] + ([around] if around is not None else [])
    low, high = min(there), max(there)
    width = max(high - low, abs(high) / 10, 1e-6)
    step = 10 ** math.floor(math.log10(width)) / 2
    start, end = step * math.floor(low / step - 0.1), step * math.ceil(high / step + 0.1)
    return [start, end if end > start else start + step]


def chart_row(row: Measure, **more: Any) -> dict[str, Any]:
    """A measure as a row of a chart of intervals."""
    where = language_name(row.group["language"])
    return {
        "who": model_label(row.group),
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "weak": row.interpretable is False,
        "tip": f"{model_label(row.group)}, {where}: {metric_name(row.metric)} {number(row)}, n = {row.n}",
        **more,
    }


def interval_part(name: str, pairs: Sequence[tuple[str, Measure]], *, title: str) -> dict[str, Any]:
    """Measures under headings as charts of intervals, with a legend: one chart, or one per heading when there are many."""
    rows = [row for _, row in pairs]
    who = models_of(rows)
    neutral = registry.get("metric", rows[0].metric).neutral
    span = domain([end for row in rows for end in (row.value, row.low, row.high)], around=neutral)
    heads = list(dict.fromkeys(head for head, _ in pairs))
    figures = [
        _interval_figure(f"{name}-{i}", [pair for pair in pairs if pair[0] in group], who=who, span=span, title=title)
        for i, group in enumerate([heads] if len(pairs) <= MANY else [[head] for head in heads])
    ]
    if len(figures) == 1:  # a caption that its axis gives already is left out
        known = {metric_name(row.metric) for row in rows}
        caption = "" if len(heads) > 1 or heads[0] in known else f"{title.capitalize()}: {heads[0]}"
        figures = [replace(figures[0], caption=caption)]
    return {"figures": figures, "legend": legend(who, weak=any_weak(rows))}


def _interval_figure(
    name: str, pairs: Sequence[tuple[str, Measure]], *, who: Sequence[str], span: Sequence[float], title: str
) -> Figure:
    """Rows of languages under their headings; headings alone where there is one language."""
    heads = list(dict.fromkeys(head for head, _ in pairs))
    tags = english_first(row.group["language"] for _, row in pairs)
    metrics = list(dict.fromkeys(metric_name(row.metric) for _, row in pairs))
    shown = metrics[0] if len(metrics) == 1 else "value"
    lines = [
        f"{head}{BREAK}{plain_name(tag) if tag else ''}"
        for head in heads
        for tag in (tags if len(heads) == 1 else ["", *tags] if len(tags) > 1 else [""])
    ]
    below = len(heads) == 1 or len(tags) > 1
    data_rows = [
        chart_row(row, line=f"{head}{BREAK}{plain_name(row.group['language']) if below else ''}") for head, row in pairs
    ]
    neutral = registry.get("metric", pairs[0][1].metric).neutral
    chart = neutral_line(neutral) + _intervals(data_rows, lines, names=who, span=span, title=shown)
    cells = [
        [head, model_label(row.group), language_name(row.group["language"]), number(row), str(row.n), str(row.clusters)]
        for head, row in pairs
    ]
    return Figure(
        name,
        finish(chart, height=max(70, len(lines) * (12 * len(who) + 8))),
        label=f"{shown} with 95 % intervals for {', '.join(heads)}, by language and model; all values are in the table below.",
        caption=heads[0] if len(heads) == 1 else "",
        heading=[title, "model", "language", shown, "n", "clusters"],
        rows=cells,
    )


def _intervals(
    rows: Sequence[Row], lines: Sequence[str], *, names: Sequence[str], span: Sequence[float], title: str
) -> Any:
    """Points with their intervals; one without an interval is hollow, one that is not interpretable grey."""
    alt = altair()
    scale = alt.Scale(domain=list(span), zero=False, nice=False)
    x = alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6))
    parts = f"split(datum.label, '{BREAK}')"
    headed = "true" if any(not line.endswith(BREAK) for line in lines) else "false"  # headings with languages below
    test = f"{headed} && datum.value[length(datum.value) - 1] == '{BREAK}'"
    weight = {"condition": {"test": test, "value": 600}, "value": 400}
    axis = alt.Axis(labelExpr=f"{parts}[1] || {parts}[0]", labelFontWeight=weight, ticks=False, domain=False)
    y = alt.Y("line:N", title=None, scale=alt.Scale(domain=list(lines), paddingInner=0.25), axis=axis)
    offset = {"yOffset": alt.YOffset("who:N", sort=list(names))} if len(names) > 1 else {}
    base = alt.Chart(data(rows)).encode(y=y, color=colour_or_grey("who", names), **offset)
    rules = base.mark_rule(strokeWidth=2, opacity=0.75).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    points = base.mark_point(size=46, strokeWidth=1.5, opacity=1).encode(
        x=x,
        shape=shape_of("who", names),
        fill=alt.condition("datum.low !== null && !datum.weak", colour_of("who", names), alt.value("transparent")),
        tooltip=[alt.Tooltip("tip:N", title=" ")],
    )
    return rules + points


def stacked(rows: Sequence[Row], *, line: str, part: str, colours: Mapping[str, str]) -> dict[str, Any]:
    """Bars of shares that add up to one, one bar for each `line`; the parameter `pick` says which `cell` is shown."""
    alt = altair()
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    bars = alt.Chart(data(rows)).transform_filter("datum.cell == pick").mark_bar(stroke="white", strokeWidth=0.5)
    share = {"axis": alt.Axis(format="%", tickCount=5), "scale": alt.Scale(domain=[0, 1])}
    chart = bars.encode(
        x=alt.X("share:Q", title="share", stack="zero", **share),
        y=alt.Y(f"{line}:N", title=None, sort=None),
        color=alt.Color(f"{part}:N", scale=scale, legend=None),
        order="order:Q",
        tooltip=[alt.Tooltip("tip:N", title=" ")],
    )
    most = max(Counter(cell for cell, _ in {(row["cell"], row[line]) for row in rows}).values())
    return finish(chart.add_params(alt.param(name="pick", value=0)), height=LINE * most)


def neutral_line(value: float | None) -> Any:
    """A dashed line at the neutral point."""
    alt = altair()
    rows = [] if value is None else [{"neutral": value}]
    return alt.Chart(data(rows)).mark_rule(strokeDash=[4, 3], color="#7d838c").encode(x="neutral:Q")
