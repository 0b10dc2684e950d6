"""Composing: models, data, languages and methods become cells, and every cell becomes a run on disk or in memory."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from . import registry, store
from .errors import IsoglossError
from .items import Item, Items, items_hash, limit_items, problem_counts
from .scores import Scored, item_table, join_scored, make_scored, row_table

if TYPE_CHECKING:
    from .methods.method import Method
    from .models.model import Model

PART_ITEMS = 256
AUTO = {
    ("intrasentence", "masked"): "unmask",
    ("intrasentence", "seq2seq"): "unmask",
    ("intrasentence", "causal"): "likelihood",
    ("intersentence", "masked"): "nsp",
    ("intersentence", "seq2seq"): "continuation",
    ("intersentence", "causal"): "continuation",
}


class Progress(Protocol):
    """Told how far a labelled piece of work is, and how many items it has."""

    def __call__(self, label: str, share: float, items: int = 0) -> None: ...


@dataclass(frozen=True, slots=True)
class Cell:
    """One data set in one language under one method with its options: what a run holds."""

    items: tuple[Item, ...]
    name: str
    method: Method
    options: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        from .methods.method import label

        return label(self.name, self.method, self.options)


@dataclass(frozen=True, slots=True)
class Sample:
    """How many items per data set and language, drawn by which seed; all when there is no limit."""

    limit: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Loading:
    """How models are opened and fed."""

    device: str = "cpu"
    dtype: str = "float32"
    token_budget: int | None = None
    offline: bool = False
    allow_pickle: bool = False


EVERYTHING = Sample()
PLAIN = Loading()


def evaluate(
    models: Sequence[str],
    items: Items,
    *,
    method: str = "auto",
    options: Mapping[str, str] | None = None,
    out: Path | None = None,
    sample: Sample = EVERYTHING,
    loading: Loading = PLAIN,
    progress: Progress = lambda label, share, items=0: None,
) -> Scored:
    """What `score` gives, for several models, each opened once."""
    from .models.load import find_place, open_model

    for name in models:
        find_place(name)
    chosen = take_sample(items, sample)
    done = []
    for name in models:
        model = open_model(
            name, device=loading.device, dtype=loading.dtype, offline=loading.offline, allow_pickle=loading.allow_pickle
        )
        done.append(
            score(
                chosen,
                model=model,
                method=method,
                options=options,
                out=out,
                token_budget=loading.token_budget,
                progress=progress,
            )
        )
    return replace(join_scored(done), problems=problem_counts(chosen.problems))


def take_sample(items: Items, sample: Sample) -> Items:
    """At most so many items of each data set, language and task."""
    if sample.limit is None:
        return items

    def place(item: Item) -> tuple[str, str, str]:
        return (item.dataset, item.language, str(item.tags.get("task")))

    kept: list[Item] = []
    for _, group in groupby(sorted(items, key=place), key=place):
        kept += limit_items(Items(tuple(group)), limit=sample.limit, seed=sample.seed)
    ids = {item.id for item in kept}
    odd = tuple(problem for problem in items.problems if problem.item in ids or problem.check == "unreadable")
    return Items(tuple(kept), odd)


def fitting_methods(model: Model) -> list[str]:
    """The names of the methods that can score with a model, at their default options."""
    from .methods.method import fill_options

    return [
        name
        for name, method in registry.everything("method").items()
        if model.info.family in method.families and not method.refuse(model, fill_options(name, method, {}))
    ]


def score(
    items: Items,
    *,
    model: str | Model,
    method: str = "auto",
    options: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    token_budget: int | None = None,
    progress: Progress = lambda label, share, items=0: None,
) -> Scored:
    """The items scored by a model, kept in `out` when it is given (then finished parts are never scored again)."""
    from .models.load import open_model

    opened = open_model(model) if isinstance(model, str) else model
    done = [
        run_cell(cell, opened, out=Path(out) if out else None, token_budget=token_budget, progress=progress)
        for cell in plan_cells(items, opened, method=method, options=options or {})
    ]
    return replace(join_scored(done), problems=problem_counts(items.problems))


def plan_cells(items: Items, model: Model, *, method: str, options: Mapping[str, str]) -> list[Cell]:
    """The cells of a model: items by data set, language and method, everything checked before the first is scored."""
    from .methods.method import check_model, fill_options

    def place(item: Item) -> tuple[str, str, str]:
        return (item.dataset, item.language, choose_method(item, model.info.family) if method == "auto" else method)

    cells = []
    for (_, _, name), group in groupby(sorted(items, key=place), key=place):
        found: Method = registry.get("method", name)
        filled = fill_options(name, found, {k: v for k, v in options.items() if method != "auto" or k in found.options})
        check_model(name, found, model, filled)
        rows = tuple(group)
        unfit = [item.id for item in rows if not found.suits(item)]
        if unfit:
            raise IsoglossError(
                f"The method '{name}' does not fit {len(unfit)} of the items, such as '{unfit[0]}'. Say --method auto, or give other data."
            )
        ids = {item.id for item in rows}
        odd = tuple(problem for problem in items.problems if problem.item in ids or problem.check == "unreadable")
        cells.append(Cell(rows, name.replace("-", "_"), found, filled, problem_counts(odd)))
    return cells


def choose_method(item: Item, family: str) -> str:
    """The method that `auto` takes for an item and a family of models."""
    task = str(item.tags.get("task") or "")
    if (task, family) not in AUTO:
        raise IsoglossError(
            f"There is no default method for a {family} model on '{item.dataset}' items. Say --method NAME."
        )
    return AUTO[task, family]


def run_cell(
    cell: Cell,
    model: Model,
    *,
    out: Path | None = None,
    token_budget: int | None = None,
    progress: Progress = lambda label, share, items=0: None,
) -> Scored:
    """One cell, scored part by part; on disk, the parts that are there already are kept."""
    parts = list(_parts(cell.items))
    notes = _notes(model)
    if out is None:
        rows = [
            _score_part(
                cell,
                model,
                part=part,
                token_budget=token_budget,
                progress=_share(cell, number=i, count=len(parts), progress=progress),
            )
            for i, part in enumerate(parts)
        ]
        scored = make_scored(item_table(cell.items), pl.concat(rows), model=model.info.name, method=cell.label)
        return replace(scored, notes=notes)
    run = store.open_run(out, info=_info(cell, model, len(parts)), items=item_table(cell.items))
    with store.locked(run):
        started = time.time()
        missing = store.missing_parts(run)
        for number in missing:
            share = _share(cell, number=number, count=len(parts), progress=progress)
            store.write_part(
                run,
                number,
                rows=_score_part(cell, model, part=parts[number], token_budget=token_budget, progress=share),
            )
        if missing or run.info["status"] != "finished":
            run = store.finish_run(run, seconds=round(time.time() - started, 3), scored_parts=len(missing))
    return store.read_scored([run])


def _parts(items: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    for start in range(0, len(items), PART_ITEMS):
        yield items[start : start + PART_ITEMS]


def _share(cell: Cell, *, number: int, count: int, progress: Progress) -> Callable[[float], None]:
    label = f"{cell.items[0].language} {cell.label}"
    return lambda share: progress(label, (number + share) / count, len(cell.items))


def _score_part(
    cell: Cell, model: Model, *, part: Sequence[Item], token_budget: int | None, progress: Callable[[float], None]
) -> pl.DataFrame:
    from .models.engine import TOKEN_BUDGET, run_all

    asking = (cell.method.ask(item, model, cell.options) for item in part)
    return row_table(run_all(model, asking, token_budget=token_budget or TOKEN_BUDGET, progress=progress))


def _notes(model: Model) -> tuple[str, ...]:
    return tuple(f"{model.info.name}: {note}" for note in model.info.notes)


def _info(cell: Cell, model: Model, parts: int) -> dict[str, Any]:
    known = model.info
    return {
        "model": known.name,
        "dataset": cell.items[0].dataset,
        "language": cell.items[0].language,
        "method": cell.label,
        "options": dict(cell.options),
        "items": len(cell.items),
        "parts": parts,
        "notes": list(_notes(model)),
        "problems": dict(cell.problems),
        "facts": {
            "family": known.family,
            "model_type": known.model_type,
            "revision": known.revision,
            "vocabulary": known.vocabulary,
            "parameters": known.parameters,
            "languages": list(known.languages),
            "device": model.device,
        },
        "versions": {
            name: version(name) for name in ("isogloss", "torch", "transformers", "tokenizers", "polars", "numpy")
        },
        "python": platform.python_version(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "fingerprint": {
            "schema": store.SCHEMA,
            "model": known.name,
            "weights": known.weights,
            "tokenizer": known.tokenizer,
            "dtype": known.dtype,
            "data": items_hash(cell.items),
            "method": cell.name,
            "options": dict(cell.options),
            "version": cell.method.version,
            "part": PART_ITEMS,
        },
    }
