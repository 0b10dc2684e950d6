"""Loss, accuracy and learning rates of a training, raw and smoothed, with what validation gave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ...errors import BadData, IsoglossError
from ...files.rows import read_json
from ...stats.resampling import Array, smooth
from . import FigureRequest, Plot
from ._marks import COLOURS
from ._style import DOUBLE, Canvas, new_figure

LOG, CARD = "log.csv", "card.json"
DEPTH = 100  # how far below its peak a rate is shown
COLUMNS = ("examples", "loss", "accuracy", "core_rate", "head_rate")


@dataclass(frozen=True)
class Training:
    """The lines of a log as columns, and the accuracy at each validation."""

    name: str
    columns: Mapping[str, Array]
    validations: Sequence[Mapping[str, float]] = ()


def find(request: FigureRequest) -> list[Training]:
    """The trainings in folders that `nsp train` wrote."""
    return [training for source in request.sources if len((training := _read(Path(source))).columns["examples"])]


def _read(folder: Path) -> Training:
    log, card = folder / LOG, folder / CARD
    if not log.is_file():
        raise IsoglossError(
            f"{folder} is not a training: it has no {LOG}. Make one with: isogloss nsp train … --out {folder}"
        )
    try:
        table = pl.read_csv(log).select(pl.col(COLUMNS).cast(pl.Float64))
    except pl.exceptions.PolarsError as error:
        raise BadData(log, None, f"not a training's log; it has the columns {', '.join(COLUMNS)}.") from error
    content = read_json(card) if card.is_file() else {}
    facts = content.get("facts", content) if isinstance(content, dict) else {}
    columns = {name: table[name].to_numpy() for name in COLUMNS}
    return Training(folder.name, columns, facts.get("validations", ()))


def draw(trainings: Sequence[Training], canvas: Canvas) -> Any:
    """Loss, accuracy and rates: side by side on a wide canvas, else below each other; a row for each training."""
    wide = canvas.width >= DOUBLE
    down, columns = (len(trainings), 3) if wide else (3 * len(trainings), 1)
    figure = new_figure(canvas, down * (1.75 if wide else 1.35))
    grid = figure.subplots(down, columns, squeeze=False)
    for number, training in enumerate(trainings):
        axes = grid.flat[3 * number : 3 * number + 3]
        _draw_curve(axes[0], training, name="loss")
        _draw_curve(axes[1], training, name="accuracy")
        _draw_rates(axes[2], training)
        if len(trainings) > 1:
            axes[0].set_title(training.name, loc="left", fontweight="bold")
        for each in axes if wide else axes[2:]:
            each.set_xlabel("examples")
    return figure


def _draw_curve(axes: Any, training: Training, *, name: str) -> None:
    x, y = training.columns["examples"], training.columns[name]
    axes.plot(x, y, color=COLOURS[5], linewidth=0.5, alpha=0.6, label="raw")
    axes.plot(x, smooth(y), color=COLOURS[0], linewidth=1.1, label="smoothed")
    if name == "accuracy" and training.validations:
        seen, accuracies = ([point[key] for point in training.validations] for key in ("examples", "accuracy"))
        axes.plot(seen, accuracies, "o", color=COLOURS[1], markersize=3.5, label="validation")
    axes.set_ylabel(name)
    axes.legend()
    axes.locator_params(axis="both", nbins=4)


def _draw_rates(axes: Any, training: Training) -> None:
    peaks = []
    for part, line, colour in (("core", "--", COLOURS[0]), ("head", "-", COLOURS[1])):
        rates = training.columns[f"{part}_rate"]
        axes.plot(training.columns["examples"], rates, line, color=colour, label=part)
        peaks.append(float(rates.max()))
    axes.set_ylabel("learning rate")
    axes.legend(loc="lower center")
    if min(peaks) > 0:  # they lie orders of magnitude apart
        axes.set_yscale("log", nonpositive="mask")
        axes.set_ylim(min(peaks) / DEPTH, max(peaks) * 2)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0e}".replace("e-0", "e−"))
        axes.tick_params(axis="y", which="minor", length=0)
    axes.locator_params(axis="x", nbins=4)


figure = Plot(
    title="Training curves",
    needs="the folder of a training: isogloss nsp train MODEL --data PAIRS --out FOLDER",
    caption="Raw values, their running mean (weight 0.9), and the accuracy on held-out pairs; learning rates of the core and the head, on a logarithmic scale.",
    find=find,
    draw=draw,
)
