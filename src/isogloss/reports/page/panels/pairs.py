"""Pairs and parallel texts: CrowS-Pairs, MBE and other metrics beside LMS, SS and ICAT, with their intervals."""

import math
from typing import Any

from .... import registry
from ....analysis.measures import Measure
from ....items import group_by
from ...chart_data import PLANE, datasets, without_task
from ...figures._intervals import IntervalMark
from ...numbers import listed, metric_name, order_name, plain_name
from ..charts import interval_view
from ..data import PageData
from ..parts import Chart
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """One chart for all metrics of a data set that have the same scale, without the headlines of StereoSet."""

    def scale(row: Measure) -> tuple[Any, ...]:
        plugin = registry.get("metric", row.metric)
        endless = math.isinf(plugin.bounds[1] - plugin.bounds[0])
        return (*plugin.bounds, plugin.neutral, row.metric if endless else "")  # a scale without ends is its own

    rows = [row for row in without_task(data.overall) if row.metric not in PLANE and row.value is not None]
    parts = []
    for dataset, group in datasets(rows).items():
        for index, kept in enumerate(group_by(group, scale).values()):
            name, metrics = f"pairs-{dataset}-{index}", group_by(kept, lambda row: row.metric)
            measures = [row for of_metric in metrics.values() for row in of_metric]
            marks = [IntervalMark(_label(row), plain_name(row.group["language"]), row) for row in measures]
            view = interval_view(name, marks, title="measure")
            label = f"{listed(list(map(metric_name, metrics)))} with 95 % intervals by language and model."
            described = [registry.get("metric", metric) for metric in metrics]
            parts.append({"dataset": dataset, "chart": Chart(name, [view], label), "metrics": described})
    return {"parts": parts} if parts else None


def _label(row: Measure) -> str:
    """The metric's name, with the order of the groups where the data names them."""
    order = order_name(row)
    return f"{metric_name(row.metric)} ({order})" if order else metric_name(row.metric)


panel = Panel("Pairs, parallel texts and other measures", order=100, draw=draw)
