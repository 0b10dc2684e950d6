"""The forest plot: the headline metric by bias type and language, each with its interval."""

from typing import Any

from ...chart_data import datasets
from ...figures._intervals import IntervalMark
from ...numbers import listed, metric_name, missing_intervals, plain_name
from ..charts import drawn_panels, interval_view
from ..data import PageData
from ..parts import Chart
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """One chart for each data set: bias types, and under each of them the languages."""
    parts = []
    for name, rows in datasets(row for row in data.categories if row.value is not None).items():
        marks = [IntervalMark(row.group["category"], plain_name(row.group["language"]), row) for row in rows]
        view = interval_view(f"forest-{name}", marks, title="bias type")
        label = f"{metric_name(rows[0].metric)} with 95 % intervals by bias type, language and model."
        chart = Chart(f"forest-{name}", [view], label)
        shown = drawn_panels(marks)
        hidden = list(dict.fromkeys(mark.panel for mark in marks if mark.panel not in shown)) if shown else []
        words = {"why": missing_intervals(rows), "hidden": listed(hidden) if hidden else ""}
        parts.append({"dataset": name, "chart": chart, "drawn": bool(view.pictures), **words})
    return {"parts": parts} if parts else None


panel = Panel("By bias type", order=40, draw=draw)
