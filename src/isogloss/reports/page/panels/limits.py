"""What the numbers do not mean, and what each metric says of itself."""

from typing import Any

from .... import registry
from ...numbers import metric_name
from ..data import PageData
from . import Panel


def draw(data: PageData) -> dict[str, Any]:
    """The limits that hold for every report, and the cautions of the metrics in this one."""
    names = dict.fromkeys(row.metric for row in data.overall)
    return {"cautions": [{"name": metric_name(name), "text": registry.get("metric", name).caution} for name in names]}


panel = Panel("What the numbers do not mean", order=150, draw=draw)
