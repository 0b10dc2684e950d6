"""Cells: one model on one data set in one language by one method; those of one language share their passes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from .. import runs as run_store
from ..analysis.study import Failure
from ..errors import CannotWrite, IsoglossError, UnknownName, short_message
from ..items import Item, Items, Problem, group_by, items_hash
from ..models.journal import Journal, open_journal
from ..progress import Progress, silent
from ..scores import Scored, item_table, notes_of
from ..storage import RemotePath, StoragePath
from .run_files import ORDER_SEED, count_answers, finish_runs, run_info

if TYPE_CHECKING:
    from ..methods import Ask, Method
    from ..models.model import Model
    from ..models.questions import Asking

JOURNAL = "journal.jsonl"
CLUSTER, ITEM = "cluster", "item"  # what comes in random order


@dataclass(frozen=True, slots=True)
class WorkShare:
    """What one of several processes does: the units of some runs in a language, and whether one of them is to be scored now."""

    plan: Callable[[Sequence[run_store.Run], str], list[WorkUnit]]
    claim: Callable[[WorkUnit, Sequence[run_store.Run]], AbstractContextManager[bool]]


@dataclass(frozen=True, slots=True)
class Running:
    """How cells are run: where they are kept (in memory without `out`), how they are fed, and where progress and failures go.

    Without a list of failures the first error ends the run. After each part `stop` is given the cell and what it has scored so far; a reason that it gives ends the cell on purpose.
    Where several processes divide the work, `share` says what is this one's, and `claim` whether a unit is to be scored now.
    """

    out: StoragePath | None = None
    token_budget: int | None = None
    progress: Progress = silent
    failures: list[Failure] | None = None
    stop: Callable[[Cell, Scored], str | None] | None = None
    share: WorkShare | None = None
    claim: Callable[[WorkUnit], AbstractContextManager[bool]] = lambda work: nullcontext(True)

    def fail(self, failures: Iterable[Failure], error: Exception) -> None:
        """Keep the failures, or raise the error where no failures are kept."""
        if self.failures is None:
            raise error
        self.failures.extend(failures)


@dataclass(frozen=True, slots=True)
class CellResult:
    """What one cell gave, its run on disk where there is one, and its items with their texts where they are in memory."""

    scored: Scored
    run: run_store.Run | None = None
    texts: pl.DataFrame | None = None


@dataclass(frozen=True)
class Cell:
    """The items of one data set in one language, under one method with its options; `notes` are shown with its numbers.

    Clusters are scored in a random order that a seed and their names decide, so that the first parts are a random sample of
    clusters, the same for all models and languages. With `order` as `item`, they are a random sample of items. `labels` are columns that all its scores share: `model`, when a study calls the model by another name than its
    checkpoint's, and the facts that a study states about the model.
    """

    items: tuple[Item, ...]
    name: str
    method: Method
    options: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    part_size: int = 0
    order: str = CLUSTER

    @cached_property
    def ask(self) -> Ask:
        """How an item is asked about."""
        return self.method.prepare(self.items, self.options) if self.method.prepare else self.method.ask

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
        """The items in parts of whole clusters; a part is scored, written and resumed as one."""
        return cut_parts(self.items, self.part_size or self.method.part, order=self.order)

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


def cluster_of(item: Item) -> str:
    """The unit of resampling that an item belongs to."""
    return item.cluster or item.id


def order_units(items: Iterable[Item], unit: str = CLUSTER) -> list[list[Item]]:
    """The items by cluster, or one by one, in an order that is random but the same wherever they are scored."""
    if unit not in (CLUSTER, ITEM):
        raise UnknownName("order", unit, (CLUSTER, ITEM))
    units = group_by(items, cluster_of if unit == CLUSTER else lambda item: item.id)
    drawn = {name: hashlib.sha256(f"{ORDER_SEED} {name}".encode()).hexdigest() for name in units}
    return [units[name] for name in sorted(units, key=drawn.__getitem__)]


def cut_parts(items: Iterable[Item], most: int, *, order: str = CLUSTER) -> tuple[tuple[Item, ...], ...]:
    """The items in parts of at most `most` candidates; only a cluster that is larger stands in several parts."""
    parts: list[list[Item]] = [[]]
    size = 0
    for cluster in order_units(items, order):
        whole = sum(len(item.candidates) for item in cluster)
        if parts[-1] and size + whole > most:
            parts.append([])
            size = 0
        for item in cluster:
            if parts[-1] and size + len(item.candidates) > most:
                parts.append([])
                size = 0
            parts[-1].append(item)
            size += len(item.candidates)
    return tuple(map(tuple, parts))


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """What is scored as one and written as one: a part of several cells, by their index in the group of cells."""

    number: int
    cells: tuple[int, ...]


def run_cells(cells: Sequence[Cell], model: Model, *, running: Running) -> list[CellResult]:
    """The results of a model's cells, those of one language run together; on disk, parts that are there are kept.

    When a group fails, each of its cells is tried alone. Parts that could not be written are not: the next command scores
    them together again, so that they stay the same. A share of the work has no results; they are read when all are there.
    """
    results: dict[int, CellResult] = {}
    todo = group_cells(cells, model)
    while todo:
        indices = todo.pop(0)
        group = [cells[index] for index in indices]
        try:
            results |= dict(zip(indices, _run_group(group, model, running=running), strict=running.share is None))
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


def _run_group(cells: Sequence[Cell], model: Model, *, running: Running) -> list[CellResult]:
    """The results of cells of one language; parts that were on disk before are read, the others are still in memory."""
    tables: list[list[pl.DataFrame]] = [[] for _ in cells]
    runs: list[run_store.Run] = []
    with ExitStack() as locks:
        if running.out is not None:
            for cell in cells:
                runs.append(run_store.open_run(running.out, info=run_info(cell, model), items=cell.table))
                locks.enter_context(run_store.locked(runs[-1], shared=running.share is not None))
        started = time.time()
        plan = _plan_units(cells, runs, running=running)
        if (share := running.share) is not None:
            running = replace(running, claim=lambda work: share.claim(work, runs))
        journal = open_journal(journal_path(runs, cells, model=model))
        why_stopped = _why_stop(cells, runs, running=running)  # parts from before may be enough
        if why_stopped and plan:
            plan, runs = [], [run_store.stop_run(run, why_stopped) for run in runs]
        for work, scored_tables in score_units(plan, cells, model=model, running=running, journal=journal):
            if runs:
                write_work(work, runs, tables=scored_tables)
            for index, rows in zip(work.cells, scored_tables, strict=True):
                tables[index].append(rows)
            why_stopped = _why_stop(cells, runs, running=running)
            if why_stopped and work is not plan[-1]:
                counts = count_answers(journal)
                runs = [run_store.stop_run(run, why_stopped, **counts) for run in runs]
                if journal is not None:
                    runs = [replace(run, info={**run.info, "asked": len(journal.kept)}) for run in runs]
                break
        else:
            partly = why_stopped or running.share is not None
            if not partly or all(len(run_store.written_parts(run)) == run.parts for run in runs):
                runs = finish_runs(runs, plan, seconds=time.time() - started, journal=journal)
    if running.share is not None:
        return []
    from .repeatability import repeat_cell

    results = []
    for index, cell in enumerate(cells):
        run = runs[index] if runs else run_store.Run(Path(), run_info(cell, model))
        if runs and len(tables[index]) < run.parts:
            scored = run_store.read_scored([run])
        else:
            scored = run_store.scored_run(run, cell.table, rows=pl.concat(tables[index]), whole=True)
        if plan and (facts := repeat_cell(cell, model, rows=scored.table)):
            run = replace(run, info=run.info | facts)
            scored = replace(scored, notes=notes_of(run.info))
            if runs:
                run_store.write_info(run)
        results.append(CellResult(scored, run if runs else None, cell.table))
    return results


def _plan_units(cells: Sequence[Cell], runs: Sequence[run_store.Run], *, running: Running) -> list[WorkUnit]:
    """What this process is to score: what is missing on disk, all of it or its share."""
    if not runs:
        return group_parts([range(len(cell.parts)) for cell in cells])
    return running.share.plan(runs, cells[0].language) if running.share else plan_work(runs)


def journal_path(runs: Sequence[run_store.Run], cells: Sequence[Cell], *, model: Model) -> Path | None:
    """Where the answers of a cell are written down that cost money or minutes; nowhere in memory, and for others."""
    if not runs or not is_alone(cells[0], model):
        return None
    folder = runs[0].folder
    if isinstance(folder, RemotePath):
        raise IsoglossError(
            f"Answers are written down one by one, which {folder} cannot do. Choose a folder with `out`."
        )
    return folder / JOURNAL


def _why_stop(cells: Sequence[Cell], runs: Sequence[run_store.Run], *, running: Running) -> str | None:
    """Why a group of cells need not go on: every one of them has a reason."""
    if running.stop is None or not runs or not all(map(run_store.written_parts, runs)):
        return None
    reasons = [running.stop(cell, run_store.read_scored([run])) for cell, run in zip(cells, runs, strict=True)]
    return "; ".join(dict.fromkeys(map(str, reasons))) if all(reasons) else None


def is_alone(cell: Cell, model: Model) -> bool:
    """Whether a cell shares no passes with others: it is answered one by one, with a journal of its own."""
    return cell.method.alone or model.family.bundle is None


def group_cells(cells: Sequence[Cell], model: Model) -> list[list[int]]:
    """The indices of the cells that are run together: those of one language, if they can share passes."""
    keys = [(cell.language, index if is_alone(cell, model) else -1) for index, cell in enumerate(cells)]
    return list(group_by(range(len(cells)), lambda index: keys[index]).values())


def group_title(cells: Sequence[Cell], model: Model) -> str:
    """What a group of cells is called while it is scored."""
    data = " + ".join(dict.fromkeys(cell.dataset for cell in cells))
    methods = " + ".join(dict.fromkeys(cell.label for cell in cells))
    return f"{cells[0].labels.get('model', model.info.name)} {data} {cells[0].language} {methods}"


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


def score_units(
    plan: Sequence[WorkUnit], cells: Sequence[Cell], *, model: Model, running: Running, journal: Journal
) -> Iterator[tuple[WorkUnit, list[pl.DataFrame]]]:
    """Each work with its tables; progress is how much of what all the cells cost is done.

    Work that another process has in hand is left to it.
    """
    items = sum(len(cell.items) for cell in cells)
    costs = [[1.0] * len(cell.parts) for cell in cells]
    if running.progress is not silent and max(map(len, costs)) > 1:
        from .costs import part_costs

        costs = part_costs(cells, model)
    sizes = [sum(costs[index][work.number] for index in work.cells) for work in plan]
    total = sum(map(sum, costs))
    if running.share is not None:  # what other processes score is no part of this one's work
        items, total = round(items * sum(sizes) / total), sum(sizes) or 1.0
    share = partial(running.progress, group_title(cells, model), items=items)
    done = total - sum(sizes)
    share(done / total)
    for work, size in zip(plan, sizes, strict=True):

        def tell(part: float, *, done: float = done, size: float = size) -> None:
            share((done + part * size) / total)

        scoring = Scoring(model, running.token_budget, tell, journal)
        with running.claim(work) as claimed:
            if claimed:
                yield work, score_work(work, cells, scoring=scoring)
        done += size


@dataclass(frozen=True, slots=True)
class Scoring:
    """What a unit of work is scored with: the model, the size of its batches, where progress goes, and the journal."""

    model: Model
    token_budget: int | None = None
    progress: Callable[[float], None] = lambda share: None
    journal: Journal | None = None


def score_work(unit: WorkUnit, cells: Sequence[Cell], *, scoring: Scoring) -> list[pl.DataFrame]:
    """One table for each cell of the work; equal questions of its cells are answered once."""
    from ..models.engine import TOKEN_BUDGET, run_all

    asking = ask_work(unit, cells, model=scoring.model)
    flat = [generator for part in asking for generator in part]
    budget = scoring.token_budget or TOKEN_BUDGET
    answered = run_all(scoring.model, flat, token_budget=budget, progress=scoring.progress, journal=scoring.journal)
    rows = iter(answered)
    tables = []
    for index, part in zip(unit.cells, asking, strict=True):
        tables.append(cells[index].method.holds.table(row for _ in part for row in next(rows)))
    return tables


def ask_work(unit: WorkUnit, cells: Sequence[Cell], *, model: Model) -> list[list[Asking]]:
    """For each cell of the work, the generators that ask its items' questions."""
    chosen = [cells[index] for index in unit.cells]
    return [[cell.ask(item, model, options=cell.options) for item in cell.parts[unit.number]] for cell in chosen]
