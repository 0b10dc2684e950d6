"""Cells: one model on one data set in one language by one method; those of one language share their passes."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .. import runs as run_store
from ..errors import CannotWrite, IsoglossError, short_message
from ..items import Item, Items, Problem, group_by, items_hash, problem_counts
from ..progress import Progress, silent
from ..scores import Scored, item_table, row_table, skipped_rows
from ..storage import StoragePath

if TYPE_CHECKING:
    from ..methods import Method
    from ..models.model import Model
    from ..models.questions import Asking

PART_CANDIDATES = 768
FACTS = ("family", "model_type", "revision", "commit", "vocabulary", "parameters")
LIBRARIES = ("isogloss", "torch", "transformers", "tokenizers", "polars", "numpy")


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that failed, and why."""

    model: str
    data: str
    language: str
    method: str
    why: str


def nothing_done(failures: Iterable[Failure]) -> IsoglossError:
    """The error that says why no cell could be run."""
    return IsoglossError(" ".join(dict.fromkeys(failure.why for failure in failures)) or "There is nothing to do.")


@dataclass(frozen=True, slots=True)
class Running:
    """How cells are run: where they are kept (in memory without `out`), how they are fed, and where progress and failures go.

    Without a list of failures the first error ends the run.
    """

    out: StoragePath | None = None
    token_budget: int | None = None
    progress: Progress = silent
    failures: list[Failure] | None = None

    def fail(self, failures: Iterable[Failure], error: Exception) -> None:
        """Keep the failures, or raise the error where no failures are kept."""
        if self.failures is None:
            raise error
        self.failures.extend(failures)


@dataclass(frozen=True, slots=True)
class CellResult:
    """What one cell gave, and its run on disk where there is one."""

    scored: Scored
    run: run_store.Run | None = None


@dataclass(frozen=True)
class ScoringCell:
    """The items of one data set in one language, under one method with its options; `notes` must be said with it.

    `labels` are columns that all its scores share: `model`, when a study calls the model by another name than its
    checkpoint's, and the facts that a study states about the model.
    """

    items: tuple[Item, ...]
    name: str
    method: Method
    options: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def label(self) -> str:
        from ..methods import label

        return label(self.name, self.method, options=self.options)

    @cached_property
    def hash(self) -> str:
        """The hash of the items."""
        return items_hash(self.items)

    @cached_property
    def parts(self) -> tuple[tuple[Item, ...], ...]:
        """The items in parts of at most PART_CANDIDATES candidates; a part is scored, written and resumed as one."""
        parts: list[list[Item]] = []
        size = 0
        for item in self.items:
            size += len(item.candidates)
            if not parts or size > PART_CANDIDATES:
                parts.append([])
                size = len(item.candidates)
            parts[-1].append(item)
        return tuple(map(tuple, parts))

    @cached_property
    def table(self) -> pl.DataFrame:
        """The items as a table."""
        return item_table(Items(self.items, self.problems))

    @property
    def dataset(self) -> str:
        return self.items[0].dataset

    @property
    def language(self) -> str:
        return self.items[0].language


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """What is scored as one and written as one: a part of several cells, by their index in the group of cells."""

    number: int
    cells: tuple[int, ...]


def run_cells(cells: Sequence[ScoringCell], model: Model, *, running: Running) -> list[CellResult]:
    """The results of a model's cells, those of one language scored together; on disk, parts that are there are kept.

    When a group fails, each of its cells is tried alone. Parts that could not be written are not: the next command scores
    them together again, so that they stay the same.
    """
    results: dict[int, CellResult] = {}
    todo = group_cells(cells)
    while todo:
        indices = todo.pop(0)
        group = [cells[index] for index in indices]
        try:
            results |= dict(zip(indices, _run_group(group, model, running=running), strict=True))
        except Exception as error:
            if len(group) > 1 and running.failures is not None and not isinstance(error, CannotWrite):
                todo = [*([index] for index in indices), *todo]
            else:
                name, why = model.info.name, short_message(error)
                failed = [
                    Failure(cell.labels.get("model", name), cell.dataset, cell.language, cell.name, why)
                    for cell in group
                ]
                running.fail(failed, error)
    return [results[index] for index in sorted(results)]


