"""The log of a training as CSV, and its curves."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import require
from ..stats.resampling import smooth

LOG = "log.csv"
DEVICE = ("watts", "utilisation")  # what a graphics processor tells of itself
COLUMNS = ("step", "examples", "loss", "accuracy", "core_rate", "head_rate", "seconds")
FOLDER = "curves"


def write_lines(out: Path, lines: Sequence[Mapping[str, float]], *, mode: str) -> None:
    """Begin the log of a folder with these lines (mode w), or continue it (mode a).

    A device that reports its power and utilisation has columns for them.
    """
    with (out / LOG).open(mode, encoding="utf-8", newline="") as file:
        for line in lines:
            columns = [name for name in (*COLUMNS, *DEVICE) if name in line]
            if not file.tell():
                csv.writer(file).writerow(columns)
            csv.writer(file).writerow(line[name] for name in columns)


def device_use(device: str) -> dict[str, float]:
    """The watts and the utilisation in per cent that a graphics processor tells; nothing where it tells nothing."""
    torch = require("torch", extra="nsp")
    if not device.startswith("cuda"):
        return {}
    try:
        return {"watts": torch.cuda.power_draw(device) / 1000, "utilisation": float(torch.cuda.utilization(device))}
    except Exception:  # the driver's library is missing, or does not know
        return {}


def zoom(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The range of the middle 96 % of the values after the first tenth, with a little margin."""
    low, high = np.percentile(values[len(values) // 10 :], [2, 98])
    space = 0.05 * max(high - low, 1e-3)
    return float(low - space), float(high + space)


def draw_curves(lines: Sequence[Mapping[str, float]], validations: Sequence[Mapping[str, float]], *, out: Path) -> None:
    """Draw what was logged over the examples, loss and accuracy also zoomed and smoothed; nothing without lines."""
    if not lines:
        return
    figures: Any = require("matplotlib.figure", extra="nsp")
    (out / FOLDER).mkdir(parents=True, exist_ok=True)
    names = [name for name in (*COLUMNS, *DEVICE) if all(name in line for line in lines)]
    columns = {name: np.array([line[name] for line in lines], dtype=np.float64) for name in names}
    curves = [
        (name, columns[name]) for name in ("loss", "accuracy", "core_rate", "head_rate", *DEVICE) if name in names
    ]
    curves += [(f"{name}-zoomed", columns[name]) for name in ("loss", "accuracy")]
    curves += [(f"{name}-smoothed", smooth(columns[name])) for name in ("loss", "accuracy")]
    for title, values in curves:
        name = title.partition("-")[0]
        figure = figures.Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        axes.plot(columns["examples"], values, label=name.replace("_", " "), color="#4477aa")
        if name == "accuracy" and validations:
            seen, accuracies = ([point[key] for point in validations] for key in ("examples", "accuracy"))
            axes.plot(seen, accuracies, "o", label="validation", color="#ee6677")
        axes.set_xlabel("examples")
        if title.endswith("-zoomed"):
            axes.set_ylim(*zoom(values))
        axes.legend()
        figure.savefig(out / FOLDER / f"{title}.png", dpi=120)
