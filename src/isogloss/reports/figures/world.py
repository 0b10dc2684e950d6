"""World maps of a model's scores: each country by the items whose stereotypes are told there."""

from collections.abc import Sequence
from typing import Any

from ... import registry
from ...analysis.measures import Measure
from ...analysis.regions import COUNTRY, REGION, country_names
from ...items import group_by
from ..chart_data import by_country, holds
from ..numbers import metric_name, model_label, side
from . import FigureRequest, Plot, main_metric, open_study
from ._maps import add_scale, draw_world, map_height
from ._marks import describe_point, measure_colours, scale_of
from ._style import Canvas, fit_name, language_label, new_panels


def find(request: FigureRequest) -> list[Measure]:
    """The headline metric, or the first of the request's, of each country, model and language."""
    study = open_study(request)
    scored = study.scores
    if not holds(scored, REGION):
        return []
    return by_country(scored, main_metric(request, study), settings=request.settings)


def draw(rows: Sequence[Measure], canvas: Canvas) -> Any:
    """A map for each model and language, all on one scale; hatched countries cannot be distinguished from neutral."""
    cells = group_by(rows, lambda row: (model_label(row.group), row.group["language"]))
    figure, axes_of, grid = new_panels(
        canvas, len(cells), height=lambda down, width: down * (map_height(width) + 0.3) + 0.5
    )
    neutral = registry.get("metric", rows[0].metric).neutral
    colour, ends = measure_colours(rows)
    for axes, ((who, tag), chosen) in zip(axes_of, cells.items(), strict=True):
        sure = {row.group[COUNTRY]: colour(row) for row in chosen if row.low is not None}
        unclear = {row.group[COUNTRY] for row in chosen if side(row, neutral) not in ("above", "below")}
        tips = {row.group[COUNTRY]: f"{country_names()[row.group[COUNTRY]]}, {describe_point(row)}" for row in chosen}
        draw_world(axes, sure, hatched=unclear if neutral is not None else set(tips) - set(sure), tips=tips)
        axes.set_title(fit_name(f"{who} · {language_label(tag, canvas)}", canvas, share=0.9 / grid.shape[1]))
    scale = scale_of(ends, neutral=neutral)
    add_scale(figure, scale, panels=list(grid.flat), label=metric_name(rows[0].metric))
    return figure


figure = Plot(
    title="Scores by country",
    needs="scores of items with regions: isogloss eval MODEL --data shades_demo --language en --out RUNS",
    caption="Hatched countries have an interval that includes the neutral point, those hatched on gray have too few stereotypes for an interval, and those hatched on darker gray are not interpretable; countries without hatching or color have no data. Items that are valid worldwide are left out.",
    find=find,
    draw=draw,
)
