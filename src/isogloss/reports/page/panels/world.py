"""The world map: scores by region, and the number of items about each region."""

from dataclasses import replace
from typing import Any

from ....analysis.regions import COUNTRY, REGION, country_names, unknown_regions
from ....items import group_by
from ...chart_data import worldwide
from ...figures._svg import share_outlines
from ...numbers import language_name, metric_name, model_label, number
from ..charts import draw_plot_svg
from ..data import PageData
from ..parts import Chart, ChartView
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """A map of the scores of each model and language, and one of how many items each country has."""
    if not data.regions:
        return None
    names, metric = country_names(), metric_name(data.regions[0].metric)
    cells = group_by(data.regions, lambda row: f"{model_label(row.group)}, {language_name(row.group['language'])}")
    views: list[ChartView] = []
    drawable = any(
        row.low is not None for row in data.regions
    )  # a map without any interval would show nothing but hatching
    for cell, rows in cells.items() if drawable else ():
        table = [[names[row.group[COUNTRY]], number(row), str(row.n), str(row.clusters)] for row in rows]
        pictures = draw_plot_svg("world", rows, name=f"world-{len(views)}", wide=False)
        views.append(ChartView((cell,), pictures, ["country", metric, "n", "clusters"], table))
    counts: dict[str, float] = {}
    for row in data.regions:
        counts[row.group[COUNTRY]] = max(float(row.clusters), counts.get(row.group[COUNTRY], 0.0))
    coverage = draw_plot_svg("coverage", counts, name="world-coverage", wide=False)
    maps, outlines = share_outlines([*(view.pictures[0] for view in views), *coverage], name="land")
    views = [replace(view, pictures=(picture,)) for view, picture in zip(views, maps[:-1], strict=True)]
    items = data.scored.table.unique(["dataset", "id"])
    regions = data.scored.table[REGION].drop_nulls()
    regions = regions.explode().drop_nulls() if regions.dtype.is_nested() else regions
    label = f"World map of {metric} by country."
    return {
        "scores": Chart("world-scores", views, label, choices=("Show",)) if views else None,
        "coverage": Chart(
            "world-coverage", [ChartView((), (maps[-1],))], "World map of how many stereotypes are told."
        ),
        "outlines": outlines,
        "unplaced": unknown_regions([str(region) for region in regions.unique()]),
        "worldwide": int(worldwide(items).sum()),
    }


panel = Panel("Where on earth", order=90, draw=draw)