def _run_group(cells: Sequence[ScoringCell], model: Model, *, running: Running) -> list[CellResult]:
    """The results of cells of one language; parts that were on disk before are read, the others are still in memory."""
    tables: list[list[pl.DataFrame]] = [[] for _ in cells]
    runs: list[run_store.Run] = []
    with ExitStack() as locks:
        if running.out is not None:
            for cell in cells:
                runs.append(run_store.open_run(running.out, info=run_info(cell, model), items=cell.table))
                locks.enter_context(run_store.locked(runs[-1]))
        started = time.time()
        plan = plan_work(runs) if runs else group_parts([range(len(cell.parts)) for cell in cells])
        for work, scored_tables in _score_all(plan, cells, model=model, running=running):
            if runs:
                write_work(work, runs, tables=scored_tables)
            for index, rows in zip(work.cells, scored_tables, strict=True):
                tables[index].append(rows)
        runs = finish_runs(runs, plan, seconds=time.time() - started)
    results = []
    for index, cell in enumerate(cells):
        run = runs[index] if runs else run_store.Run(Path(), run_info(cell, model))
        if len(tables[index]) < run.parts:
            scored = run_store.read_scored([run])
        else:
            scored = run_store.scored_run(run, cell.table, rows=pl.concat(tables[index]), whole=True)
        results.append(CellResult(scored, run if runs else None))
    return results


def group_cells(cells: Sequence[ScoringCell]) -> list[list[int]]:
    """The indices of the cells that are scored together: those of one language."""
    return list(group_by(range(len(cells)), lambda index: cells[index].language).values())


def group_title(cells: Sequence[ScoringCell], model: Model) -> str:
    """What a group of cells is called while it is scored."""
    data = " + ".join(dict.fromkeys(cell.dataset for cell in cells))
    methods = " + ".join(dict.fromkeys(cell.label for cell in cells))
    return f"{cells[0].labels.get('model', model.info.name)} {data} {cells[0].language} {methods}"


def finish_runs(runs: Sequence[run_store.Run], plan: Sequence[WorkUnit], *, seconds: float) -> list[run_store.Run]:
    """The runs, marked as finished; `seconds` is how long they took together."""
    done = []
    for index, run in enumerate(runs):
        scored = sum(index in work.cells for work in plan)
        if scored or run.info["status"] != "finished":
            run = run_store.finish_run(run, seconds=round(seconds, 3), scored_parts=scored)
        done.append(run)
    return done


def plan_work(runs: Sequence[run_store.Run]) -> list[WorkUnit]:
    """What is left to do, from the parts that are missing; a unit whose writing was interrupted is completed."""
    missing = [run_store.missing_parts(run) for run in runs]
    return [work for work in group_parts(missing) if not commit_staged(work, runs)]


def commit_staged(unit: WorkUnit, runs: Sequence[run_store.Run]) -> bool:
    """Commit the parts of a unit if all of them are staged."""
    ready = all(run_store.is_staged(runs[index], unit.number) for index in unit.cells)
    for index in unit.cells if ready else ():
        run_store.commit_part(runs[index], unit.number)
    return ready


def group_parts(missing: Sequence[Iterable[int]]) -> list[WorkUnit]:
    """One work for each number of a part that is missing anywhere."""
    cells_of: dict[int, list[int]] = {}
    for index, numbers in enumerate(missing):
        for number in numbers:
            cells_of.setdefault(number, []).append(index)
    return [WorkUnit(number, tuple(cells_of[number])) for number in sorted(cells_of)]


