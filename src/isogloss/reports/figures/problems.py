"""Items with a problem after each step of a translation, and by target before and after."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import BadData, IsoglossError
from ...files.rows import read_json
from . import FigureRequest, Plot
from ._marks import COLOURS, PALE, whole_ticks
from ._style import DOUBLE, Canvas, new_figure

MOST = 25
LINE = 0.145
Step = Mapping[str, Any]


def find(request: FigureRequest) -> list[Step]:
    """The steps that a translation's folder, or what `data repair --format json` printed, tells of."""
    steps: list[Step] = []
    for source in request.sources:
        path = Path(source)
        file = path / "work" / "project.json" if path.is_dir() else path
        if not file.is_file():
            raise IsoglossError(
                f"{source} is not a translation. Make one with: isogloss data translate … --out {source}"
            )
        content = read_json(file)
        try:
            steps += [{name: row[name] for name in ("name", "tasks", "targets")} for row in content["steps"]]
        except (TypeError, KeyError) as error:
            raise BadData(
                file, None, "has no steps. Give a translation's folder, or what data repair --format json prints."
            ) from error
    return steps


def draw(steps: Sequence[Step], canvas: Canvas) -> Any:
    """Steps above or on the left, targets below or on the right; targets beyond the first ones are counted, not shown."""
    counts = steps[0]["targets"]
    targets = sorted(counts, key=lambda name: (-counts[name], name))[:MOST][::-1]
    wide = canvas.width >= DOUBLE
    heights = [0.65 + 0.19 * len(steps), 0.75 + LINE * len(targets)]
    if not targets:
        figure = new_figure(canvas, heights[0])
        _draw_steps(figure.subplots(), steps)
        return figure
    figure = new_figure(canvas, max(heights) if wide else sum(heights) + 0.2)
    shape: dict[str, Any] = {"width_ratios": [1, 1.25]} if wide else {"height_ratios": heights}
    top, axes = figure.subplots(*((1, 2) if wide else (2, 1)), gridspec_kw=shape)
    _draw_steps(top, steps)
    _draw_targets(axes, targets, steps=steps)
    return figure


def _draw_targets(axes: Any, targets: Sequence[str], *, steps: Sequence[Step]) -> None:
    """A pale bar for the first step, and a narrow one on it for the last."""
    first, positions = steps[0], range(len(targets))
    axes.barh(positions, [first["targets"][name] for name in targets], 0.8, color=PALE, label=_title(first))
    if len(steps) > 1:
        kept = [steps[-1]["targets"].get(name, 0) for name in targets]
        axes.barh(positions, kept, 0.45, color=COLOURS[0], label=f"after {_title(steps[-1])}")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 0.99), ncols=2)
    axes.set_xlabel("items with an error or a warning")
    axes.tick_params(axis="y", length=0, labelsize=6)
    axes.set_yticks(positions, targets)
    axes.set_ylim(-0.6, len(targets) - 0.4)
    hidden = len(first["targets"]) - len(targets)
    axes.set_title(f"by target ({hidden} more not shown)" if hidden > 0 else "by target", pad=16)
    axes.xaxis.set_major_locator(whole_ticks())


def _draw_steps(axes: Any, steps: Sequence[Step]) -> None:
    """Stacked bars, one for each step and a part for each task."""
    tasks = list(dict.fromkeys(task for step in steps for task in step["tasks"]))
    positions = range(len(steps))[::-1]
    left = [0] * len(steps)
    for number, task in enumerate(tasks):
        sizes = [step["tasks"].get(task, 0) for step in steps]
        axes.barh(positions, sizes, 0.7, left=left, color=COLOURS[number % len(COLOURS)], label=task)
        left = [edge + size for edge, size in zip(left, sizes, strict=True)]
    for position, total in zip(positions, left, strict=True):
        axes.annotate(f"{total:,}", (total, position), (3, 0), textcoords="offset points", va="center", fontsize=6)
    axes.set_yticks(list(positions), [_title(step) for step in steps])
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, max(1.0, 1.18 * max(left)))
    axes.xaxis.set_major_locator(whole_ticks())
    axes.set_title("after each step", pad=16 if len(tasks) > 1 else None)
    axes.set_xlabel("items with an error or a warning")
    if len(tasks) > 1:
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 0.99), ncols=2)


def _title(step: Step) -> str:
    return str(step["name"]).replace("_", " ")


figure = Plot(
    title="Problems after each step of a translation",
    needs="a translation that was repaired: isogloss data translate DATA --out FOLDER, then isogloss data repair FOLDER",
    caption="Items in which a check finds an error or a warning, after each step and by target.",
    find=find,
    draw=draw,
)
