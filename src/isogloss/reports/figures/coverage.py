"""A world map of how many stereotypes of the data are told in each country."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from ...analysis.regions import REGION, countries_of, country_names
from ..chart_data import worldwide
from . import FigureRequest, Plot, open_items
from ._maps import add_scale, draw_world, map_height
from ._marks import field_colour, scale_of
from ._style import Canvas, new_figure


def find(request: FigureRequest) -> dict[str, float]:
    """The number of stereotypes (clusters of items) of each country that has any."""
    table = open_items(request)
    if REGION not in table.columns:
        return {}
    rows = table.filter(~worldwide(table)).drop_nulls(REGION)
    rows = rows.select("dataset", pl.coalesce("cluster", "id").alias("cluster"), REGION)
    rows = rows.explode(REGION) if isinstance(rows.schema[REGION], pl.List) else rows
    sentences: dict[str, set[tuple[str, str]]] = {}
    for dataset, cluster, region in rows.unique().iter_rows():
        for code in countries_of(region) or ():
            sentences.setdefault(code, set()).add((dataset, cluster))
    return {code: float(len(keys)) for code, keys in sentences.items()}


def draw(counts: Mapping[str, float], canvas: Canvas) -> Any:
    """Countries without data stay pale."""
    figure = new_figure(canvas, map_height(canvas.width) + 0.8)
    most, names = max(counts.values()), country_names()
    axes = figure.subplots()
    colours = {code: field_colour(count, most, least=0.0) for code, count in counts.items()}
    draw_world(axes, colours, tips={code: f"{names.get(code, code)}: {count:,.0f}" for code, count in counts.items()})
    add_scale(figure, scale_of((0.0, most), neutral=None), panels=axes, label="number of stereotypes")
    axes.set_title("Stereotypes told in a country")
    return figure


figure = Plot(
    title="Where the data's stereotypes are told",
    needs="data with regions, or runs of it: isogloss figure coverage shades_demo",
    caption="Stereotypes (clusters of items) whose regions include a country, without those that are told worldwide; countries without any are pale.",
    find=find,
    draw=draw,
)
