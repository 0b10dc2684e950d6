"""Pairs from disk, one part in memory at a time, in an order that depends on the seed and the epoch alone."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..errors import BadData, IsoglossError
from ..models.questions import Question
from .data import CARD, ROWS, SCHEMA
from .pairs import Index

BROKEN = "the part is missing or broken. Build the data again with: isogloss nsp data"
GROUPED = 32  # steps whose pairs are sorted by length together
Example = tuple[Question, int]
Batch = tuple[Sequence[Question], Sequence[int]]


@dataclass(frozen=True, slots=True)
class PairSplit:
    """The pairs of one split of a folder: how many there are, and where they lie."""

    folder: Path
    name: str
    count: int
    parts: int
    card: dict[str, Any] = field(repr=False, compare=False)

    def read(self, indices: Index) -> pl.DataFrame:
        """The pairs at these places, in this order."""
        tables, order = [], []
        for part in np.unique(indices // ROWS):
            here = np.flatnonzero(indices // ROWS == part)
            tables.append(_read_part(self.folder, self.name, number=int(part))[indices[here] % ROWS])
            order.append(here)
        return pl.concat(tables)[np.argsort(np.concatenate(order), kind="stable")]

    def head(self, most: int | None) -> pl.DataFrame:
        """The first pairs, which are a random sample, since the pairs were shuffled when they were written."""
        return self.read(np.arange(self.count if most is None else min(most, self.count)))


def open_split(folder: Path, name: str) -> PairSplit:
    """A split of the folder; one without pairs is refused."""
    path = folder / CARD
    if not path.is_file():
        raise IsoglossError(f"{folder} holds no pairs: it has no {CARD}. Build them with: isogloss nsp data")
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadData(path, None, "not JSON. Build the data again with: isogloss nsp data") from error
    if not isinstance(card, dict) or card.get("schema") != SCHEMA:
        raise BadData(path, None, "was written by another version. Build the data again with: isogloss nsp data")
    facts = card["splits"][name]
    if not facts["pairs"]:
        raise IsoglossError(f"{folder} has no {name} pairs. Build the data again with a share of {name} above 0.")
    return PairSplit(folder, name, int(facts["pairs"]), int(facts["parts"]), card)


@lru_cache(maxsize=2)
def _read_part(folder: Path, name: str, *, number: int) -> pl.DataFrame:
    stem = folder / name / f"part-{number:05d}"
    try:
        if stem.with_suffix(".parquet").exists():
            return pl.read_parquet(stem.with_suffix(".parquet"))
        return pl.read_ndjson(stem.with_suffix(".jsonl"))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BadData(stem, None, BROKEN) from error


@lru_cache(maxsize=1)
def epoch_order(split: PairSplit, *, seed: int, epoch: int) -> Index:
    """The order of an epoch's pairs: parts in random order, and pairs in random order within each."""
    rng = np.random.default_rng([seed, epoch])
    starts = rng.permutation(split.parts) * ROWS
    return np.concatenate([start + rng.permutation(min(ROWS, split.count - start)) for start in starts])


@dataclass(frozen=True, slots=True)
class BatchSchedule:
    """How a split's pairs are divided: into steps, and into the batches of a step and of each process."""

    split: PairSplit
    seed: int
    batch: int
    accumulation: int
    processes: int = 1
    most: int | None = None

    @property
    def per_step(self) -> int:
        """How many pairs a step reads, over all processes."""
        return self.batch * self.accumulation * self.processes

    @property
    def per_epoch(self) -> int:
        """How many steps an epoch has; pairs that do not fill a step are left out of it."""
        count = self.split.count if self.most is None else min(self.most, self.split.count)
        steps = count // self.per_step
        if not steps:
            raise IsoglossError(
                f"{count} training pairs do not fill one step of {self.per_step}. Give more data, a smaller batch or accumulation."
            )
        return steps


@dataclass(slots=True)
class TrainingPairs:
    """The pairs of an epoch in the order of training: a data set that is read from its first pair to its last.

    Each `schedule.batch` pairs in a row are a batch. With several processes, batch i is that of process i modulo their
    number, as accelerate deals them out. `set_epoch` is called by the data loader.
    """

    schedule: BatchSchedule
    encode: Callable[[str, str], Question]
    epoch: int = 0
    window: tuple[int, int] | None = None
    examples: list[Example] = field(default_factory=list)

    def __len__(self) -> int:
        """How many pairs an epoch has."""
        return self.schedule.per_epoch * self.schedule.per_step

    def set_epoch(self, epoch: int) -> None:
        """Continue with another epoch, in another order."""
        self.epoch = epoch

    def __getitem__(self, index: int) -> Example:
        """A pair as the model reads it, and its label."""
        number, position = divmod(index, GROUPED * self.schedule.per_step)
        if self.window != (self.epoch, number):
            self.window, self.examples = (self.epoch, number), self._read_window(number)
        return self.examples[position]

    def _read_window(self, number: int) -> list[Example]:
        """The pairs of some steps in a row: pairs of like length share a batch; the batches are in random order."""
        schedule, size = self.schedule, GROUPED * self.schedule.per_step
        order = epoch_order(schedule.split, seed=schedule.seed, epoch=self.epoch)[: len(self)]
        rows = schedule.split.read(order[number * size : (number + 1) * size])
        examples = encode_rows(rows, self.encode)
        by_length = sorted(examples, key=lambda example: len(example[0].ids))
        rng = np.random.default_rng([schedule.seed, self.epoch, number])
        starts = rng.permutation(len(examples) // schedule.batch) * schedule.batch
        return [example for start in starts for example in by_length[start : start + schedule.batch]]


def encode_rows(rows: pl.DataFrame, encode: Callable[[str, str], Question]) -> list[Example]:
    """The pairs of a table as the model reads them, with their labels."""
    return [(encode(first, second), label) for first, second, label in rows.select("first", "second", "label").rows()]
