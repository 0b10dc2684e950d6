"""Charts: what all of them share, such as colours, shapes and axes that read well on white, on black and on paper."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import require

# Each colour has a contrast of 3:1 or more on white and on the dark page; shapes tell apart what colours may not.
COLOURS = ("#3a7fc2", "#d2700a", "#1d9a6c", "#c8599f", "#8467c9", "#8f8120", "#1490a8", "#7d838c")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
SIGNS = ("●", "■", "▲", "◆", "✚", "▼", "▶", "◀")
Row = Mapping[str, Any]

WEAK = "#a9aeb6"  # what is not interpretable
LINE = 26  # pixels of a bar with its gap


def altair() -> Any:
    """The library that charts are written with."""
    return require("altair", extra="report")


def style_of(number: int) -> tuple[str, str, str]:
    """The colour, the shape and the sign of the n-th of several things."""
    turn = (number + number // len(SHAPES)) % len(SHAPES)
    return COLOURS[number % len(COLOURS)], SHAPES[turn], SIGNS[turn]


def legend(names: Sequence[str], *, weak: bool = False) -> list[dict[str, str]]:
    """What stands above a chart: each name with its colour and sign; `weak`, also that of what is not interpretable."""
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
    made: dict[str, Any] = _once(sized.to_dict())
    made["autosize"] = {"type": "fit-x", "contains": "padding"}
    font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
    made["config"] = {
        "background": "transparent",
        "font": font,
        "aria": False,
        "mark": {"aria": False},
        "view": {"stroke": None},
        "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 500, "labelLimit": 220, "aria": False},
        "text": {"fontSize": 11},
        "legend": {"labelFontSize": 12, "titleFontSize": 12, "aria": False, "labelLimit": 260},
    }
    made.pop("usermeta", None)
    return made


def _once(spec: dict[str, Any]) -> dict[str, Any]:
    """The chart with each of its tables written once, however many layers use it."""
    tables: dict[str, str] = {}

    def walk(part: Any) -> Any:
        if isinstance(part, list):
            return [walk(one) for one in part]
        if not isinstance(part, dict):
            return part
        if set(part) == {"name"} and part["name"].startswith("["):
            return {"name": tables.setdefault(part["name"], f"table-{len(tables)}")}
        return {key: walk(value) for key, value in part.items()}

    made: dict[str, Any] = walk(spec)
    return {**made, "datasets": {name: json.loads(text) for text, name in tables.items()}}


def domain(values: Sequence[float | None], *, around: float | None) -> list[float]:
    """A range that holds all values and the neutral point, in round steps."""
    there = [value for value in values if value is not None] + ([around] if around is not None else [])
    low, high = min(there), max(there)
    width = max(high - low, abs(high) / 10, 1e-6)
    step = 10 ** math.floor(math.log10(width)) / 2
    start, end = step * math.floor(low / step - 0.1), step * math.ceil(high / step + 0.1)
    return [start, end if end > start else start + step]


def intervals(rows: Sequence[Row], *, y: Any, names: Sequence[str], span: Sequence[float], title: str) -> Any:
    """Points with their intervals side by side; one without an interval is hollow, one that is not interpretable grey.

    Rows have value, low, high, weak, who.
    """
    alt = altair()
    x = alt.X(
        "value:Q", title=title, scale=alt.Scale(domain=list(span), zero=False, nice=False), axis=alt.Axis(tickCount=6)
    )
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
    height = LINE * len({row[line] for row in rows})
    return finish(chart.add_params(alt.param(name="pick", value=0)), height=height)


def neutral_line(value: float | None) -> Any:
    """A dashed line at the neutral point."""
    alt = altair()
    rows = [] if value is None else [{"neutral": value}]
    return alt.Chart(data(rows)).mark_rule(strokeDash=[4, 3], color="#7d838c").encode(x="neutral:Q")
