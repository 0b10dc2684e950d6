"""Jobs: what one model is asked and how it is opened; checked before the first weight is loaded, then run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .. import registry
from ..errors import CannotWrite, IsoglossError, UnknownName, short_message
from ..items import Item, Items, Problem, items_hash, sample_items
from ..scores import Scored, join_scored
from ..storage import StoragePath, as_path
from .cells import Progress, ScoringCell, group_cells, run_cells, silent

if TYPE_CHECKING:
    from ..methods import Method
    from ..models.model import Model


@dataclass(frozen=True, slots=True)
class Sample:
    """How many items per data set, language and task, drawn by which seed; all when there is no limit."""

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


PLAIN = Loading()
NAMED = 10  # so many items are named in a note


@dataclass(frozen=True, slots=True)
class ScoringRequest:
    """Items and the method that they are scored by; `labels` are columns that all scores share."""

    items: Items
    method: str = "auto"
    options: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelJob:
    """Everything that one model is asked, and how it is opened."""

    model: str
    requests: tuple[ScoringRequest, ...]
    loading: Loading = PLAIN


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that could not be scored, and why."""

    model: str
    data: str
    language: str
    method: str
    why: str


def failure_of(request: ScoringRequest, error: Exception) -> Failure:
    """What was asked, failed."""
    data, language = (request.items[0].dataset, request.items[0].language) if len(request.items) else ("", "")
    return Failure(request.labels.get("model", ""), data, language, request.method, short_message(error))


class Failed(Protocol):
    """Told what could not be scored, and why; what else was asked goes on."""

    def __call__(self, requests: Sequence[ScoringRequest], error: Exception) -> None: ...


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Who is told how far the work is, and of what fails; without `failed` an error ends the work."""

    progress: Progress = silent
    failed: Failed | None = None


QUIET = Callbacks()


def plan_jobs(models: Sequence[str], *requests: ScoringRequest, loading: Loading = PLAIN) -> list[ModelJob]:
    """The same requests for each model; refused before any weight is loaded when they cannot work."""
    for request in requests:
        check_request(models, request.items, method=request.method, options=request.options, loading=loading)
    return [ModelJob(name, requests, loading) for name in models]


def score(
    items: Items,
    *,
    model: str | Model,
    method: str = "auto",
    options: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    loading: Loading = PLAIN,
    progress: Progress = silent,
) -> Scored:
    """The items scored by a model, kept in `out` when it is given (then finished parts are never scored again)."""
    if not isinstance(items, Items):
        raise IsoglossError("score takes items. Read them first: items = isogloss.read('demo', language='en')")
    request = ScoringRequest(items, method, options or {})
    folder = as_path(out) if out else None
    if isinstance(model, str):
        check_request([model], items, method=method, options=options or {}, loading=loading)
        return join_scored(run_job(ModelJob(model, (request,), loading), out=folder, callbacks=Callbacks(progress)))
    cells = plan_requests([request], model)
    return run_cells(cells, model, out=folder, token_budget=loading.token_budget, progress=progress)


def run_job(job: ModelJob, *, out: StoragePath | None = None, callbacks: Callbacks = QUIET) -> list[Scored]:
    """All that a model is asked, the model opened once; the cells of one language are scored together."""
    model = try_open(job, callbacks)
    if model is None:
        return []
    planned = plan_requests(job.requests, model, failed=callbacks.failed)
    found = []
    for indices in group_cells(planned):
        group = [planned[index] for index in indices]
        found += _run_group(group, model, out=out, token_budget=job.loading.token_budget, callbacks=callbacks)
    return found


def open_job(job: ModelJob) -> Model:
    """The job's model, open."""
    from ..models.load import open_model

    how = {key: value for key, value in asdict(job.loading).items() if key != "token_budget"}
    return open_model(job.model, **how)


def try_open(job: ModelJob, callbacks: Callbacks, *, opener: Callable[[ModelJob], Model] = open_job) -> Model | None:
    """The job's model, open; none when it cannot be opened and somebody was told of it."""
    try:
        return opener(job)
    except Exception as error:
        if callbacks.failed is None:
            raise
        callbacks.failed(job.requests, error)
        return None


