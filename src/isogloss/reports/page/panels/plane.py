"""The plane of LMS and SS: the position of each model, with intervals both ways and lines of equal ICAT."""

from collections.abc import Mapping, Sequence
from typing import Any

from ....analysis.competence import LEAST_COMPETENCE
from ....analysis.measures import Measures
from ....analysis.published import add_published
from ...chart_data import Point, icat_lines, models_of, plane_points
from ...labels import place_labels
from ...numbers import any_weak, language_name, model_label, number, plain_name
from ..charts import altair, colour_or_grey, data, domain, finish, legend, shape_of
from ..data import PageData
from ..parts import Figure
from . import Panel

BELOW = f"LMS below our limit of {LEAST_COMPETENCE:g}"

NARROW, HEIGHT = 290, 380  # the plot on a narrow screen, in pixels
LETTER = 0.62  # the width of a letter, as a share of its size
CROWDED = 16  # points; beyond that their labels are smaller, and tags


def draw(data: PageData) -> dict[str, Any] | None:
    """One plane for each data set that has all three values."""
    figures = []
    for name, points in plane_points(add_published(Measures(data.overall), data.extras.beside)).items():
        shown = [point["ss"] for point in points]
        names = models_of(shown)
        figure = _figure(name, points, names=names)
        figures.append({"dataset": name, "figure": figure, "legend": legend(names, weak=any_weak(shown))})
    return {"figures": figures} if figures else None


def _figure(name: str, points: Sequence[Point], *, names: Sequence[str]) -> Figure:
    marks, rows = [], []
    for point in points:
        ss, lms, icat = point["ss"], point["lms"], point["icat"]
        tag, who, where = ss.group["language"], model_label(ss.group), language_name(ss.group["language"])
        marks.append(
            {
                "who": who,
                "tag": tag if len(points) > CROWDED else plain_name(tag),
                "ss": ss.value,
                "ss_low": ss.low,
                "ss_high": ss.high,
                "lms": lms.value,
                "lms_low": lms.low,
                "lms_high": lms.high,
                "weak": ss.interpretable is False,
                "tip": f"{who}, {where}: SS {number(ss)}, LMS {number(lms)}, ICAT {number(icat)}",
            }
        )
        rows.append([who, where, number(ss), number(lms), number(icat), str(ss.n)])
    return Figure(
        f"plane-{name}",
        _chart(marks, names),
        label=f"Scatter plot of {len(points)} points: SS from left to right, LMS upwards, with 95 % intervals; all values are in the table below.",
        caption="Best is the top of the dashed line: full LMS, no preference. Grey curves join points of equal ICAT; bars are 95 % intervals; the shaded band is below our competence limit.",
        heading=["model", "language", "SS", "LMS", "ICAT", "n"],
        rows=rows,
    )


def _chart(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    alt = altair()
    ranges = []
    for metric, neutral in (("ss", 50), ("lms", None)):
        low, high = domain([row[f"{metric}{end}"] for row in rows for end in ("", "_low", "_high")], around=neutral)
        ranges.append([max(0, low), min(100, high)])
    xs, ys = ranges
    axis = alt.Axis(tickCount=6, grid=False)
    across, upwards = (alt.Scale(domain=ends, zero=False, nice=False) for ends in ranges)
    x = alt.X("ss:Q", title="SS: share of stereotypes preferred (50 = none)", scale=across, axis=axis)
    y = alt.Y("lms:Q", title="LMS: share of meaningful sentences preferred", scale=upwards, axis=axis)
    base = alt.Chart(data(rows)).encode(color=colour_or_grey("who", names))
    rule = base.mark_rule(opacity=0.6, strokeWidth=1.5)
    rules = [
        rule.encode(x=alt.X("ss_low:Q"), x2="ss_high:Q", y=y),
        rule.encode(y=alt.Y("lms_low:Q"), y2="lms_high:Q", x=x),
    ]
    points = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=x, y=y, shape=shape_of("who", names), tooltip=[alt.Tooltip("tip:N", title=" ")]
    )
    colour = colour_or_grey("who", names)
    tags = [layer.encode(x=x, y=y, text="tag:N", color=colour) for layer in _tags(rows, xs, ys=ys)]
    no_preference = alt.Chart(data([{"ss": 50}])).mark_rule(strokeDash=[4, 3], color="#7d838c").encode(x="ss:Q")
    layers = [_below_limit(xs, ys), _contours(xs, ys), no_preference, *rules, points, *tags]
    return finish(alt.layer(*layers), height=HEIGHT)


