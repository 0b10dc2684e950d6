"""The curves of a training, as pictures: raw, zoomed, smoothed, and both learning rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import need
from ..stats.resampling import smooth

FOLDER = "curves"
Line = npt.NDArray[np.float64]


def zoom(values: Line) -> tuple[float, float]:
    """The range of the middle 96 % of the values after the first tenth, with a little room."""
    low, high = np.percentile(values[len(values) // 10 :], [2, 98])
    room = 0.05 * max(high - low, 1e-3)
    return float(low - room), float(high + room)


def draw_curves(
    lines: Sequence[Mapping[str, float]], validations: Sequence[Mapping[str, float]], *, out: Path
) -> list[Path]:
    """The pictures' paths; none when nothing was logged."""
    if not lines:
        return []
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    columns = {name: np.array([line[name] for line in lines], dtype=np.float64) for name in lines[0]}
    made = []
    for name in ("loss", "accuracy"):
        points = validations if name == "accuracy" else ()
        raw = columns[name]
        for title, values, limits in (
            (name, raw, None),
            (f"{name}-zoomed", raw, zoom(raw)),
            (f"{name}-smoothed", smooth(raw), None),
        ):
            curve = {name: (columns["examples"], values)}
            made.append(_draw(folder / f"{title}.png", curve, limits=limits, points=points))
    for name in ("core_rate", "head_rate"):
        made.append(_draw(folder / f"{name}.png", {name: (columns["examples"], columns[name])}))
    return made


def _draw(
    path: Path,
    curves: Mapping[str, tuple[Line, Line]],
    *,
    limits: tuple[float, float] | None = None,
    points: Sequence[Mapping[str, float]] = (),
) -> Path:
    figures: Any = need("matplotlib.figure", extra="nsp")
    figure = figures.Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name, (x, y) in curves.items():
        axes.plot(x, y, label=name.replace("_", " "), color="#4477aa")
    if points:
        seen, found = ([point[key] for point in points] for key in ("examples", "accuracy"))
        axes.plot(seen, found, "o", label="validation", color="#ee6677")
    axes.set_xlabel("examples")
    if limits:
        axes.set_ylim(*limits)
    axes.legend()
    figure.savefig(path, dpi=120)
    return path
