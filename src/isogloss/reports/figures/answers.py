"""How often a chat model says yes, no or neither, for each prompt and language."""

from collections.abc import Sequence
from typing import Any

from ...analysis.measures import Measure
from ...chat.answer_rows import ANSWER
from ...items import group_by
from ..numbers import english_first, model_label
from . import FigureRequest, Plot, measured, open_scored, value_of
from ._marks import HIGH, LOW, PALE, add_legend
from ._style import Canvas, language_label, new_panels

METRICS = ("answered_yes", "answered_none", "answered_no")
NAMES = ("yes", "neither", "no")
LOOKS = (HIGH, PALE, LOW)
LINE = 0.2


def find(request: FigureRequest) -> list[Measure]:
    """The three shares for each model, language and prompt."""
    scored = open_scored(request)
    if "prompt" not in scored.table.columns or ANSWER not in set(scored.table["quantity"]):
        return []
    return [row for row in measured(request, scored, metrics=METRICS, by=["prompt"]) if row.metric in METRICS]


def draw(rows: Sequence[Measure], canvas: Canvas) -> Any:
    """A panel for each prompt and model; yes grows from the left, no from the right, so that both ends show an interval."""
    from matplotlib.patches import Patch

    panels = group_by(rows, lambda row: (model_label(row.group), row.group["prompt"]))
    several = len({who for who, _ in panels}) > 1
    tags = english_first(row.group["language"] for row in rows)
    most = min(len({prompt for _, prompt in panels}), 3)
    each = 0.34 + LINE * len(tags)
    figure, axes_of, grid = new_panels(
        canvas, len(panels), height=lambda down, _: 0.62 + down * each, most=most, shared="xy"
    )
    for axes, ((who, prompt), chosen) in zip(axes_of, panels.items(), strict=True):
        for row in chosen:
            _draw_part(axes, row, position=tags.index(row.group["language"]))
        axes.set_title(f"{who} · {prompt}" if several else prompt, loc="left", pad=2)
        axes.set_yticks(range(len(tags)), [language_label(tag, canvas) for tag in tags])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(tags) - 0.5, -0.5)
        axes.set_xlim(0, 100)
    for axes in grid[-1]:
        axes.set_xlabel("answers, %")
    add_legend(figure, [Patch(color=colour) for colour in LOOKS], labels=NAMES, canvas=canvas)
    return figure


def _draw_part(axes: Any, row: Measure, *, position: int) -> None:
    """Yes from the left edge, no from the right; neither lies under them and shows between."""
    value = value_of(row)
    if row.metric == "answered_none":
        axes.barh(position, 100, 0.8, color=PALE, zorder=1)
        return
    right = row.metric == "answered_no"
    axes.barh(position, value, 0.8, left=100 - value if right else 0, color=LOW if right else HIGH, zorder=2)
    if row.low is not None and row.high is not None:
        ends = [100 - row.high, 100 - row.low] if right else [row.low, row.high]
        height = position + (0.15 if right else -0.15)
        axes.plot(ends, [height, height], color="black", linewidth=0.8, zorder=3, clip_on=False)


figure = Plot(
    title="Answers to prompts",
    needs="answers of chat models: isogloss ask MODEL --data demo --language en --out RUNS",
    caption="Answers that say yes (from the left), no (from the right) and neither (between); black lines are 95 % intervals over clusters of items.",
    find=find,
    draw=draw,
)
