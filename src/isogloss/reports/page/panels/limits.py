"""What the numbers do not mean, and what each metric says of itself."""

from __future__ import annotations

from .... import registry
from ...text.measures import metric_name
from ..data import PageData
from ..parts import Panel, panel


def draw(data: PageData) -> Panel:
    """The limits that hold for every report, and the cautions of the metrics in this one."""
    names = dict.fromkeys(row.metric for row in data.overall)
    cautions = [{"name": metric_name(name), "text": registry.get("metric", name).caution} for name in names]
    return panel("limits", "What the numbers do not mean", cautions=cautions)
