"""Charts of the steps, as a picture: bars for each step, and for the targets before and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import IsoglossError, need
from .steps import Step

FORMATS = (".svg", ".png", ".pdf")
MOST_TARGETS = 40


def draw_steps(steps: Sequence[Step], path: Path) -> Path:
    """The picture's path: problems after each step on the left, by target before and after on the right."""
    if path.suffix not in FORMATS:
        raise IsoglossError(f"A chart cannot be written as '{path.suffix}'. Use one of {', '.join(FORMATS)}.")
    figures = need("matplotlib.figure", extra="translate")
    first, last = steps[0], steps[-1]
    targets = list(first.targets)[:MOST_TARGETS][::-1]
    figure = figures.Figure(figsize=(12, max(4.0, 0.22 * len(targets))), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.barh([step.name for step in steps][::-1], [step.problems for step in steps][::-1], color="#4477aa")
    left.set_xlabel("items with an error or a warning")
    right.barh(targets, [first.targets[name] for name in targets], color="#ccbb44", label=first.name)
    right.barh(targets, [last.targets.get(name, 0) for name in targets], color="#4477aa", label=f"after {last.name}")
    right.set_xlabel("the same, by target")
    right.legend(loc="lower right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    return path
