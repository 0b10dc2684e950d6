"""The forest plot: the headline metric by bias type and language, each with its interval."""

from typing import Any

from ...chart_data import datasets
from ...numbers import missing_intervals
from ..charts import interval_part
from ..data import PageData
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """One chart for each data set: bias types, and under each of them the languages."""
    parts = []
    for name, rows in datasets(row for row in data.categories if row.value is not None).items():
        part = interval_part(f"forest-{name}", [(row.group["category"], row) for row in rows], title="bias type")
        parts.append(part | {"dataset": name, "why": missing_intervals(rows)})
    return {"parts": parts} if parts else None


panel = Panel("By bias type", order=40, draw=draw)
