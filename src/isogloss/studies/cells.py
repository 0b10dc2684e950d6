"""Cells: one model on one data set in one language by one method; those of one language share their passes."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from .. import runs as run_store
from ..items import Item, Items, Problem, items_hash, problem_counts
from ..scores import Scored, find_builds, item_table, join_scored, make_scored, row_table, skipped_rows
from ..storage import StoragePath

if TYPE_CHECKING:
    from ..methods import Method
    from ..models.model import Model
    from ..models.questions import Asking

PART_CANDIDATES = 768
LIBRARIES = ("isogloss", "torch", "transformers", "tokenizers", "polars", "numpy")


class Progress(Protocol):
    """Told how far a labelled piece of work is, and how many items it has."""

    def __call__(self, label: str, share: float, *, items: int = 0) -> None: ...


def silent(label: str, share: float, *, items: int = 0) -> None:
    """Progress that nobody looks at."""


@dataclass(frozen=True, slots=True)
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

    @property
    def label(self) -> str:
        from ..methods import label

        return label(self.name, self.method, options=self.options)

    @property
    def dataset(self) -> str:
        return self.items[0].dataset

    @property
    def language(self) -> str:
        return self.items[0].language


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """What is scored as one and written as one: a part of several cells, by their places in the group of cells."""

    number: int
    cells: tuple[int, ...]


def run_cells(
    cells: Sequence[ScoringCell],
    model: Model,
    *,
    out: StoragePath | None = None,
    token_budget: int | None = None,
    progress: Progress = silent,
) -> Scored:
    """The scores of a model's cells, those of one language together; on disk, the parts that are there are kept."""
    done: dict[int, Scored] = {}
    for indices in group_cells(cells):
        group = [cells[index] for index in indices]
        tell = partial(progress, group_title(group, model), items=sum(len(cell.items) for cell in group))
        if out is None:
            found = _run_in_memory(group, model, token_budget=token_budget, share=tell)
        else:
            found = _run_on_disk(group, model, out=out, token_budget=token_budget, share=tell)
        done |= dict(zip(indices, found, strict=True))
    return join_scored([done[index] for index in range(len(cells))])


def group_cells(cells: Sequence[ScoringCell]) -> list[list[int]]:
    """The places of the cells that are scored together: those of one language."""
    groups: dict[str, list[int]] = {}
    for index, cell in enumerate(cells):
        groups.setdefault(cell.language, []).append(index)
    return list(groups.values())


def group_title(cells: Sequence[ScoringCell], model: Model) -> str:
    """What a group of cells is called while it is scored."""
    names = (" + ".join(dict.fromkeys(names)) for names in ([c.dataset for c in cells], [c.label for c in cells]))
    data, methods = names
    return f"{cells[0].labels.get('model', model.info.name)} {data} {cells[0].language} {methods}"


def _run_in_memory(
    cells: Sequence[ScoringCell], model: Model, *, token_budget: int | None, share: Callable[[float], None]
) -> list[Scored]:
    tables: list[list[pl.DataFrame]] = [[] for _ in cells]
    plan = list(group_parts([range(count_parts(cell)) for cell in cells]))
    for work, found in _score_all(plan, cells, model=model, token_budget=token_budget, share=share):
        for index, rows in zip(work.cells, found, strict=True):
            tables[index].append(rows)
    return [_scored(cell, model, rows=pl.concat(rows)) for cell, rows in zip(cells, tables, strict=True)]


def _scored(cell: ScoringCell, model: Model, *, rows: pl.DataFrame) -> Scored:
    items = Items(cell.items, cell.problems)
    labels = {"model": model.info.name, "method": cell.label, "family": model.info.family, **cell.labels}
    found = make_scored(item_table(items), rows, labels=labels)
    facts = {"checkpoint": model.info.name, "revision": model.info.revision}
    info = {"model": labels["model"], "language": cell.language, "facts": facts, "fingerprint": _identity(model)}
    return replace(found, skipped=skipped_rows(items), notes=notes_of(cell, model), builds=find_builds(info))


def _identity(model: Model) -> dict[str, str]:
    """What tells two versions of a model apart."""
    return {"weights": model.info.weights, "tokenizer": model.info.tokenizer, "dtype": model.info.dtype}


def _run_on_disk(
    cells: Sequence[ScoringCell],
    model: Model,
    *,
    out: StoragePath,
    token_budget: int | None,
    share: Callable[[float], None],
) -> list[Scored]:
    with ExitStack() as locks:
        runs = []
        for cell in cells:
            run = open_cell(cell, model, out=out)
            locks.enter_context(run_store.locked(run))
            runs.append(run)
        started = time.time()
        plan = plan_work(runs)
        for work, tables in _score_all(plan, cells, model=model, token_budget=token_budget, share=share):
            write_work(work, runs, tables=tables)
        runs = finish_runs(runs, plan, seconds=time.time() - started)
    return [run_store.read_scored([run]) for run in runs]


