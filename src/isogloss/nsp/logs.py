"""The log of a training: one line per so many examples, as CSV and for TensorBoard."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import need

LOG = "log.csv"
BOARD = "tensorboard"
COLUMNS = ("step", "examples", "loss", "accuracy", "core_rate", "head_rate", "seconds")


@dataclass(slots=True)
class Log:
    """An open log."""

    path: Path
    board: Any

    def put(self, line: Mapping[str, float]) -> None:
        """Add a line."""
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, COLUMNS).writerow(line)
        for name in ("loss", "accuracy", "core_rate", "head_rate"):
            self.board.add_scalar(name, line[name], int(line["examples"]))

    def put_validation(self, examples: int, accuracy: float) -> None:
        """Add what validation gave, for TensorBoard."""
        self.board.add_scalar("validation_accuracy", accuracy, examples)

    def close(self) -> None:
        """Write what is still held back."""
        self.board.close()


def open_log(out: Path, lines: Sequence[Mapping[str, float]], *, examples: int) -> Log:
    """The log of a folder, holding exactly these lines: what was logged after so many examples comes again."""
    boards = need("torch.utils.tensorboard", extra="nsp")
    path = out / LOG
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(lines)
    return Log(path, boards.SummaryWriter(str(out / BOARD), purge_step=examples + 1 if examples else 0))
