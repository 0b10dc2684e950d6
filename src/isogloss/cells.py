"""Cells: one model on one data set in one language by one method, scored part by part, in memory or on disk."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from . import store
from .items import Item, Items, Problem, items_hash
from .scores import Scored, item_table, make_scored, row_table, skipped_rows

if TYPE_CHECKING:
    from .methods.method import Method
    from .models.model import Model

PART_CANDIDATES = 768
LIBRARIES = ("isogloss", "torch", "transformers", "tokenizers", "polars", "numpy")


class Progress(Protocol):
    """Told how far a labelled piece of work is, and how many items it has."""

    def __call__(self, label: str, share: float, *, items: int = 0) -> None: ...


def silent(label: str, share: float, *, items: int = 0) -> None:
    """Progress that nobody looks at."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The items of one data set in one language, under one method with its options; `notes` must be said with it."""

    items: tuple[Item, ...]
    name: str
    method: Method
    options: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        from .methods.method import label

        return label(self.name, self.method, options=self.options)


def run_cell(
    cell: Cell,
    model: Model,
    *,
    out: Path | None = None,
    token_budget: int | None = None,
    progress: Progress = silent,
) -> Scored:
    """One cell, scored part by part; on disk, the parts that are there already are kept."""
    items = Items(cell.items, cell.problems)
    table = item_table(items)
    parts = list(cut_parts(cell.items))
    title = f"{model.info.name} {cell.items[0].dataset} {cell.items[0].language} {cell.label}"

    def score_part(number: int) -> pl.DataFrame:
        def share(done: float) -> None:
            progress(title, (number + done) / len(parts), items=len(cell.items))

        return _score_part(cell, model, part=parts[number], token_budget=token_budget, share=share)

    if out is None:
        rows = pl.concat([score_part(number) for number in range(len(parts))])
        labels = {"model": model.info.name, "method": cell.label, "family": model.info.family}
        return replace(
            make_scored(table, rows, labels=labels), skipped=skipped_rows(items), notes=notes_of(cell, model)
        )
    run = store.open_run(out, info=run_info(cell, model, parts=len(parts)), items=table)
    with store.locked(run):
        started = time.time()
        missing = store.missing_parts(run)
        for number in missing:
            store.write_part(run, number, rows=score_part(number))
        if missing or run.info["status"] != "finished":
            run = store.finish_run(run, seconds=round(time.time() - started, 3), scored_parts=len(missing))
    return store.read_scored([run])


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


def _score_part(
    cell: Cell,
    model: Model,
    *,
    part: Sequence[Item],
    token_budget: int | None,
    share: Callable[[float], None],
) -> pl.DataFrame:
    from .models.engine import TOKEN_BUDGET, run_all

    asking = (cell.method.ask(item, model, options=cell.options) for item in part)
    return row_table(run_all(model, asking, token_budget=token_budget or TOKEN_BUDGET, progress=share))


def notes_of(cell: Cell, model: Model) -> tuple[str, ...]:
    """What must be said with the cell's numbers: about the model, about its languages, about the method."""
    known, language = model.info, cell.items[0].language
    notes = [f"{known.name}: {note}" for note in known.notes]
    claimed = {tag.split("-")[0] for tag in known.languages}
    if claimed and "multilingual" not in claimed and language.split("-")[0] not in claimed:
        notes.append(f"{known.name} does not claim to know '{language}', only {', '.join(known.languages)}")
    return (*notes, *cell.notes)


def run_info(cell: Cell, model: Model, *, parts: int) -> dict[str, Any]:
    """What `run.json` says about a cell; its fingerprint holds everything that a score depends on."""
    known = model.info
    return {
        "model": known.name,
        "dataset": cell.items[0].dataset,
        "language": cell.items[0].language,
        "method": cell.label,
        "options": dict(cell.options),
        "items": len(cell.items),
        "parts": parts,
        "notes": list(notes_of(cell, model)),
        "skipped": skipped_rows(Items(cell.items, cell.problems)),
        "facts": {
            "family": known.family,
            "model_type": known.model_type,
            "revision": known.revision,
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
            "schema": store.SCHEMA,
            "weights": known.weights,
            "tokenizer": known.tokenizer,
            "dtype": known.dtype,
            "data": items_hash(cell.items),
            "method": cell.name,
            "options": dict(cell.options),
            "version": cell.method.version,
            "part": PART_CANDIDATES,
        },
    }