def open_cell(cell: ScoringCell, model: Model, *, out: StoragePath) -> run_store.Run:
    """The cell's run on disk, made when it is not there yet."""
    info = run_info(cell, model, parts=count_parts(cell))
    return run_store.open_run(out, info=info, items=item_table(Items(cell.items, cell.problems)))


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
    """What is left to do, from the parts that are missing; a work that was killed while it was written is completed."""
    missing = [run_store.missing_parts(run) for run in runs]
    return [work for work in group_parts(missing) if not _complete(work, runs)]


def _complete(unit: WorkUnit, runs: Sequence[run_store.Run]) -> bool:
    """Put the work's parts in their places, if all of them lie ready."""
    if not all(run_store.is_staged(runs[index], unit.number) for index in unit.cells):
        return False
    for index in unit.cells:
        run_store.commit_part(runs[index], unit.number)
    return True


def group_parts(missing: Sequence[Iterable[int]]) -> Iterator[WorkUnit]:
    """One work for each number of a part that is missing anywhere."""
    wanted: dict[int, list[int]] = {}
    for index, numbers in enumerate(missing):
        for number in numbers:
            wanted.setdefault(number, []).append(index)
    for number in sorted(wanted):
        yield WorkUnit(number, tuple(wanted[number]))


def write_work(unit: WorkUnit, runs: Sequence[run_store.Run], *, tables: Sequence[pl.DataFrame]) -> None:
    """Write the work's parts: first all beside their places, then all into them.

    Who is killed before the first is in its place has written nothing, who is killed later everything: so parts that were
    scored together once are never scored again in other company, which would change the last digits.
    """
    for index, rows in zip(unit.cells, tables, strict=True):
        run_store.stage_part(runs[index], unit.number, rows=rows)
    for index in unit.cells:
        run_store.commit_part(runs[index], unit.number)


def _score_all(
    plan: Sequence[WorkUnit],
    cells: Sequence[ScoringCell],
    *,
    model: Model,
    token_budget: int | None,
    share: Callable[[float], None],
) -> Iterator[tuple[WorkUnit, list[pl.DataFrame]]]:
    """Each work with its tables; `share` is told how much of all the cells' parts is done."""
    total = sum(count_parts(cell) for cell in cells)
    done = total - sum(len(work.cells) for work in plan)
    for work in plan:
        tell = _part_of(share, done=done, size=len(work.cells), total=total)
        yield work, score_work(work, cells, model=model, token_budget=token_budget, share=tell)
        done += len(work.cells)


def _part_of(share: Callable[[float], None], *, done: int, size: int, total: int) -> Callable[[float], None]:
    """Tells `share` how far the whole is, when it is told how far a work of so many parts is."""
    return lambda part: share((done + part * size) / total)


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
    parts = [list(cut_parts(cell.items))[unit.number] for cell in chosen]
    return [
        [cell.method.ask(item, model, options=cell.options) for item in part]
        for cell, part in zip(chosen, parts, strict=True)
    ]


def count_parts(cell: ScoringCell) -> int:
    """How many parts a cell has."""
    return sum(1 for _ in cut_parts(cell.items))


def cut_parts(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """The items in parts of so many candidates; a part is what is scored, written and resumed as one."""
    part: list[Item] = []
    size = 0
    for item in items:
        if part and size + len(item.candidates) > PART_CANDIDATES:
            yield tuple(part)
            part, size = [], 0
        part.append(item)
        size += len(item.candidates)
    if part:
        yield tuple(part)


def notes_of(cell: ScoringCell, model: Model) -> tuple[str, ...]:
    """What must be said with the cell's numbers: about the model, about its languages, about the method."""
    from ..models.model import notes_on

    return (*notes_on(model.info, cell.language, called=cell.labels.get("model")), *cell.notes)


def run_info(cell: ScoringCell, model: Model, *, parts: int) -> dict[str, Any]:
    """What `run.json` says about a cell; its fingerprint holds everything that a score depends on."""
    known = model.info
    return {
        "model": cell.labels.get("model", known.name),
        "dataset": cell.dataset,
        "language": cell.language,
        "method": cell.label,
        "options": dict(cell.options),
        "items": len(cell.items),
        "parts": parts,
        "notes": list(notes_of(cell, model)),
        "skipped": skipped_rows(Items(cell.items, cell.problems)),
        "problems": problem_counts(cell.problems),
        "labels": {name: value for name, value in cell.labels.items() if name != "model"},
        "facts": {
            "checkpoint": known.name,
            "family": known.family,
            "model_type": known.model_type,
            "revision": known.revision,
            "commit": known.commit,
            "source": known.name if known.source is None or Path(known.source).exists() else known.source,
            "vocabulary": known.vocabulary,
            "parameters": known.parameters,
            "languages": list(known.languages),
            "device": model.device,
        },
        "versions": {name: version(name) for name in LIBRARIES},
        "python": platform.python_version(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "fingerprint": {
            "schema": run_store.FINGERPRINT,
            **_identity(model),
            "data": items_hash(cell.items),
            "method": cell.name,
            "options": dict(cell.options),
            "version": cell.method.version,
            "part": PART_CANDIDATES,
        },
    }
