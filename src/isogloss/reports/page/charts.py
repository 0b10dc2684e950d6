"""Charts of the page: the figures for papers as SVG inside the page, with the numbers behind each as a table."""

from collections.abc import Callable, Sequence
from typing import Any

from ... import registry
from ...analysis.measures import Measure
from ..figures import draw_styled
from ..figures._intervals import IntervalMark, draw_intervals
from ..figures._style import DOUBLE, Canvas, styled
from ..figures._svg import embed_svg
from ..numbers import english_first, language_name, metric_name, model_label, number, plain_name
from .parts import ChartView

NARROW, WIDE = Canvas(3.0), Canvas(DOUBLE)  # inches: letters of a figure are readable on a phone and on a wide screen


def draw_svg(draw: Callable[[Canvas], Any], *, name: str, wide: bool = True) -> tuple[str, ...]:
    """A chart as SVG, drawn for a narrow screen and, unless it gains nothing by it, again for a wide one."""
    canvases = (NARROW, WIDE) if wide else (NARROW,)
    with styled():
        return tuple(
            embed_svg(draw_styled(draw, canvas), name=f"{name}-{index}") for index, canvas in enumerate(canvases)
        )


def draw_plot_svg(plot: str, rows: Any, *, name: str, wide: bool = True) -> tuple[str, ...]:
    """A figure of that name, drawn from these rows, as SVG."""
    return draw_svg(lambda canvas: registry.get("figure", plot).draw(rows, canvas), name=name, wide=wide)


def interval_view(name: str, marks: Sequence[IntervalMark], *, title: str, keys: tuple[str, ...] = ()) -> ChartView:
    """Measures with their intervals as a chart and as a table; a panel in which none has an interval is in the table only."""
    rows = [mark.measure for mark in marks]
    tags = english_first(row.group["language"] for row in rows)
    lines = [plain_name(tag) for tag in tags if plain_name(tag) in {mark.line for mark in marks}]
    panels = drawn_panels(marks)
    drawn = [mark for mark in marks if mark.panel in panels]
    pictures = draw_svg(lambda canvas: draw_intervals(drawn, canvas, lines=lines), name=name) if drawn else ()
    metrics = list(dict.fromkeys(metric_name(row.metric) for row in rows))
    value_title = metrics[0] if len(metrics) == 1 else "value"
    return ChartView(
        keys,
        pictures,
        heading=[title, "model", "language", value_title, "n", "clusters"],
        rows=[[mark.panel, *measure_cells(mark.measure)] for mark in marks],
    )


def drawn_panels(marks: Sequence[IntervalMark]) -> set[str]:
    """The panels in which at least one measure has an interval."""
    return {mark.panel for mark in marks if mark.measure.low is not None}


def measure_cells(row: Measure) -> list[str]:
    """A measure as cells of a table: model, language, value with interval, items and clusters."""
    return [model_label(row.group), language_name(row.group["language"]), number(row), str(row.n), str(row.clusters)]
