"""The plane of LMS and SS: the position of each model, with intervals both ways and lines of equal ICAT."""

from collections.abc import Sequence
from typing import Any

from ....analysis.measures import Measures
from ....analysis.published import add_published
from ...chart_data import Point, plane_points
from ...numbers import language_name, model_label, number
from ..charts import draw_plot_svg
from ..data import PageData
from ..parts import Chart, ChartView
from . import Panel

CAPTION = (
    "Best is the top of the dashed line: full LMS, no preference. Gray curves join points of equal ICAT, whose value is "
    "at their end; bars are 95 % intervals; the shaded band is below our "
    "competence limit."
)


def draw(data: PageData) -> dict[str, Any] | None:
    """One plane for each data set that has all three values."""
    planes = plane_points(add_published(Measures(data.overall), data.extras.beside))
    charts = [{"dataset": name, "chart": _chart(name, points)} for name, points in planes.items()]
    return {"charts": charts} if charts else None


def _chart(name: str, points: Sequence[Point]) -> Chart:
    rows = []
    for point in points:
        group = point["ss"].group
        values = [number(point[metric]) for metric in ("ss", "lms", "icat")]
        rows.append([model_label(group), language_name(group["language"]), *values, str(point["ss"].n)])
    heading = ["model", "language", "SS", "LMS", "ICAT", "n"]
    view = ChartView((), draw_plot_svg("plane", {name: points}, name=f"plane-{name}"), heading, rows)
    label = f"Scatter plot of {len(points)} points: SS from left to right, LMS upwards, with 95 % intervals."
    return Chart(f"plane-{name}", [view], label, CAPTION)


panel = Panel("Sense and preference", order=30, draw=draw)
