"""Choosing methods: which method scores which items of an open model, and what is left out with which note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .. import registry
from ..analysis.study import Failure
from ..checks import notice_language
from ..errors import IsoglossError, UnknownName, short_message
from ..files.hub import on_message
from ..items import Item, Items, Problem
from ..models.load import find_source
from ..models.model import DEFAULT_LOADING, Loading
from .cells import Cell, Running

if TYPE_CHECKING:
    from ..methods import Method
    from ..models.model import Model

NAMED = 10  # this many items are named in a note


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """Items for one model before the model is open: the checkpoint and how it is opened, a method or `auto`, and its options.

    `labels` are columns that all scores share: `model`, where a study calls the model by another name than its
    checkpoint's, and the facts that a study states about it. With `comparable`, `auto` takes methods whose scores can be compared with
    those of other families of models.
    """

    checkpoint: str
    items: Items
    method: str = "auto"
    options: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    loading: Loading = DEFAULT_LOADING
    comparable: bool = False

    @property
    def name(self) -> str:
        """What the model is called in tables."""
        return self.labels.get("model") or self.loading.served_model or find_name(self.checkpoint)

    def failures(self, error: Exception) -> list[Failure]:
        """This cell, failed, in each of its data sets and languages."""
        model = self.labels.get("model") or self.loading.served_model or self.checkpoint
        why = short_message(error)
        keys = dict.fromkeys((item.dataset, item.language) for item in self.items)
        return [Failure(model, data, language, self.method, why) for data, language in keys or [("", "")]]


def find_name(checkpoint: str) -> str:
    """What a checkpoint is called once it is open; its own name where that cannot be said yet."""
    try:
        return find_source(checkpoint).name
    except IsoglossError:  # reported when the cell is checked
        return checkpoint


def plan_scoring(planned: Sequence[PlannedCell], model: Model, *, running: Running) -> list[Cell]:
    """The scoring cells of everything that is planned for an open model, each once; what cannot be is a failure."""
    cells: dict[tuple[str, ...], Cell] = {}
    for cell_plan in planned:
        try:
            for cell in plan_cells(cell_plan, model):
                cells.setdefault((cell.labels.get("model", ""), cell.label, cell.hash), cell)
        except Exception as error:
            running.fail(cell_plan.failures(error), error)
    return list(cells.values())


def plan_cells(planned: PlannedCell, model: Model) -> list[Cell]:
    """The cells of an open model, everything checked before the first is scored.

    With `auto`, items that the model cannot be scored on are left out and named; without any other it is an error.
    """
    items, auto = planned.items, planned.method == "auto"
    if not len(items):
        raise IsoglossError("There are no items to score.")
    groups, errors = _group_items(items, model, method=planned.method, comparable=planned.comparable)
    names = dict.fromkeys(name for _, _, name in groups)
    options_of_methods = {option for name in names for option in registry.get("method", name).options}
    for option in planned.options:
        if option not in options_of_methods:
            raise UnknownName(f"option of {' or '.join(names)}", option, options_of_methods)
    cells: list[Cell] = []
    for (_, _, name), rows in groups.items():
        try:
            cells.append(_plan_cell(name, rows, model=model, planned=planned))
        except IsoglossError as error:
            errors.append((rows, error))
    if errors and not (auto and cells):
        raise errors[-1][1]
    left_out = []
    for rows, reason in errors:
        kind = "items" if any(row.variant is None for row in rows) else "control items"
        left_out.append(f"the {len(rows)} {_tasks(rows)} {kind} in {rows[0].language} were left out: {reason}")
    return [replace(cell, notes=(*cell.notes, *left_out), problems=problems_of(items, cell.items)) for cell in cells]


def _group_items(
    items: Items, model: Model, *, method: str, comparable: bool
) -> tuple[dict[tuple[str, str, str], list[Item]], list[tuple[list[Item], IsoglossError]]]:
    """The items by data set, language and method; and those that `auto` has no method for, each group with its reason."""
    groups: dict[tuple[str, str, str], list[Item]] = {}
    lost: dict[tuple[str, str], list[Item]] = {}
    chosen: dict[object, str | IsoglossError] = {}
    for item in items:
        task = item.tags.get("task") or item.dataset
        if task not in chosen:
            chosen[task] = method.replace("-", "_")
            if method == "auto":
                choice = method_or_error(item, model.info.family, heads=model.info.heads)
                chosen[task] = _instead(choice) if comparable and isinstance(choice, str) else choice
        name = chosen[task]
        if isinstance(name, IsoglossError):
            lost.setdefault((item.language, str(name)), []).append(item)
        else:
            groups.setdefault((item.dataset, item.language, name), []).append(item)
    return groups, [(rows, IsoglossError(why)) for (_, why), rows in lost.items()]


def _instead(name: str) -> str:
    """The method whose scores can be compared with those of other families of models."""
    return registry.get("method", name).instead or name


def choose_comparable(cells: Sequence[tuple[PlannedCell, str]]) -> list[PlannedCell]:
    """The cells, each with its model's family, those marked whose default method has no metric in common with another cell's."""
    if len({family for _, family in cells}) < 2:
        return [cell for cell, _ in cells]
    chosen: dict[tuple[str, str], dict[str, list[int]]] = {}
    for number, (cell, family) in enumerate(cells):
        tasks = (
            {(item.dataset, str(item.tags.get("task"))): item for item in cell.items} if cell.method == "auto" else {}
        )
        for key, item in tasks.items():
            chosen.setdefault(key, {}).setdefault(str(method_or_error(item, family)), []).append(number)
    changed: dict[int, str] = {}
    for (_, task), methods in chosen.items():
        names = [name for name in methods if name in registry.names("method")]
        for name in names if len(names) > 1 else ():
            other = registry.get("method", name).instead
            changed |= dict.fromkeys(methods[name], f"{task} items by {other}, not by {name}") if other else {}
    notes = [f"{cells[number][0].name} is scored on {text}" for number, text in changed.items()]
    for note in dict.fromkeys(notes):
        on_message.get()(f"Note: {note}, which models of other families do not have.")
    return [replace(cell, comparable=number in changed) for number, (cell, _) in enumerate(cells)]


def method_or_error(item: Item, family: str, *, heads: Sequence[str] = ("lm",)) -> str | IsoglossError:
    """The method that `auto` takes for an item, or why there is none."""
    try:
        return choose_method(item, family, heads=heads)
    except IsoglossError as error:
        return error


def choose_method(item: Item, family: str, *, heads: Sequence[str] = ("lm",)) -> str:
    """The method that `auto` takes for an item and a family of models: the one that declares itself for its task.

    Of several, the one whose head the model has; a next-sentence head before the language model's.
    """
    from ..methods import default_methods, way_to_ask

    task = str(item.tags.get("task") or "")
    heads_of = {name: method.needs for name, method in default_methods(task, family).items()}
    if heads_of:
        return max(heads_of, key=lambda name: (heads_of[name] in heads, heads_of[name] != "lm"))
    asked = registry.get("family", family)
    fitting = [
        name for name, method in registry.load_all("method").items() if method.suits(item) and way_to_ask(method, asked)
    ]
    raise IsoglossError(
        f"There is no default method for a {family} model on '{task or item.dataset}' items. "
        f"Use `method='{' or '.join(fitting) or 'NAME'}'`."
    )


def _plan_cell(name: str, rows: Sequence[Item], *, model: Model, planned: PlannedCell) -> Cell:
    from ..methods import check_model, fill_options

    method: Method = registry.get("method", name)
    auto = planned.method == "auto"
    chosen = {key: value for key, value in planned.options.items() if not auto or key in method.options}
    filled = fill_options(name, method, chosen=chosen)
    check_model(name, method, model=model, options=filled)
    fitting = fitting_items(name, method, rows=rows, options=filled)
    size, order = planned.loading.part_size or 0, planned.loading.order
    cell = Cell(tuple(fitting), name, method, filled, labels=planned.labels, part_size=size, order=order)
    notes = [f"{_tasks(rows)} items were scored by '{cell.label}', chosen by auto"] if auto else []
    if len(fitting) < len(rows):
        unfit = [item.id for item in rows if not (method.suits(item) and method.admits(item, filled))]
        named = ", ".join(unfit[:NAMED]) + (f" and {len(unfit) - NAMED} more" if len(unfit) > NAMED else "")
        were, them = ("was", "it") if len(unfit) == 1 else ("were", "them")
        notes.append(
            f"{len(unfit)} of {len(rows)} {_tasks(rows)} items in {rows[0].language} {were} left out, "
            f"because the method '{name}' does not fit {them}: {named}"
        )
    return replace(cell, notes=tuple(notes))


def fitting_items(name: str, method: Method, *, rows: Sequence[Item], options: Mapping[str, str]) -> list[Item]:
    """The items that can be asked about this way; without any it is an error."""
    fitting = [item for item in rows if method.suits(item) and method.admits(item, options)]
    if rows and not fitting:
        from ..methods import label

        raise IsoglossError(
            f"The method '{label(name, method, options=options)}' fits none of the {len(rows)} items, such as '{rows[0].id}'. See why with: isogloss data check"
        )
    return fitting


def problems_of(items: Items, rows: Sequence[Item]) -> tuple[Problem, ...]:
    """The problems that belong to some of the items, in their language, and all unreadable rows."""
    ids = {(item.language, item.id) for item in rows}
    return tuple(
        problem
        for problem in items.problems
        if (problem.language, problem.item) in ids or problem.check == "unreadable"
    )


def notice_languages(items: Items) -> Items:
    """The items with what a sample shows of their language; where a part of them is in another one, that is said at once."""
    noticed = notice_language(items.rows)
    for size, problems in noticed.values():
        messages = [problem.message for problem in problems]
        seen = max(messages, key=messages.count)
        most = 2 * len(problems) > size
        which = "most items" if most else f"{len(problems)} of {size} sampled items"
        verb, _, rest = seen.partition(" ")
        plural = {"looks": "look", "is": "are"}.get(verb, verb)
        question = "Is `language` right?" if most else "Is every item in the language that it says?"
        on_message.get()(f"Warning: {which} {plural} {rest}. {question}")
    return replace(items, problems=(*items.problems, *(one for _, problems in noticed.values() for one in problems)))


def _tasks(rows: Sequence[Item]) -> str:
    return " and ".join(dict.fromkeys(str(item.tags.get("task") or item.dataset) for item in rows))


def fitting_methods(model: Model) -> list[str]:
    """The names of the methods that can score with a model, at their default options."""
    from ..methods import check_model, fill_options

    names = []
    for name, method in registry.load_all("method").items():
        with suppress(IsoglossError):
            check_model(name, method, model=model, options=fill_options(name, method, chosen={}))
            names.append(name)
    return names
