"""Charts of the steps, as a picture: bars for each step, and for the targets before and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import registry
from ..report.canvas import DOUBLE, Canvas, check_ending, save_figure
from ..report.plots import draw_plot
from .steps import Step, steps_as_rows


def draw_steps(steps: Sequence[Step], path: Path) -> Path:
    """The picture's path: the figure `problems`, in two columns."""
    check_ending(path)
    plot = registry.get("figure", "problems")
    figure = draw_plot(plot, steps_as_rows(steps), canvas=Canvas(DOUBLE))
    path.parent.mkdir(parents=True, exist_ok=True)
    return save_figure(figure, path, title=plot.title)