def plan_requests(
    requests: Sequence[ScoringRequest], model: Model, *, failed: Failed | None = None
) -> list[ScoringCell]:
    """The cells of all requests, each once; a request that cannot be planned is told to `failed`."""
    found: dict[tuple[str, ...], ScoringCell] = {}
    for request in requests:
        try:
            cells = plan_cells(request.items, model, method=request.method, options=request.options)
        except Exception as error:
            if failed is None:
                raise
            failed([request], error)
            continue
        for cell in cells:
            key = (request.labels.get("model", ""), cell.label, items_hash(cell.items))
            found.setdefault(key, replace(cell, labels=request.labels))
    return list(found.values())


def _run_group(
    group: Sequence[ScoringCell],
    model: Model,
    *,
    out: StoragePath | None,
    token_budget: int | None,
    callbacks: Callbacks,
) -> list[Scored]:
    """The scores of cells of one language; when something fails, each cell is tried alone."""
    try:
        return [run_cells(group, model, out=out, token_budget=token_budget, progress=callbacks.progress)]
    except Exception as error:
        if callbacks.failed is None:
            raise
        # parts that could not be written are scored together again by the next command, so that they stay the same
        if len(group) == 1 or isinstance(error, CannotWrite):
            asked = [ScoringRequest(Items(cell.items), cell.name, cell.options, cell.labels) for cell in group]
            callbacks.failed(asked, error)
            return []
    alone = [_run_group([cell], model, out=out, token_budget=token_budget, callbacks=callbacks) for cell in group]
    return [scored for found in alone for scored in found]


def check_request(
    models: Sequence[str], items: Items, *, method: str, options: Mapping[str, str], loading: Loading
) -> None:
    """Refuse what cannot work before any weight is loaded: unknown names and options, models of the wrong family."""
    from ..methods import check_family, fill_options
    from ..models.load import find_family, find_source

    if method != "auto":
        found = registry.get("method", method)
        fill_options(method, found, given=options)
    for name in models:
        find_source(name)
    for name in models:
        family = find_family(name, offline=loading.offline)
        if method != "auto":
            check_family(method, found, model=name, family=family)
    if method != "auto":
        fitting_items(method, found, rows=items.rows)


def take_sample(items: Items, sample: Sample) -> Items:
    """At most so many items of each data set, language and task."""
    if sample.limit is None:
        return items

    def key(item: Item) -> tuple[str, str, str]:
        return (item.dataset, item.language, str(item.tags.get("task")))

    kept: list[Item] = []
    for _, group in groupby(sorted(items, key=key), key=key):
        kept += sample_items(Items(tuple(group)), limit=sample.limit, seed=sample.seed)
    keys = {item.key for item in kept}
    rows = tuple(item for item in items if item.key in keys)
    return Items(rows, _problems(items, rows))


def fitting_methods(model: Model) -> list[str]:
    """The names of the methods that can score with a model, at their default options."""
    from ..methods import check_model, fill_options

    def fits(name: str, method: Method) -> bool:
        try:
            check_model(name, method, model=model, options=fill_options(name, method, given={}))
        except IsoglossError:
            return False
        return True

    return [name for name, method in registry.load_all("method").items() if fits(name, method)]


def plan_cells(items: Items, model: Model, *, method: str, options: Mapping[str, str]) -> list[ScoringCell]:
    """The cells of a model, everything checked before the first is scored.

    With `auto`, items that the model cannot be scored on are left out and named; without any other it is an error.
    """
    if not len(items):
        raise IsoglossError("There are no items to score.")
    cells: list[ScoringCell] = []
    errors: list[tuple[list[Item], IsoglossError]] = []
    groups = _group_items(items, model, method=method, errors=errors)
    _check_options([name for _, _, name in groups], options)
    for (_, _, name), rows in groups.items():
        try:
            cells.append(_plan_cell(name, rows, model=model, options=options, auto=method == "auto"))
        except IsoglossError as error:
            errors.append((rows, error))
    if errors and (method != "auto" or not cells):
        raise errors[-1][1]
    left_out = [_left_out(rows, error) for rows, error in errors]
    return [replace(cell, notes=(*cell.notes, *left_out), problems=_problems(items, cell.items)) for cell in cells]


