"""The log of a training: one line per interval of examples, as CSV and for TensorBoard."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import require
from ..stats.resampling import smooth

LOG = "log.csv"
BOARD = "tensorboard"
DEVICE = ("watts", "utilisation")  # what a graphics processor tells of itself
COLUMNS = ("step", "examples", "loss", "accuracy", "core_rate", "head_rate", "seconds")

FOLDER = "curves"
Line = npt.NDArray[np.float64]


@dataclass(slots=True)
class Log:
    """An open log."""

    path: Path
    board: Any
    columns: tuple[str, ...] = COLUMNS

    def put(self, line: Mapping[str, float]) -> None:
        """Add a line."""
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, self.columns, extrasaction="ignore").writerow(line)
        for name in ("loss", "accuracy", "core_rate", "head_rate"):
            self.board.add_scalar(name, line[name], int(line["examples"]))

    def put_validation(self, examples: int, accuracy: float) -> None:
        """Add what validation gave, for TensorBoard."""
        self.board.add_scalar("validation_accuracy", accuracy, examples)

    def close(self) -> None:
        """Write what is still held back."""
        self.board.close()


def open_log(out: Path, lines: Sequence[Mapping[str, float]], *, examples: int, device: str = "cpu") -> Log:
    """The log of a folder, holding exactly these lines: later lines are written again.

    A device that tells its power and utilisation has columns for them.
    """
    columns = (*COLUMNS, *device_use(device))
    boards = require("torch.utils.tensorboard", extra="nsp")
    path = out / LOG
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(lines)
    return Log(path, boards.SummaryWriter(str(out / BOARD), purge_step=examples + 1 if examples else 0), columns)


def device_use(device: str) -> dict[str, float]:
    """The watts and the utilisation in per cent that a graphics processor tells; nothing where it tells nothing."""
    torch = require("torch", extra="nsp")
    if not device.startswith("cuda"):
        return {}
    try:
        return {"watts": torch.cuda.power_draw(device) / 1000, "utilisation": float(torch.cuda.utilization(device))}
    except Exception:  # the driver's library is missing, or does not know
        return {}


def zoom(values: Line) -> tuple[float, float]:
    """The range of the middle 96 % of the values after the first tenth, with a little margin."""
    low, high = np.percentile(values[len(values) // 10 :], [2, 98])
    space = 0.05 * max(high - low, 1e-3)
    return float(low - space), float(high + space)


def draw_curves(
    lines: Sequence[Mapping[str, float]], validations: Sequence[Mapping[str, float]], *, out: Path
) -> list[Path]:
    """The pictures' paths; none when nothing was logged."""
    if not lines:
        return []
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in (*COLUMNS, *DEVICE) if all(name in line for line in lines)]
    columns = {name: np.array([line[name] for line in lines], dtype=np.float64) for name in names}
    paths = []
    for name in ("loss", "accuracy"):
        points = validations if name == "accuracy" else ()
        raw = columns[name]
        for title, values, limits in (
            (name, raw, None),
            (f"{name}-zoomed", raw, zoom(raw)),
            (f"{name}-smoothed", smooth(raw), None),
        ):
            curve = {name: (columns["examples"], values)}
            paths.append(_draw(folder / f"{title}.png", curve, limits=limits, points=points))
    for name in ("core_rate", "head_rate", *(name for name in DEVICE if name in columns)):
        paths.append(_draw(folder / f"{name}.png", {name: (columns["examples"], columns[name])}))
    return paths


def _draw(
    path: Path,
    curves: Mapping[str, tuple[Line, Line]],
    *,
    limits: tuple[float, float] | None = None,
    points: Sequence[Mapping[str, float]] = (),
) -> Path:
    figures: Any = require("matplotlib.figure", extra="nsp")
    figure = figures.Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name, (x, y) in curves.items():
        axes.plot(x, y, label=name.replace("_", " "), color="#4477aa")
    if points:
        seen, accuracies = ([point[key] for point in points] for key in ("examples", "accuracy"))
        axes.plot(seen, accuracies, "o", label="validation", color="#ee6677")
    axes.set_xlabel("examples")
    if limits:
        axes.set_ylim(*limits)
    axes.legend()
    figure.savefig(path, dpi=120)
    return path
