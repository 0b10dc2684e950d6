"""World maps of a model's scores: each country by the items whose stereotypes are told there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import registry
from ...analysis.groups import check_rows
from ...analysis.measures import Measure, fitting_metrics
from ...analysis.regions import COUNTRY, REGION, country_names, country_scores
from ..page.data import headline
from ..page.parts import model_label, side
from ..text.measures import metric_name
from . import FigureRequest, Plot, open_scored, value_of
from ._maps import draw_world, map_height
from ._style import DOUBLE, WEAK, Canvas, colour_map, language_label, new_figure


def find(request: FigureRequest) -> list[Measure]:
    """The headline metric, or the first of the order's, of each country, model and language."""
    scored = open_scored(request)
    if REGION not in scored.table.columns or not scored.table[REGION].drop_nulls().len():
        return []
    metric = request.metrics[0] if request.metrics else headline(list(fitting_metrics(check_rows(scored))))
    found = country_scores(
        scored, metrics=[metric], resamples=request.drawing.resamples, seed=request.drawing.seed
    ).measures
    return [row for row in found if row.value is not None and row.group[COUNTRY] in country_names()]


def draw(rows: Sequence[Measure], canvas: Canvas) -> Any:
    """A map for each model and language, all on one scale; hatched countries cannot be told from neutral."""
    cells = list(dict.fromkeys((model_label(row.group), row.group["language"]) for row in rows))
    columns = min(len(cells), 2 if canvas.width >= DOUBLE else 1)
    down = -(-len(cells) // columns)
    figure = new_figure(canvas, down * (map_height(canvas.width / columns) + 0.3) + 0.5)
    grid = figure.subplots(down, columns, squeeze=False)
    neutral = registry.get("metric", rows[0].metric).neutral
    values = [value_of(row) for row in rows]
    paint = colour_map(min(values), max(values), neutral=neutral)
    for axes in grid.flat[len(cells) :]:
        axes.set_visible(False)
    for axes, (who, tag) in zip(grid.flat, cells, strict=False):
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
    caption="Hatched countries have an interval that includes the neutral point, or too few stereotypes for an interval; grey hatched ones are not interpretable; pale ones have no data.",
    find=find,
    draw=draw,
)
