"""The plane of LMS and SS: where a model stands, with intervals both ways and lines of equal ICAT."""

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

GUESSING = f"LMS below {LEAST_COMPETENCE:g}: guessing"

NARROW, HEIGHT = 290, 380  # the plot on a narrow screen, in pixels
LETTER = 0.62  # the width of a letter, as a share of its size
CROWDED = 16  # points; beyond that their labels are smaller, and tags


def draw(data: PageData) -> dict[str, Any] | None:
    """One plane for each data set that has all three values."""
    figures = [
        {
            "dataset": name,
            "figure": _figure(name, points),
            "legend": legend(_names(points), weak=any_weak(point["ss"] for point in points)),
        }
        for name, points in plane_points(add_published(Measures(data.overall), data.extras.beside)).items()
    ]
    return {"figures": figures} if figures else None


def _names(points: Sequence[Point]) -> list[str]:
    return models_of(point["ss"] for point in points)


def _row(point: Point, *, crowded: bool) -> dict[str, Any]:
    ss, lms, icat = point["ss"], point["lms"], point["icat"]
    where = ss.group["language"]
    return {
        "who": model_label(ss.group),
        "tag": where if crowded else plain_name(where),
        "ss": ss.value,
        "ss_low": ss.low,
        "ss_high": ss.high,
        "lms": lms.value,
        "lms_low": lms.low,
        "lms_high": lms.high,
        "weak": ss.interpretable is False,
        "tip": f"{model_label(ss.group)}, {language_name(where)}: SS {number(ss)}, LMS {number(lms)}, ICAT {number(icat)}",
    }


def _figure(name: str, points: Sequence[Point]) -> Figure:
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
        _chart([_row(point, crowded=len(points) > CROWDED) for point in points], _names(points)),
        label=f"Scatter plot of {len(points)} points: SS from left to right, LMS upwards, with 95 % intervals; all values are in the table below.",
        caption="Best is the top of the dashed line: full sense, no preference. Grey curves join points of equal ICAT; bars are 95 % intervals; in the shaded band the model is not shown to tell sense from nonsense.",
        heading=["model", "language", "SS", "LMS", "ICAT", "n"],
        rows=rows,
    )


def _chart(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    alt = altair()
    xs = domain([row[key] for row in rows for key in ("ss", "ss_low", "ss_high")], around=50)
    xs = [max(0, xs[0]), min(100, xs[1])]
    low, high = domain([row[key] for row in rows for key in ("lms", "lms_low", "lms_high")], around=None)
    ys = [max(0, low), min(100, high)]
    axis = alt.Axis(tickCount=6, grid=False)
    x = alt.X(
        "ss:Q",
        title="SS: share of stereotypes preferred (50 = none)",
        scale=alt.Scale(domain=xs, zero=False, nice=False),
        axis=axis,
    )
    y = alt.Y(
        "lms:Q",
        title="LMS: sense told from nonsense",
        scale=alt.Scale(domain=ys, zero=False, nice=False),
        axis=axis,
    )
    base = alt.Chart(data(rows)).encode(color=colour_or_grey("who", names))
    across = base.mark_rule(opacity=0.6, strokeWidth=1.5).encode(x=alt.X("ss_low:Q"), x2="ss_high:Q", y=y)
    along = base.mark_rule(opacity=0.6, strokeWidth=1.5).encode(y=alt.Y("lms_low:Q"), y2="lms_high:Q", x=x)
    points = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=x, y=y, shape=shape_of("who", names), tooltip=[alt.Tooltip("tip:N", title=" ")]
    )
    colour = colour_or_grey("who", names)
    tags = [layer.encode(x=x, y=y, text="tag:N", color=colour) for layer in _tags(rows, xs, ys=ys)]
    neutral = alt.Chart(data([{"ss": 50}])).mark_rule(strokeDash=[4, 3], color="#7d838c").encode(x="ss:Q")
    layers = [_guessing(xs, ys), _contours(xs, ys), neutral, across, along, points, *tags]
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


def _guessing(xs: Sequence[float], ys: Sequence[float]) -> Any:
    """A shaded band where sense is hardly told from nonsense."""
    alt = altair()
    if ys[0] >= LEAST_COMPETENCE:
        return alt.Chart(data([])).mark_rect()
    rows = [{"ss": xs[0], "right": xs[1], "lms": ys[0], "top": min(LEAST_COMPETENCE, ys[1]), "text": GUESSING}]
    base = alt.Chart(data(rows))
    band = base.mark_rect(color="#7d838c", opacity=0.14).encode(x="ss:Q", x2="right:Q", y="lms:Q", y2="top:Q")
    text = base.mark_text(align="left", baseline="bottom", dx=6, dy=-5, color="#7d838c", fontSize=11)
    return band + text.encode(x="ss:Q", y="lms:Q", text="text:N")


def _contours(xs: Sequence[float], ys: Sequence[float]) -> Any:
    """Lines of equal ICAT inside the frame, each with its value at its right end, where that is clear of the axis."""
    alt = altair()
    lines, labels = [], []
    for level, inside in icat_lines(xs, ys).items():
        lines += [{"ss": x, "lms": round(y, 2), "line": f"{level} low"} for x, y in inside if x <= 50]
        lines += [{"ss": x, "lms": round(y, 2), "line": f"{level} high"} for x, y in inside if x >= 50]
        if len(inside) > 8 and inside[-1][1] > ys[0] + (ys[1] - ys[0]) / 12:  # not on the axis
            labels.append({"ss": inside[-1][0], "lms": round(inside[-1][1], 2), "text": f"ICAT {level}"})
    curve = alt.Chart(data(lines)).mark_line(strokeWidth=1, opacity=0.35, color="#7d838c", clip=True)
    text = alt.Chart(data(_apart(labels, xs, ys=ys))).mark_text(align="right", dy=12, color="#7d838c", fontSize=10)
    return curve.encode(x="ss:Q", y="lms:Q", detail="line:N") + text.encode(x="ss:Q", y="lms:Q", text="text:N")


def _apart(labels: Sequence[Mapping[str, Any]], xs: Sequence[float], *, ys: Sequence[float]) -> list[Mapping[str, Any]]:
    """The labels that do not run into the one before, seen from the right."""
    kept: list[Mapping[str, Any]] = []
    for label in labels:
        far_along = not kept or abs(label["ss"] - kept[-1]["ss"]) > (xs[1] - xs[0]) / 5
        far_up = not kept or abs(label["lms"] - kept[-1]["lms"]) > (ys[1] - ys[0]) / 15
        if far_along or far_up:
            kept.append(label)
    return kept


panel = Panel("Sense and preference", order=30, draw=draw)
