"""How many items each bias type has, task by task."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl

from ...items import group_by
from ..numbers import english_first
from . import FigureRequest, Plot, open_items
from ._marks import COLOURS, add_legend, whole_ticks
from ._style import Canvas, language_label, new_panels

LINE = 0.2


Row = dict[str, Any]


def find(request: FigureRequest) -> list[Row]:
    """The number of items of each data set, language, task and bias type, in the order of the data."""
    table = open_items(request)
    if "task" not in table.columns:
        table = table.with_columns(task=pl.lit(None, dtype=pl.String))
    if "variant" in table.columns:
        table = table.filter(pl.col("variant").is_null())
    columns = ["dataset", "language", "task", "category"]
    counts = pl.col("id").n_unique().alias("items")
    counted = table.drop_nulls("category").group_by(columns, maintain_order=True).agg(counts)
    return counted.with_columns(pl.col("task").fill_null("")).to_dicts()


def draw(counts: Sequence[Row], canvas: Canvas) -> Any:
    """A panel for each task, bars for each language; the number and its share of the task are beside a bar."""
    tasks = group_by(counts, lambda row: (row["dataset"], row["task"]))
    sizes: Counter[str] = Counter()
    for row in counts:
        sizes[row["category"]] += row["items"]
    kinds = sorted(sizes, key=lambda kind: (sizes[kind], kind))
    tags = english_first(row["language"] for row in counts)
    line = LINE * max(1.0, 0.72 * len(tags))
    each = 0.45 + line * len(kinds)
    figure, axes_of, grid = new_panels(canvas, len(tasks), height=lambda down, _: 0.3 + down * each, shared="xy")
    several = len({data for data, _ in tasks}) > 1
    for axes, ((data, task), chosen) in zip(axes_of, tasks.items(), strict=True):
        _draw_task(axes, chosen, kinds=kinds, tags=tags, canvas=canvas)
        axes.set_title(" · ".join(filter(None, [data if several else "", task])) or data)
    for axes in grid[-1]:
        axes.set_xlabel("items")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    add_legend(figure, handles, labels=labels, canvas=canvas)
    return figure


def _draw_task(axes: Any, counts: Sequence[Row], *, kinds: list[str], tags: list[str], canvas: Canvas) -> None:
    thick = 0.8 / len(tags)
    for number, tag in enumerate(tags):
        chosen = [row for row in counts if row["language"] == tag]
        indices = [kinds.index(row["category"]) + 0.4 - thick * (number + 0.5) for row in chosen]
        sizes = [row["items"] for row in chosen]
        colour = COLOURS[number % len(COLOURS)]
        bars = axes.barh(indices, sizes, thick * 0.94, color=colour, label=language_label(tag, canvas))
        axes.bar_label(bars, [f"{size:,} ({100 * size / sum(sizes):.0f} %)" for size in sizes], padding=2, fontsize=6)
    axes.set_yticks(range(len(kinds)), kinds)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.3)
    axes.xaxis.set_major_locator(whole_ticks())


figure = Plot(
    title="Bias types of the data",
    needs="data with bias types, or runs of it: isogloss figure bias_types demo --language en",
    caption="Items of each bias type, and their share of the task's items.",
    find=find,
    draw=draw,
)
