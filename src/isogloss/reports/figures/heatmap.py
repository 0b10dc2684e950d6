"""Models by languages as a heat map: monolingual above multilingual, each cell with its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ... import registry
from ...analysis.headlines import main_metric
from ...analysis.measures import Measure
from ..chart_data import datasets, lines_by_kind, model_kinds, without_task
from ..numbers import between, dagger, english_first, expected_ranges, metric_name, model_label, short, side
from . import FigureRequest, Plot, measured, open_runs, open_scored, value_of
from ._marks import GREY, PALE, colour_map, ink_on
from ._style import SMALL, Canvas, language_label, new_panels

LINE, GAP = 0.3, 0.35
NARROW, WIDE = 0.3, 0.47  # inches of a cell: the least for an interval, and for one with decimals


@dataclass(frozen=True, slots=True)
class HeatmapTable:
    """One metric on one data set: its measures, and the kind of each model."""

    dataset: str
    metric: str
    rows: tuple[Measure, ...]
    kinds: Mapping[str, str]


def find(request: FigureRequest) -> list[HeatmapTable]:
    """A table for each data set and metric; without metrics the headline of the data."""
    scored = open_scored(request)
    kinds = model_kinds(open_runs(request), request.facts)
    panels = []
    for name, group in datasets(without_task(measured(request, scored, metrics=()))).items():
        metrics = list(dict.fromkeys(row.metric for row in group))
        for metric in metrics if request.metrics else [main_metric(metrics)]:
            panels.append(HeatmapTable(name, metric, tuple(row for row in group if row.metric == metric), kinds))
    return panels


def draw(tables: Sequence[HeatmapTable], canvas: Canvas) -> Any:
    """A map for each table: side by side on a wide canvas, else below each other."""
    each = 0.75 + LINE * max(len(lines_by_kind(table.rows, table.kinds)) for table in tables)
    shared = "y" if len({table.dataset for table in tables}) == 1 else ""
    figure, axes_of, grid = new_panels(
        canvas, len(tables), height=lambda down, _: 0.1 + down * each, most=3, shared=shared
    )
    columns = grid.shape[1]
    for axes, table in zip(axes_of, tables, strict=True):
        tags = len({row.group["language"] for row in table.rows})
        space = (canvas.width * 0.72 if columns == 1 else canvas.width * 0.8 / columns) / tags
        _draw_map(axes, table, canvas=canvas, space=space)
    return figure


def _draw_map(axes: Any, table: HeatmapTable, *, canvas: Canvas, space: float) -> None:
    """The cells of a table, and at the right edge the name of each kind of models, when there are several."""
    known = registry.get("metric", table.metric)
    tags = english_first(row.group["language"] for row in table.rows)
    lines = lines_by_kind(table.rows, table.kinds)
    heights, height = {}, 0.0
    for number, (name, kind) in enumerate(lines):
        height += GAP if number and kind != lines[number - 1][1] else 0.0
        heights[name] = height
        height += 1
    values = [value_of(row) for row in table.rows]
    paint = colour_map(min(values), max(values), neutral=known.neutral)
    for row in table.rows:
        at = tags.index(row.group["language"]), heights[model_label(row.group)]
        _draw_cell(axes, row, at=at, paint=paint, space=space)
    axes.set_xlim(-0.5, len(tags) - 0.5)
    axes.set_ylim(height - 0.5, -0.5)
    labels = [language_label(tag, canvas) if space > 0.75 else tag for tag in tags]
    axes.set_xticks(range(len(tags)), labels)
    axes.set_yticks(list(heights.values()), list(heights))
    axes.tick_params(length=0, top=True, bottom=False, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.set_title(f"{metric_name(table.metric)}, {table.dataset}", fontweight="bold")
    axes.set_xlabel(
        ", ".join(f"{name} {text}" for name, text in expected_ranges(table.rows)), fontsize=SMALL, color=GREY
    )
    kinds = list(dict.fromkeys(kind for _, kind in lines))
    for kind in kinds if len(kinds) > 1 else []:
        positions = [heights[name] for name, other in lines if other == kind]
        axes.annotate(
            kind, (1.0, sum(positions) / len(positions)), xycoords=("axes fraction", "data"), rotation=-90,
            ha="left", va="center", fontsize=SMALL, color=GREY, annotation_clip=False,
        )  # fmt: skip


def _draw_cell(axes: Any, row: Measure, *, at: tuple[float, float], paint: Any, space: float) -> None:
    """A coloured field with the value, and its interval where there is space; grey and hatched where not interpretable."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    weak = row.interpretable is False
    colour = to_rgba(PALE) if weak else paint.to_rgba(value_of(row))
    x, y = at
    field = Rectangle((x - 0.48, y - 0.47), 0.96, 0.94, facecolor=colour, linewidth=0)
    axes.add_patch(field)
    if weak:
        field.set(hatch="//////", edgecolor="white")
    neutral = registry.get("metric", row.metric).neutral
    ends = between(row.low, row.high, form=".0f") if space < WIDE else between(row.low, row.high)
    mark = " °" if side(row, neutral) == "unclear" else dagger(row)
    shown = f"{short(row)}{mark}" + (f"\n{ends}" if ends and space >= NARROW else "")
    axes.text(
        x, y, shown, ha="center", va="center", fontsize=SMALL, color=GREY if weak else ink_on(colour), linespacing=1.05
    )


figure = Plot(
    title="Models and languages",
    needs="scores that can be measured: isogloss eval MODEL --data stereoset --out RUNS",
    caption="Below a value is its 95 % interval over clusters of items; ° marks a value that cannot be told from neutral, and a hatched grey field with † one that is not interpretable. Below macro ICAT is what a model without any preference (unbiased) and one with the same SS for every target (homogeneous) would get.",
    find=find,
    draw=draw,
)