def write_work(unit: WorkUnit, runs: Sequence[run_store.Run], *, tables: Sequence[pl.DataFrame]) -> None:
    """Write the parts of a unit: first stage all of them, then commit all of them.

    A process that is killed before the first commit has written nothing; one that is killed later is completed at the next
    start. Parts that were scored together are therefore never scored again in other batches, which would change the last digits.
    """
    for index, rows in zip(unit.cells, tables, strict=True):
        run_store.stage_part(runs[index], unit.number, rows=rows)
    for index in unit.cells:
        run_store.commit_part(runs[index], unit.number)


def _score_all(
    plan: Sequence[WorkUnit], cells: Sequence[ScoringCell], *, model: Model, running: Running
) -> Iterator[tuple[WorkUnit, list[pl.DataFrame]]]:
    """Each work with its tables; progress is how much of what all the cells cost is done."""
    share = partial(running.progress, group_title(cells, model), items=sum(len(cell.items) for cell in cells))
    costs = [[1.0] * len(cell.parts) for cell in cells]
    if running.progress is not silent and max(map(len, costs)) > 1:
        from .costs import part_costs

        costs = part_costs(cells, model)
    sizes = [sum(costs[index][work.number] for index in work.cells) for work in plan]
    total = sum(map(sum, costs))
    done = total - sum(sizes)
    share(done / total)
    for work, size in zip(plan, sizes, strict=True):

        def tell(part: float, *, done: float = done, size: float = size) -> None:
            share((done + part * size) / total)

        yield work, score_work(work, cells, model=model, token_budget=running.token_budget, share=tell)
        done += size


def score_work(
    unit: WorkUnit,
    cells: Sequence[ScoringCell],
    *,
    model: Model,
    token_budget: int | None = None,
    share: Callable[[float], None] = lambda share: None,
) -> list[pl.DataFrame]:
    """One table for each cell of the work; equal questions of its cells are answered once."""
    from ..models.engine import TOKEN_BUDGET, run_all

    asking = ask_work(unit, cells, model=model)
    flat = [generator for part in asking for generator in part]
    rows = iter(run_all(model, flat, token_budget=token_budget or TOKEN_BUDGET, progress=share))
    return [row_table(row for _ in part for row in next(rows)) for part in asking]


def ask_work(unit: WorkUnit, cells: Sequence[ScoringCell], *, model: Model) -> list[list[Asking]]:
    """For each cell of the work, the generators that ask its items' questions."""
    chosen = [cells[index] for index in unit.cells]
    return [[cell.method.ask(item, model, options=cell.options) for item in cell.parts[unit.number]] for cell in chosen]


def run_info(cell: ScoringCell, model: Model) -> dict[str, Any]:
    """What `run.json` says about a cell; its fingerprint holds everything that a score depends on."""
    from ..models.model import notes_on

    known = model.info
    return {
        "model": cell.labels.get("model", known.name),
        "dataset": cell.dataset,
        "language": cell.language,
        "method": cell.label,
        "options": dict(cell.options),
        "items": len(cell.items),
        "parts": len(cell.parts),
        "notes": [*notes_on(known, cell.language, called=cell.labels.get("model")), *cell.notes],
        "skipped": skipped_rows(Items(cell.items, cell.problems)),
        "problems": problem_counts(cell.problems),
        "labels": {name: value for name, value in cell.labels.items() if name != "model"},
        "facts": {
            **{name: getattr(known, name) for name in FACTS},
            "checkpoint": known.name,
            "source": known.name if known.source is None or Path(known.source).exists() else known.source,
            "languages": list(known.languages),
            "device": model.device,
        },
        "versions": {name: version(name) for name in LIBRARIES},
        "python": platform.python_version(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "fingerprint": {
            "schema": run_store.FINGERPRINT,
            "weights": known.weights,
            "tokenizer": known.tokenizer,
            "dtype": known.dtype,
            "data": cell.hash,
            "method": cell.name,
            "options": dict(cell.options),
            "version": cell.method.version,
            "part": PART_CANDIDATES,
        },
    }
