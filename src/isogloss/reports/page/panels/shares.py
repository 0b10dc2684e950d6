"""Template shares: how a model divides probability among the terms of a template, as stacked bars per language."""

from typing import Any

from ....analysis.measures import Measure
from ....items import group_by
from ...numbers import language_name, percent
from ..charts import draw_plot_svg
from ..data import PageData
from ..parts import Chart, ChartView
from . import Panel

GROUP = ("model", "language", "set", "concept", "term")


def draw(data: PageData) -> dict[str, Any] | None:
    """A panel for each language; the reader chooses model and set. Concepts are sorted by the share of the largest term."""
    table = data.extras.shares
    if table is None or not table.height:
        return None
    rows = [
        Measure(
            "share", {name: row[name] for name in GROUP}, row["share"], row.get("low"), row.get("high"), 0, 0, 0, ""
        )
        for row in table.iter_rows(named=True)
    ]
    views = []
    for index, (keys, chosen) in enumerate(group_by(rows, lambda row: (row.group["model"], row.group["set"])).items()):
        cells = [
            [language_name(row.group["language"]), row.group["concept"], row.group["term"], percent(row.value, (row.low, row.high))]
            for row in chosen
        ]  # fmt: skip
        pictures = draw_plot_svg("shares", chosen, name=f"shares-{index}")
        views.append(ChartView((", ".join(keys),), pictures, ["language", "concept", "term", "share"], cells))
    label = "Stacked bars of the terms' shares for each concept."
    return {"chart": Chart("shares-chart", views, label, choices=("Model and set",))}


panel = Panel("Shares in templates", order=70, draw=draw)
