"""World maps of a model's scores: each country by the items whose stereotypes are told there."""

from collections.abc import Sequence
from typing import Any

from ... import registry
from ...analysis.groups import check_rows
from ...analysis.measures import Measure, fitting_metrics
from ...analysis.regions import COUNTRY, REGION
from ..chart_data import by_country, headline, holds
from ..numbers import metric_name, model_label, side
from . import FigureRequest, Plot, open_scored, value_of
from ._maps import draw_world, map_height
from ._marks import WEAK, colour_map
from ._style import Canvas, language_label, new_panels


def find(request: FigureRequest) -> list[Measure]:
    """The headline metric, or the first of the order's, of each country, model and language."""
    scored = open_scored(request)
    if not holds(scored, REGION):
        return []
    metric = request.metrics[0] if request.metrics else headline(list(fitting_metrics(check_rows(scored))))
    return by_country(scored, metric, settings=request.drawing)


def draw(rows: Sequence[Measure], canvas: Canvas) -> Any:
    """A map for each model and language, all on one scale; hatched countries cannot be told from neutral."""
    cells = list(dict.fromkeys((model_label(row.group), row.group["language"]) for row in rows))
    figure, axes_of, grid = new_panels(
        canvas, len(cells), height=lambda down, width: down * (map_height(width) + 0.3) + 0.5
    )
    neutral = registry.get("metric", rows[0].metric).neutral
    values = [value_of(row) for row in rows]
    paint = colour_map(min(values), max(values), neutral=neutral)
    for axes, (who, tag) in zip(axes_of, cells, strict=True):
        chosen = [row for row in rows if (model_label(row.group), row.group["language"]) == (who, tag)]
        colours = {
            row.group[COUNTRY]: WEAK if row.interpretable is False else paint.to_rgba(value_of(row)) for row in chosen
        }
        unclear = {
            row.group[COUNTRY] for row in chosen if side(row, neutral) != "above" and side(row, neutral) != "below"
        }
        draw_world(axes, colours, hatched=unclear if neutral is not None else set())
        axes.set_title(f"{who} · {language_label(tag, canvas)}")
    bar = figure.colorbar(paint, ax=list(grid.flat), orientation="horizontal", shrink=0.55, aspect=30, pad=0.02)
    bar.set_label(metric_name(rows[0].metric))
    bar.outline.set_linewidth(0.4)
    return figure


figure = Plot(
    title="Scores by country",
    needs="scores of items with regions: isogloss eval MODEL --data shades_demo --language en --out RUNS",
    caption="Hatched countries have an interval that includes the neutral point, or too few stereotypes for an interval; grey hatched ones are not interpretable; pale ones have no data. Items that are valid worldwide are left out.",
    find=find,
    draw=draw,
)
