"""Shards: several processes, such as the tasks of an array job, each run their share of a study in one folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from .. import registry
from .. import runs as run_store
from ..analysis.study import Failure, Study
from ..atomic_files import claim_file
from ..errors import IsoglossError
from ..items import group_by
from ..methods import PART
from ..progress import Progress, silent
from ..run_plans import read_cells, record_cells
from ..storage import RemotePath, StoragePath
from .cells import Running, WorkShare, WorkUnit, commit_staged, cut_parts, group_parts
from .plan import StudyPlan
from .run import run_checkpoint, write_study
from .scoring_plan import PlannedCell

TASK, FIRST, COUNT, STEP = (f"SLURM_ARRAY_TASK_{name}" for name in ("ID", "MIN", "COUNT", "STEP"))
UnitKey = tuple[int, str, int]  # the number of the checkpoint in the plan, the language, and the number of the unit


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several shares of the work, counted from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def read_shard(text: str | None, environment: Mapping[str, str] = os.environ) -> Shard | None:
    """The shard that is written as 3/16, or that a task of an array job is; none for the whole."""
    if text is None and TASK in environment and COUNT in environment:
        try:
            task, first, count, step = (int(environment.get(name, "1")) for name in (TASK, FIRST, COUNT, STEP))
        except ValueError:
            return None
        place = (task - first) // step + 1
        if place > count:
            raise IsoglossError(
                f"Task {task} of an array of {count} tasks with gaps has no share of its own. Give the share that it had "
                f"in the whole array as `shard`, such as ${TASK}/16."
            )
        text = f"{place}/{count}"
    if text is None:
        return None
    number, _, count_text = text.partition("/")
    if not (number.isdecimal() and count_text.isdecimal() and 1 <= int(number) <= int(count_text)):
        raise IsoglossError(f"`shard` takes a share such as 3/16, not '{text}'.")
    return Shard(int(number), int(count_text))


def assign_units(plan: StudyPlan, count: int) -> dict[UnitKey, int]:
    """For every unit of a plan the shard that scores it, by the letters that it reads; the same in every process.

    Checkpoint by checkpoint the dearest unit goes to the shard with the least work, so that each checkpoint is shared out
    evenly, and how dear its letters are need not be known.
    """
    owners: dict[UnitKey, int] = {}
    total = [0] * count
    for index, cells in enumerate(plan.by_checkpoint()):
        costs = {(index, *unit): cost for unit, cost in _unit_costs(cells).items()}
        for key in sorted(costs, key=lambda key: (-costs[key], key)):
            shard = min(range(count), key=lambda k: (total[k], k))
            owners[key] = shard + 1
            total[shard] += costs[key]
    return owners


def _unit_costs(planned: Sequence[PlannedCell]) -> dict[tuple[str, int], int]:
    """The letters of each unit of a checkpoint, by language and number, before methods are chosen."""
    costs: dict[tuple[str, int], int] = {}
    for cell in planned:
        most = PART if cell.method == "auto" else registry.get("method", cell.method).part
        for (_, language), rows in group_by(cell.items, lambda item: (item.dataset, item.language)).items():
            parts = cut_parts(rows, cell.loading.part_size or most, order=cell.loading.order)
            for number, part in enumerate(parts):
                letters = sum(1 + len(candidate.text) for item in part for candidate in item.candidates)
                costs[language, number] = costs.get((language, number), 0) + letters
    return costs


def run_shard(plan: StudyPlan, shard: Shard, *, out: StoragePath, progress: Progress = silent) -> tuple[Study, int]:
    """Score the shard's share of a plan; once no part is missing, the study with its outputs, and else how many parts are.

    Other processes may work in the folder at the same time. A share that was lost is scored by running it again.
    """
    if plan.until:
        raise IsoglossError(
            "A stopping rule looks at the parts one after the other, so it cannot be used with `shard`."
        )
    if isinstance(out, RemotePath):
        raise IsoglossError(f"Shards need a folder that all of them see, not {out}. Choose one with `out`.")
    owners = assign_units(plan, shard.count)
    running = Running(out, None, progress, list(plan.failures))
    record_cells(out, plan.names())
    for index, cells in enumerate(plan.by_checkpoint()):
        mine = {key[1:] for key, owner in owners.items() if key[0] == index and owner == shard.number}
        if mine:
            sizes = {
                language: 1 + max(k for i, tag, k in owners if (i, tag) == (index, language)) for language, _ in mine
            }
            share = WorkShare(partial(_plan_share, mine=mine, sizes=sizes), _claim)
            run_checkpoint(cells, plan, running=replace(running, share=share))
    failures = tuple(running.failures or ())
    finished, missing = _look_at(plan, out, failures=failures)
    if missing or not finished:
        return Study(None, failures=failures), missing
    study = Study(run_store.read_scored(finished), tuple(finished), failures, measuring=plan.measuring)
    return write_study(plan, study, out=out), 0


def run_share(plan: StudyPlan, text: str, *, out: StoragePath, progress: Progress = silent) -> Study:
    """The study after the share that is written as 3/16; what the others have to score is among its problems."""
    shard = read_shard(text, {})
    if shard is None:
        raise IsoglossError("`shard` takes a share such as 3/16.")
    study, missing = run_shard(plan, shard, out=out, progress=progress)
    return replace(study, problems=(f"{missing} parts of {out} are missing.",)) if missing else study


def _plan_share(
    runs: Sequence[run_store.Run], language: str, *, mine: set[tuple[str, int]], sizes: Mapping[str, int]
) -> list[WorkUnit]:
    """The units of a shard that are missing; a method may make more parts than were counted before it was chosen."""
    missing = group_parts([_missing(run) for run in runs])
    return [work for work in missing if (language, work.number % sizes.get(language, 1)) in mine]


def _missing(run: run_store.Run) -> list[int]:
    """The numbers of the parts that are not there; their content is checked when they are read."""
    there = set(run_store.written_parts(run))
    return [number for number in range(run.parts) if number not in there]


@contextmanager
def _claim(work: WorkUnit, runs: Sequence[run_store.Run]) -> Iterator[bool]:
    """Whether a unit is to be scored now: no other process has it, and none has written it meanwhile."""
    with claim_file(Path(str(runs[work.cells[0]].folder)) / f".unit-{work.number:05}.lock") as free:
        left = free and any(work.number in _missing(runs[index]) for index in work.cells)
        yield left and not commit_staged(work, runs)


def _look_at(plan: StudyPlan, out: Path, *, failures: Sequence[Failure]) -> tuple[list[run_store.Run], int]:
    """The runs of a plan that are in a folder, and how many parts are missing; a cell without a run lacks at least one."""
    failed = {(failure.model, failure.data, failure.language) for failure in failures}
    wanted = {name[:3] for name in plan.names()} - failed
    there = list(map(run_store.read_run, run_store.run_folders(out)))
    runs = [run for run in there if (run.info["model"], run.info["dataset"], run.info["language"]) in wanted]
    present = {tuple(str(run.info[key]) for key in ("model", "dataset", "language", "method")) for run in runs}
    present |= {(*key[:3], "") for key in present}
    absent = [cell for cell in read_cells(out) if cell[:3] in wanted and cell not in present]
    runs = _in_order(runs, plan)
    return runs, len(absent) + sum(len(_missing(run)) for run in runs)


def _in_order(runs: Sequence[run_store.Run], plan: StudyPlan) -> list[run_store.Run]:
    """The runs as one process would give them: in the order of the plan, not in that of their folders."""
    cells = {name[:3]: index for index, name in enumerate(plan.names())}
    methods = list(dict.fromkeys(cell.method.replace("-", "_") for cell in plan.cells))

    def place(run: run_store.Run) -> tuple[int, int]:
        model, dataset, language, method = (str(run.info[key]) for key in ("model", "dataset", "language", "method"))
        return cells[model, dataset, language], methods.index(method) if method in methods else len(methods)

    return sorted(runs, key=place)
