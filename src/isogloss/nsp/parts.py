"""Pairs from disk, one part in memory at a time, and the batches of each step: a function of the seed and the step."""

import json
from collections.abc import Callable, Iterator, Sequence
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
Batch = tuple[list[Question], list[int]]


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
    """How a split's pairs are dealt out: to steps, to the batches of a step, to processes."""

    split: PairSplit
    seed: int
    batch: int
    accumulation: int
    processes: int = 1
    process: int = 0
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


def read_steps(
    schedule: BatchSchedule, encode: Callable[[str, str], Question], *, start: int, steps: int
) -> Iterator[list[Batch]]:
    """This process's batches for each step from `start` on."""
    filled: tuple[int, int] | None = None
    batches: list[Batch] = []
    each, size = schedule.accumulation * schedule.processes, GROUPED * schedule.per_step
    for step in range(start, steps):
        epoch, within = divmod(step, schedule.per_epoch)
        window = within // GROUPED
        if filled != (epoch, window):  # pairs of like length share a batch; the batches are in random order
            filled = (epoch, window)
            order = epoch_order(schedule.split, seed=schedule.seed, epoch=epoch)
            order = order[: schedule.per_epoch * schedule.per_step][window * size : (window + 1) * size]
            rows = schedule.split.read(order)
            questions = [encode(first, second) for first, second in rows.select("first", "second").iter_rows()]
            grouped = group_by_length(questions, rows["label"].to_list(), size=schedule.batch)
            rng = np.random.default_rng([schedule.seed, epoch, window])
            batches = [grouped[index] for index in rng.permutation(len(grouped))]
        first_batch = (within % GROUPED) * each
        yield batches[first_batch + schedule.process : first_batch + each : schedule.processes]


def group_by_length(questions: Sequence[Question], labels: Sequence[int], *, size: int) -> list[Batch]:
    """Batches of pairs of like length, the shortest first."""
    indices = sorted(range(len(questions)), key=lambda index: len(questions[index].ids))
    cut = [indices[start : start + size] for start in range(0, len(indices), size)]
    return [([questions[index] for index in part], [labels[index] for index in part]) for part in cut]
