"""Pairs and parallel texts: CrowS-Pairs, MBE and other metrics beside LMS, SS and ICAT, with their intervals."""

import math
from typing import Any

from .... import registry
from ....analysis.comparisons import HEADLINES
from ....analysis.measures import Measure
from ...chart_data import datasets, without_task
from ...numbers import metric_name
from ..charts import interval_part
from ..data import PageData
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """One chart for all metrics of a data set that have the same scale, without the headlines of StereoSet."""
    rows = [row for row in without_task(data.overall) if row.metric not in HEADLINES and row.value is not None]
    parts = []
    for name, group in datasets(rows).items():
        scales: dict[tuple[Any, ...], list[Measure]] = {}
        for row in group:
            known = registry.get("metric", row.metric)
            alone = (
                row.metric if math.isinf(known.bounds[1] - known.bounds[0]) else ""
            )  # a scale without ends is its own
            scales.setdefault((*known.bounds, known.neutral, alone), []).append(row)
        for number, kept in enumerate(scales.values()):
            metrics = dict.fromkeys(row.metric for row in kept)
            pairs = [(metric_name(metric), row) for metric in metrics for row in kept if row.metric == metric]
            known = [registry.get("metric", metric) for metric in metrics]
            parts.append(
                interval_part(f"pairs-{name}-{number}", pairs, title="measure") | {"dataset": name, "known": known}
            )
    return {"parts": parts} if parts else None


panel = Panel("Pairs, parallel texts and other measures", order=100, draw=draw)
