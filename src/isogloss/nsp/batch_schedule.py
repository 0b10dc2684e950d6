"""Which pairs are read at which step: a function of the seed and the step alone, so that a run can go on anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..errors import IsoglossError
from ..models.questions import Question
from .parts import PairSplit, epoch_order
from .sentence_store import Index

GROUPED = 32  # steps whose pairs are sorted by length together

Encode = Callable[[str, str], Question]
Batch = tuple[list[Question], list[int]]


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


def read_steps(schedule: BatchSchedule, encode: Encode, *, start: int, steps: int) -> Iterator[list[Batch]]:
    """This process's batches for each step from `start` on."""
    window: tuple[int, int] | None = None
    batches: list[Batch] = []
    for step in range(start, steps):
        epoch, within = divmod(step, schedule.per_epoch)
        if window != (epoch, within // GROUPED):
            window = (epoch, within // GROUPED)
            batches = _fill_window(schedule, encode, epoch=epoch, window=window[1])
        each = schedule.accumulation * schedule.processes
        first = (within % GROUPED) * each
        yield batches[first + schedule.process : first + each : schedule.processes]


@lru_cache(maxsize=1)
def _order(split: PairSplit, seed: int, *, epoch: int) -> Index:
    return epoch_order(split, seed=seed, epoch=epoch)


def _fill_window(schedule: BatchSchedule, encode: Encode, *, epoch: int, window: int) -> list[Batch]:
    """The batches of some steps: pairs of like length together, then the batches in random order."""
    order = _order(schedule.split, schedule.seed, epoch=epoch)[: schedule.per_epoch * schedule.per_step]
    size = GROUPED * schedule.per_step
    rows = schedule.split.read(order[window * size : (window + 1) * size])
    questions = [encode(first, second) for first, second in rows.select("first", "second").iter_rows()]
    batches = group_by_length(questions, rows["label"].to_list(), size=schedule.batch)
    return [batches[index] for index in np.random.default_rng([schedule.seed, epoch, window]).permutation(len(batches))]


def group_by_length(questions: Sequence[Question], labels: Sequence[int], *, size: int) -> list[Batch]:
    """Batches of pairs of like length, the shortest first."""
    indices = sorted(range(len(questions)), key=lambda index: len(questions[index].ids))
    cut = [indices[start : start + size] for start in range(0, len(indices), size)]
    return [([questions[index] for index in part], [labels[index] for index in part]) for part in cut]
