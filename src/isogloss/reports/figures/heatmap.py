"""Models by languages as a heat map: monolingual above multilingual, each cell with its interval."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ... import registry
from ...analysis.headlines import main_metric
from ...analysis.measures import Measure
from ..chart_data import datasets, lines_by_kind, model_kinds, without_task
from ..numbers import between, dagger, english_first, expected_ranges, metric_name, model_label, short, side
from ..numbers import ends as ends_of
from . import FigureRequest, Plot, measured, open_study
from ._marks import CELL_INK, GREY, PALE, SIGNS, describe_point, measure_colours
from ._style import SMALL, Canvas, fit_name, language_label, new_panels
from ._svg import explain

LINE, GAP = 0.32, 0.35
LEGEND = 3.6  # inches that the meaning of the colors takes on one line
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
    study = open_study(request)
    kinds = model_kinds(study.runs, request.facts)
    panels = []
    for name, group in datasets(without_task(measured(request, study, metrics=()))).items():
        metrics = list(dict.fromkeys(row.metric for row in group))
        for metric in metrics if request.metrics else [main_metric(metrics)]:
            panels.append(HeatmapTable(name, metric, tuple(row for row in group if row.metric == metric), kinds))
    return panels


def draw(tables: Sequence[HeatmapTable], canvas: Canvas) -> Any:
    """A map for each table: side by side on a wide canvas, else below each other."""
    each = 0.85 + LINE * max(len(lines_by_kind(table.rows, table.kinds)) for table in tables)
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
    tags = english_first(row.group["language"] for row in table.rows)
    lines = lines_by_kind(table.rows, table.kinds)
    heights, height = {}, 0.0
    for index, (name, kind) in enumerate(lines):
        height += GAP if index and kind != lines[index - 1][1] else 0.0
        heights[name] = height
        height += 1
    colour, _ = measure_colours(table.rows)
    for row in table.rows:
        at = tags.index(row.group["language"]), heights[model_label(row.group)]
        _draw_cell(axes, row, at=at, colour=colour(row), space=space)
    axes.set_xlim(-0.5, len(tags) - 0.5)
    axes.set_ylim(height - 0.5, -0.5)
    labels = [language_label(tag, canvas) if space > 0.75 else tag for tag in tags]
    axes.set_xticks(range(len(tags)), labels)
    axes.set_yticks(list(heights.values()), [fit_name(name, canvas) for name in heights])
    axes.tick_params(length=0, top=True, bottom=False, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    title = f"{metric_name(table.metric)}, {table.dataset}"
    axes.set_title(fit_name(title, canvas, share=0.9), fontweight="bold")
    axes.set_xlabel("\n".join(_legend(table, narrow=space * len(tags) < LEGEND)), fontsize=SMALL, color=GREY)
    kinds = list(dict.fromkeys(kind for _, kind in lines))
    for kind in kinds if len(kinds) > 1 else []:
        positions = [heights[name] for name, other in lines if other == kind]
        text = kind if len(positions) > 1 else kind.replace("lingual", "-\nlingual")  # the height of one row
        axes.annotate(
            text, (1.0, sum(positions) / len(positions)), (2, 0), xycoords=("axes fraction", "data"), rotation=-90,
            textcoords="offset points", ha="left", va="center", fontsize=SMALL, color=GREY, annotation_clip=False,
        )  # fmt: skip


def _legend(table: HeatmapTable, *, narrow: bool) -> Iterator[str]:
    """What the colors mean, and what chance would give, where that is known."""
    neutral = registry.get("metric", table.metric).neutral
    if neutral is not None:
        signs = (f"▲ orange: above {neutral:g} · ▼ blue: below", f"≈ pale: interval includes {neutral:g}")
        yield ("\n" if narrow else " · ").join(signs)
    elif len({row.value for row in table.rows}) > 1:
        yield "stronger green: higher value"
    if chance := expected_ranges(table.rows):
        yield ", ".join(f"{name} {text}" for name, text in chance)


def _draw_cell(axes: Any, row: Measure, *, at: tuple[float, float], colour: str, space: float) -> None:
    """A colored field with the value, and its interval where there is space; gray and hatched where not interpretable."""
    from matplotlib.patches import Rectangle

    weak = row.interpretable is False
    x, y = at
    field = Rectangle((x - 0.48, y - 0.47), 0.96, 0.94, facecolor=PALE if weak else colour, linewidth=0)
    axes.add_patch(field)
    if weak:
        field.set(hatch="//////", edgecolor="white")
    explain(field, describe_point(row))
    neutral = registry.get("metric", row.metric).neutral
    ends = between(row.low, row.high, form=".0f") if space < WIDE else ends_of(row)
    value = f"{short(row)}{SIGNS.get(side(row, neutral), dagger(row))}"
    two = bool(ends) and space >= NARROW
    shared = {"ha": "center", "va": "center_baseline", "fontsize": SMALL, "color": GREY if weak else CELL_INK}
    label = axes.text(x, y - 0.2 if two else y, value, fontweight="bold", **shared)
    for text in [label, *([axes.text(x, y + 0.24, ends, **shared)] if two else [])]:
        text.set_in_layout(False)
        explain(text, describe_point(row))


figure = Plot(
    title="Models and languages",
    needs="scores that can be measured: isogloss eval MODEL --data stereoset --out RUNS",
    caption="Below a value is its 95 % interval over clusters of items; ▲ and ▼ mark values above and below the neutral point, ≈ one whose interval includes it, whose field stays pale whatever its value; a hatched gray field with † is not interpretable. Below macro ICAT is what a model without any preference (unbiased) and one with the same SS for every target (homogeneous) would get.",
    find=find,
    draw=draw,
)