def _tags(rows: Sequence[Mapping[str, Any]], xs: Sequence[float], *, ys: Sequence[float]) -> list[Any]:
    """The labels of the points, a layer for each place beside a point; they do not overlap on a narrow screen."""
    alt = altair()
    size = 9 if len(rows) > CROWDED else 11
    across, along = NARROW / (xs[1] - xs[0]), HEIGHT / (ys[1] - ys[0])

    def at(row: Mapping[str, Any], end: str = "") -> tuple[float, float]:
        x, y = (row[key if row.get(f"{key}{end}") is None else f"{key}{end}"] for key in ("ss", "lms"))
        return (x - xs[0]) * across, (y - ys[0]) * along

    lines = []
    for row in rows:
        (x, y), (left, low), (right, high) = (at(row, end) for end in ("", "_low", "_high"))
        lines += [(left, y, right, y), (x, low, x, high)]

    offsets = place_labels(
        [at(row) for row in rows],
        [(len(row["tag"]) * size * LETTER, size) for row in rows],
        lines=lines,
        frame=(0, 0, NARROW, HEIGHT),
    )
    places: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for row, offset in zip(rows, offsets, strict=True):
        places.setdefault(offset, []).append(row)
    return [
        alt.Chart(data(group)).mark_text(
            dx=dx, dy=-dy, align="left" if dx > 0 else "right", baseline="bottom",
            fontWeight=400 if len(rows) > CROWDED else 600, fontSize=size,
        )
        for (dx, dy), group in places.items()
    ]  # fmt: skip


def _below_limit(xs: Sequence[float], ys: Sequence[float]) -> Any:
    """A shaded band where meaningful sentences are hardly preferred."""
    alt = altair()
    if ys[0] >= LEAST_COMPETENCE:
        return alt.Chart(data([])).mark_rect()
    rows = [{"ss": xs[0], "right": xs[1], "lms": ys[0], "top": min(LEAST_COMPETENCE, ys[1]), "text": BELOW}]
    base = alt.Chart(data(rows))
    band = base.mark_rect(color="#7d838c", opacity=0.14).encode(x="ss:Q", x2="right:Q", y="lms:Q", y2="top:Q")
    text = base.mark_text(align="left", baseline="bottom", dx=6, dy=-5, color="#7d838c", fontSize=11)
    return band + text.encode(x="ss:Q", y="lms:Q", text="text:N")


def _contours(xs: Sequence[float], ys: Sequence[float]) -> Any:
    """Lines of equal ICAT inside the frame, each with its value at its right end, where that is clear of the axis."""
    alt = altair()
    lines: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    width, height = xs[1] - xs[0], ys[1] - ys[0]
    for level, inside in icat_lines(xs, ys).items():
        lines += [{"ss": x, "lms": round(y, 2), "line": f"{level} low"} for x, y in inside if x <= 50]
        lines += [{"ss": x, "lms": round(y, 2), "line": f"{level} high"} for x, y in inside if x >= 50]
        if len(inside) > 8 and inside[-1][1] > ys[0] + height / 12:  # not on the axis
            x, y = inside[-1][0], round(inside[-1][1], 2)
            last = labels[-1] if labels else None  # which the next label does not run into
            if last is None or abs(x - last["ss"]) > width / 5 or abs(y - last["lms"]) > height / 15:
                labels.append({"ss": x, "lms": y, "text": f"ICAT {level}"})
    curve = alt.Chart(data(lines)).mark_line(strokeWidth=1, opacity=0.35, color="#7d838c", clip=True)
    text = alt.Chart(data(labels)).mark_text(align="right", dy=12, color="#7d838c", fontSize=10)
    return curve.encode(x="ss:Q", y="lms:Q", detail="line:N") + text.encode(x="ss:Q", y="lms:Q", text="text:N")


panel = Panel("Sense and preference", order=30, draw=draw)
