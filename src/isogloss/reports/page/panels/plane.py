"""The plane of LMS and SS: where a model stands, with intervals both ways and lines of equal ICAT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....analysis.measures import Measure
from ...text.measures import any_weak, number
from ..charts import altair, colour_or_grey, data, domain, finish, legend, shape_of
from ..data import PageData, datasets, without_task
from ..parts import Figure, Panel, language_name, model_label, panel

LINES = range(10, 100, 10)
CROWDED = 16  # points; beyond that their labels are smaller


def draw(data: PageData) -> Panel | None:
    """One plane for each data set that has both values."""
    figures = []
    for name, rows in datasets(without_task(data.overall)).items():
        points = _points(rows)
        if points:
            figures.append(
                {
                    "dataset": name,
                    "figure": _figure(name, points),
                    "legend": legend(_names(points), weak=any_weak(rows)),
                }
            )
    return panel("plane", "Sense and preference", figures=figures) if figures else None


def _points(rows: Sequence[Measure]) -> list[dict[str, Measure]]:
    """LMS, SS and ICAT of each model and language that has both of the first."""
    found: dict[tuple[str, ...], dict[str, Measure]] = {}
    for row in rows:
        if row.metric in ("lms", "ss", "icat") and row.value is not None:
            found.setdefault(tuple(row.group.values()), {})[row.metric] = row
    return [point for point in found.values() if {"lms", "ss", "icat"} <= set(point)]


def _names(points: Sequence[Mapping[str, Measure]]) -> list[str]:
    return list(dict.fromkeys(model_label(point["ss"].group) for point in points))


def _row(point: Mapping[str, Measure]) -> dict[str, Any]:
    ss, lms, icat = point["ss"], point["lms"], point["icat"]
    where = ss.group["language"]
    return {
        "who": model_label(ss.group),
        "tag": where,
        "ss": ss.value,
        "ss_low": ss.low,
        "ss_high": ss.high,
        "lms": lms.value,
        "lms_low": lms.low,
        "lms_high": lms.high,
        "weak": ss.interpretable is False,
        "tip": f"{model_label(ss.group)}, {language_name(where)}: SS {number(ss)}, LMS {number(lms)}, ICAT {number(icat)}",
    }


def _figure(name: str, points: Sequence[Mapping[str, Measure]]) -> Figure:
    rows = [
        [
            model_label(point["ss"].group),
            language_name(point["ss"].group["language"]),
            *(number(point[metric]) for metric in ("ss", "lms", "icat")),
            str(point["ss"].n),
        ]
        for point in points
    ]
    return Figure(
        f"plane-{name}",
        _chart([_row(point) for point in points], _names(points)),
        label=f"Scatter plot of {len(points)} points: SS from left to right, LMS upwards, with 95 % intervals; all values are in the table below.",
        caption="Best is the top of the dashed line: full sense, no preference. Grey curves join points of equal ICAT; bars are 95 % intervals.",
        heading=["model", "language", "SS", "LMS", "ICAT", "n"],
        rows=rows,
    )


def _chart(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    alt = altair()
    xs = domain([row[key] for row in rows for key in ("ss", "ss_low", "ss_high")], around=50)
    xs = [max(0, xs[0]), min(100, xs[1])]
    low, high = domain([row[key] for row in rows for key in ("lms", "lms_low", "lms_high")], around=None)
    ys = [max(0, low), min(100, high)]
    x = alt.X(
        "ss:Q",
        title="SS: share of stereotypes preferred (50 = none)",
        scale=alt.Scale(domain=xs, zero=False, nice=False),
    )
    y = alt.Y("lms:Q", title="LMS: sense told from nonsense", scale=alt.Scale(domain=ys, zero=False, nice=False))
    base = alt.Chart(data(rows)).encode(color=colour_or_grey("who", names))
    across = base.mark_rule(opacity=0.6, strokeWidth=1.5).encode(x=alt.X("ss_low:Q"), x2="ss_high:Q", y=y)
    along = base.mark_rule(opacity=0.6, strokeWidth=1.5).encode(y=alt.Y("lms_low:Q"), y2="lms_high:Q", x=x)
    points = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=x, y=y, shape=shape_of("who", names), tooltip=[alt.Tooltip("tip:N", title=" ")]
    )
    crowded = len(rows) > CROWDED
    tags = base.mark_text(
        dx=7, dy=-7, align="left", fontWeight=400 if crowded else 600, fontSize=9 if crowded else 11
    ).encode(x=x, y=y, text="tag:N")
    neutral = alt.Chart(data([{"ss": 50}])).mark_rule(strokeDash=[4, 3], color="#7d838c").encode(x="ss:Q")
    return finish(_contours(xs, ys) + neutral + across + along + points + tags, height=380)


def _contours(xs: Sequence[float], ys: Sequence[float]) -> Any:
    """Lines of equal ICAT inside the frame, each with its value at its right end, where that is clear of the axis."""
    alt = altair()
    positions = [x / 4 for x in range(1, 400) if xs[0] <= x / 4 <= xs[1]]
    lines, labels = [], []
    for level in LINES:
        points = [(x, 50 * level / min(x, 100 - x)) for x in positions]
        inside = [(x, y) for x, y in points if ys[0] <= y <= ys[1]]
        lines += [{"ss": x, "lms": round(y, 2), "line": f"{level} low"} for x, y in inside if x <= 50]
        lines += [{"ss": x, "lms": round(y, 2), "line": f"{level} high"} for x, y in inside if x >= 50]
        if len(inside) > 8 and inside[-1][1] > ys[0] + (ys[1] - ys[0]) / 12:  # not on the axis
            labels.append({"ss": inside[-1][0], "lms": round(inside[-1][1], 2), "text": f"ICAT {level}"})
    curve = alt.Chart(data(lines)).mark_line(strokeWidth=1, opacity=0.55, color="#7d838c", clip=True)
    text = alt.Chart(data(_apart(labels, xs, ys=ys))).mark_text(align="right", dy=12, color="#7d838c", fontSize=10)
    return curve.encode(x="ss:Q", y="lms:Q", detail="line:N") + text.encode(x="ss:Q", y="lms:Q", text="text:N")


def _apart(labels: Sequence[Mapping[str, Any]], xs: Sequence[float], *, ys: Sequence[float]) -> list[Mapping[str, Any]]:
    """The labels that do not run into the one before, seen from the right."""
    kept: list[Mapping[str, Any]] = []
    for one in labels:
        far_along = not kept or abs(one["ss"] - kept[-1]["ss"]) > (xs[1] - xs[0]) / 5
        far_up = not kept or abs(one["lms"] - kept[-1]["lms"]) > (ys[1] - ys[0]) / 15
        if far_along or far_up:
            kept.append(one)
    return kept