def _group_items(
    items: Items, model: Model, *, method: str, errors: list[tuple[list[Item], IsoglossError]]
) -> dict[tuple[str, str, str], list[Item]]:
    """The items by data set, language and method; those that `auto` has no method for are errors."""
    groups: dict[tuple[str, str, str], list[Item]] = {}
    lost: dict[tuple[str, str], list[Item]] = {}
    chosen: dict[object, str | IsoglossError] = {}
    for item in items:
        task = item.tags.get("task") or item.dataset
        if task not in chosen:
            chosen[task] = _method_of(item, model) if method == "auto" else method.replace("-", "_")
        name = chosen[task]
        if isinstance(name, IsoglossError):
            lost.setdefault((item.language, str(name)), []).append(item)
        else:
            groups.setdefault((item.dataset, item.language, name), []).append(item)
    errors += [(rows, IsoglossError(why)) for (_, why), rows in lost.items()]
    return groups


def _method_of(item: Item, model: Model) -> str | IsoglossError:
    """The method that `auto` takes for an item, or why there is none."""
    try:
        return choose_method(item, model.info.family, heads=model.info.heads)
    except IsoglossError as error:
        return error


def _left_out(rows: Sequence[Item], error: IsoglossError) -> str:
    kind = "items" if any(row.variant is None for row in rows) else "twins"
    return f"the {len(rows)} {_tasks(rows)} {kind} in {rows[0].language} were left out: {error}"


def _check_options(names: Sequence[str], options: Mapping[str, str]) -> None:
    """Refuse an option that none of the chosen methods has."""
    known = {option for name in names for option in registry.get("method", name).options}
    for option in options:
        if option not in known:
            raise UnknownName(f"option of {' or '.join(dict.fromkeys(names))}", option, known)


def choose_method(item: Item, family: str, *, heads: Sequence[str] = ("lm",)) -> str:
    """The method that `auto` takes for an item and a family of models: the one that declares itself for its task.

    Of several, the one whose head the model has; a next-sentence head before the language model's.
    """
    from ..methods import default_methods

    task = str(item.tags.get("task") or "")
    found = {name: one.needs for name, one in default_methods(task, family).items()}
    if found:
        return max(found, key=lambda name: (found[name] in heads, found[name] != "lm"))
    raise IsoglossError(
        f"There is no default method for a {family} model on '{task or item.dataset}' items. Use --method NAME."
    )


def _plan_cell(name: str, rows: Sequence[Item], *, model: Model, options: Mapping[str, str], auto: bool) -> ScoringCell:
    from ..methods import check_model, fill_options

    found: Method = registry.get("method", name)
    given = {key: value for key, value in options.items() if not auto or key in found.options}
    filled = fill_options(name, found, given=given)
    check_model(name, found, model=model, options=filled)
    fitting = fitting_items(name, found, rows=rows)
    cell = ScoringCell(tuple(fitting), name, found, filled)
    notes = [f"{_tasks(rows)} items were scored by '{cell.label}', chosen by auto"] if auto else []
    unfit = [item.id for item in rows if not found.suits(item)]
    if unfit:
        named = ", ".join(unfit[:NAMED]) + (f" and {len(unfit) - NAMED} more" if len(unfit) > NAMED else "")
        one = ("was", "it") if len(unfit) == 1 else ("were", "them")
        notes.append(
            f"{len(unfit)} of {len(rows)} {_tasks(rows)} items in {rows[0].language} {one[0]} left out, "
            f"because the method '{name}' does not fit {one[1]}: {named}"
        )
    return replace(cell, notes=tuple(notes))


def fitting_items(name: str, method: Method, *, rows: Sequence[Item]) -> list[Item]:
    """The items that can be scored this way; without any it is an error."""
    found = [item for item in rows if method.suits(item)]
    if rows and not found:
        raise IsoglossError(
            f"The method '{name}' fits none of the {len(rows)} items, such as '{rows[0].id}'. "
            "See what is odd about them with: isogloss data check"
        )
    return found


def _problems(items: Items, rows: Sequence[Item]) -> tuple[Problem, ...]:
    """The problems that belong to some of the items, and all unreadable rows."""
    ids = {(item.language, item.id) for item in rows}
    return tuple(one for one in items.problems if (one.language, one.item) in ids or one.check == "unreadable")


def _tasks(rows: Sequence[Item]) -> str:
    return " and ".join(dict.fromkeys(str(item.tags.get("task") or item.dataset) for item in rows))
