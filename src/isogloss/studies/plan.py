"""Planning: what is to be scored or asked becomes cells, checked as far as possible before a model is opened.

`eval` and `ask` plan commands, `run` and the local page plan study files; all make a `StudyPlan`, which `run_plan` runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import languages, registry
from ..analysis.claim_files import read_claims
from ..analysis.groups import check_by
from ..analysis.measures import check_metrics, check_mode
from ..errors import BadData, IsoglossError, NoItems, UnknownName
from ..files import sources
from ..files.filters import add_columns, filter_items
from ..files.hub import PREFIX, fetch_table, offline_mode
from ..items import Item, Items, group_by, sample_items
from ..models.load import DEFAULT_LOADING, Loading, find_family, find_source
from ..scores import ITEM_SCHEMA, ROW_SCHEMA
from .cells import Failure, nothing_done
from .method_choice import PlannedCell, choose_method, fitting_items, notice_languages, problems_of

if TYPE_CHECKING:
    from ..chat.endpoint import Endpoint
    from .file import Data, MethodSettings, ModelSettings, StudyFile

TAKEN = {*ITEM_SCHEMA, *ROW_SCHEMA, "model", "method", "family", "checkpoint"}
COLUMNS = ("model", "method", "family")


@dataclass(frozen=True, slots=True)
class Subset:
    """What of a study is run: cells that match a pattern MODEL/DATA/LANGUAGE; `limit`, `seed` and the others replace the study's."""

    only: tuple[str, ...] = ()
    limit: int | None = None
    seed: int | None = None
    device: str | None = None
    offline: bool = False


EVERYTHING = Subset()


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """Cells that are ready to run, how models are opened, what is known to fail, and what is measured in the end.

    `study` and `path` are the study file, where there is one; `partial` when only some of its cells were chosen.
    """

    cells: tuple[PlannedCell, ...]
    loading: Loading = DEFAULT_LOADING
    failures: tuple[Failure, ...] = ()
    measuring: Mapping[str, Any] = field(default_factory=dict)
    study: StudyFile | None = None
    path: Path | None = None
    partial: bool = False

    def by_checkpoint(self) -> list[list[PlannedCell]]:
        """The cells of each checkpoint, which is opened once for all of them."""
        return list(_by_checkpoint(self.cells).values())


@dataclass(frozen=True, slots=True)
class LoadedData:
    """The items of an entry of the data by language, and the wanted languages that it lacks, each with a sentence."""

    name: str
    items: Mapping[str, Items]
    lacking: Mapping[str, str] = field(default_factory=dict)


def plan_evaluation(
    models: Sequence[str],
    *sets: Items,
    method: str = "auto",
    options: Mapping[str, str] | None = None,
    loading: Loading = DEFAULT_LOADING,
    measuring: Mapping[str, Any] | None = None,
) -> StudyPlan:
    """Every model on every set of items by one method; refused when no model can be scored, or a name does not exist."""
    check_method(method, options or {})
    sets = tuple(notice_languages(items) for items in sets)
    cells = [PlannedCell(name, items, method, options or {}) for name in models for items in sets]
    return plan_command(cells, loading, measuring=measuring or {})


def plan_command(cells: Sequence[PlannedCell], loading: Loading, *, measuring: Mapping[str, Any]) -> StudyPlan:
    """The plan of cells of one command; refused when none of them can be run."""
    check_measuring(
        measuring, [cell.items for cell in cells], columns=COLUMNS, asked=any(c.kind == "ask" for c in cells)
    )
    good, failures = check_cells(cells, loading)
    if not good:
        raise nothing_done(failures)
    return StudyPlan(tuple(good), loading, tuple(failures), measuring)


def plan_study(path: str | Path, *, subset: Subset = EVERYTHING) -> StudyPlan:
    """The study in a file as cells; a mistake in the file is an error, a cell that cannot work is a failure."""
    path = Path(path)
    from .file import read_study
    from .outputs import check_sources

    study = read_study(path)
    sampling = replace_set(study.sample.model_dump(), limit=subset.limit, seed=subset.seed)
    loading = Loading(**replace_set(study.loading.model_dump(), device=subset.device, offline=subset.offline or None))
    measuring = study.measures.model_dump()
    try:
        _check_names(study)
        if study.claims:
            read_claims(path.parent / study.claims)
        check_sources(study.figures, base=path.parent)
        models = [_named(model, path.parent) for model in study.models]
        with offline_mode(loading.offline):
            read_once = cache(_read_items)  # several blocks of data may have one source
            readings = [_read(data, study, base=path.parent, read=read_once) for data in study.data]
        facts = _check_facts(study, readings)
        asked = any(method.name == "ask" for method in _methods(study)) or any(model.endpoint for model in models)
        items = [items for reading in readings for items in reading.items.values()]
        check_measuring(measuring, items, columns=[*COLUMNS, "checkpoint", *facts], asked=asked)
    except BadData:
        raise
    except IsoglossError as error:
        raise IsoglossError(f"{path}: {error}") from error
    readings = [
        replace(reading, items={tag: take_sample(rows, **sampling) for tag, rows in reading.items.items()})
        for reading in readings
    ]
    cells, lacking = _study_cells(study, models, readings=readings, only=subset.only)
    if not cells and not lacking:
        raise IsoglossError(f"{path}: no model has a checkpoint for a language of the data, so there is nothing to do.")
    good, failures = check_cells(cells, loading)
    return StudyPlan(tuple(good), loading, (*lacking, *failures), measuring, study, path, partial=bool(subset.only))


def replace_set(values: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The values with those changes that are set."""
    return values | {name: value for name, value in changes.items() if value is not None}


def take_sample(items: Items, limit: int | None, *, seed: int = 0) -> Items:
    """At most `limit` items of each data set, language and task; all without a limit."""
    if limit is None:
        return items

    def key(item: Item) -> tuple[str, str, str]:
        return (item.dataset, item.language, str(item.tags.get("task")))

    groups = [Items(tuple(rows)) for rows in group_by(items, key).values()]
    kept = {item.key for group in groups for item in sample_items(group, limit=limit, seed=seed)}
    rows = tuple(item for item in items if item.key in kept)
    return Items(rows, problems_of(items, rows))


# ---- checks, each made once


def check_cells(cells: Sequence[PlannedCell], loading: Loading) -> tuple[list[PlannedCell], list[Failure]]:
    """The cells that can work as far as one can know before a model is opened, and a failure for each of the others."""
    good: list[PlannedCell] = []
    failures: list[Failure] = []
    for group in _by_checkpoint(cells).values():
        try:
            family = None if group[0].endpoint else find_family(group[0].checkpoint, offline=loading.offline)
        except IsoglossError as error:
            failures += [failure for cell in group for failure in cell.failures(error)]
            continue
        for cell in group:
            try:
                _check_cell(cell, family)
                good.append(cell)
            except IsoglossError as error:
                failures += cell.failures(error)
    return good, failures


def _by_checkpoint(cells: Iterable[PlannedCell]) -> dict[tuple[str, Endpoint | None], list[PlannedCell]]:
    return group_by(cells, lambda cell: (cell.checkpoint, cell.endpoint))


def _check_cell(cell: PlannedCell, family: str | None) -> None:
    """Refuse a method that does not fit the model or the items; a model without a family is behind an endpoint."""
    from ..methods import check_family

    name = cell.labels.get("model", cell.checkpoint)
    if cell.kind == "ask":
        from .asking import check_ask_cell

        check_ask_cell(cell, family)
    elif family is None:
        raise IsoglossError(
            f"'{name}' is behind an endpoint, so it cannot be scored, only asked. Use the method 'ask'."
        )
    elif cell.method == "auto":
        tasks = {item.tags.get("task"): item for item in cell.items}
        _check_any(list(tasks.values()), family)
    else:
        method = registry.get("method", cell.method)
        check_family(cell.method, method, model=name, family=family)
        fitting_items(cell.method, method, rows=cell.items.rows)


def _check_any(items: Sequence[Item], family: str) -> None:
    """Refuse items of which `auto` has a method for none."""
    for item in items:
        try:
            choose_method(item, family)
            return
        except IsoglossError as error:
            first = error
    if items:
        raise first


def check_method(name: str, options: Mapping[str, str]) -> None:
    """Refuse a method or an option that does not exist."""
    from ..methods import fill_options

    if name == "ask":
        from ..chat.requests import read_ask_settings

        read_ask_settings(options)
    elif name != "auto":
        fill_options(name, registry.get("method", name), chosen=options)


def check_measuring(
    measuring: Mapping[str, Any], sets: Sequence[Items], *, columns: Iterable[str], asked: bool
) -> None:
    """Refuse a metric or a mode that does not exist, and columns that no table will have, before anything is scored."""
    check_mode(measuring.get("mode", "corrected"))
    check_metrics(measuring.get("metrics"))
    check_by(measuring.get("by"), [*_item_columns(sets), *columns, *(["prompt"] if asked else [])])


def _item_columns(sets: Sequence[Items]) -> set[str]:
    return {*ITEM_SCHEMA, *(name for items in sets for item in items for name in item.tags)}


def _methods(study: StudyFile) -> list[MethodSettings]:
    return [*study.methods, *(method for data in study.data for method in data.methods)]


def _check_names(study: StudyFile) -> None:
    """Refuse methods, options, languages, metrics of tables and figures that do not exist."""
    from ..reports.paper.layouts import metric_names

    for method in _methods(study):
        check_method(method.name, method.options)
    entries = [study.languages, *(model.languages for model in study.models), *(data.languages for data in study.data)]
    for name in (name for names in entries for name in names):
        languages.resolve(name)
    for table in study.tables:
        check_metrics(metric_names(table))
    for figure in study.figures:
        registry.get("figure", figure.figure)


def _check_facts(study: StudyFile, readings: Sequence[LoadedData]) -> set[str]:
    """The names of all facts; one that is the name of a column is refused."""
    facts = {name for model in study.models for name in model.facts}
    facts |= {name for model in study.models for checkpoint in model.checkpoints.values() for name in checkpoint.facts}
    columns = _item_columns([items for reading in readings for items in reading.items.values()])
    for name in sorted(facts & (TAKEN | columns)):
        of_data = "" if name in TAKEN else " of the data"
        raise IsoglossError(f"a fact may not be named '{name}', which is a column{of_data} already.")
    return facts


# ---- study files


def _named(model: ModelSettings, base: Path) -> ModelSettings:
    """The model with its label, and with the whole paths of checkpoints beside the study file."""

    def beside(name: str) -> str:
        return str(base / name) if (base / name).exists() else name

    if model.endpoint:
        return model.model_copy(update={"label": model.label or model.checkpoint})
    label = model.label or _short_name(beside(str(model.checkpoint)))
    tags = {
        languages.resolve(tag): checkpoint.model_copy(update={"checkpoint": beside(checkpoint.checkpoint)})
        for tag, checkpoint in model.checkpoints.items()
    }
    whole = beside(model.checkpoint) if model.checkpoint else None
    return model.model_copy(update={"label": label, "checkpoint": whole, "checkpoints": tags})


def _short_name(checkpoint: str) -> str:
    try:
        return find_source(checkpoint).name
    except IsoglossError:  # reported when the cell is checked
        return checkpoint


def _read(data: Data, study: StudyFile, *, base: Path, read: Callable[..., Items]) -> LoadedData:
    """The data's items by language; a language that is wanted and not there is no mistake of the file."""
    source = str(base / data.source) if (base / data.source).exists() else data.source
    name = data.name or Path(data.source).name.split(".")[0]
    wanted = [languages.resolve(name) for name in data.languages or study.languages]
    if source.startswith(PREFIX):
        fetch_table(source)
    stated = {"reader": data.format or "", "encoding": data.encoding or "", **data.columns}
    items = read(source, tuple(wanted), stated=tuple(stated.items()), skip_bad=data.skip_bad)
    there = dict.fromkeys(item.language for item in items)
    lacking = {tag: f"'{name}' has no items in '{tag}'." for tag in wanted if tag not in there}
    chosen = {tag: _in_language(items, tag) for tag in there if not wanted or tag in wanted}
    if chosen:
        rows = tuple(item for part in chosen.values() for item in part)
        left = filter_items(Items(rows, items.problems), data.where)
        chosen = {tag: _in_language(left, tag) for tag in chosen}
    noticed = {tag: add_columns(notice_languages(rows), data.facts) for tag, rows in chosen.items() if len(rows)}
    return LoadedData(name, noticed, lacking)


def _read_items(source: str, wanted: Sequence[str], *, stated: Iterable[tuple[str, str]], skip_bad: bool) -> Items:
    columns = dict(stated)
    try:
        return sources.read(source, language=sources.offered(source, wanted), columns=columns, skip_bad=skip_bad)
    except (NoItems, UnknownName):  # some of the languages are not there: which are?
        return sources.read(source, columns=columns, skip_bad=skip_bad)


def _in_language(items: Items, language: str) -> Items:
    """The items in a language, with their problems and those of no language."""
    rows = tuple(item for item in items if item.language == language)
    return Items(rows, tuple(problem for problem in items.problems if problem.language in (language, None)))


def _study_cells(
    study: StudyFile, models: Sequence[ModelSettings], *, readings: Sequence[LoadedData], only: Sequence[str]
) -> tuple[list[PlannedCell], list[Failure]]:
    """The cells whose name MODEL/DATA/LANGUAGE matches a pattern, and those whose language the data lacks."""
    labels = [str(model.label) for model in models]
    for label in labels:
        if labels.count(label) > 1:
            raise IsoglossError(f"Two models of the study are called '{label}'. Give each a 'label' of its own.")
    cells: list[PlannedCell] = []
    lacking: list[Failure] = []
    names: list[str] = []
    for model, (data, reading) in product(models, zip(study.data, readings, strict=True)):
        if data.models and model.label not in data.models:
            continue
        for tag in (*reading.items, *reading.lacking):
            opened = _checkpoint(model, tag)
            if opened is None:
                continue
            names.append(f"{model.label}/{reading.name}/{tag}")
            for method in (data.methods or study.methods) if _fits(names[-1], only) else ():
                if tag in reading.items:
                    cells.append(
                        _study_cell(model, opened[0], facts=opened[1], items=reading.items[tag], method=method)
                    )
                else:
                    lacking.append(Failure(str(model.label), reading.name, tag, method.name, reading.lacking[tag]))
    for pattern in only:
        if not any(_fits(name, [pattern]) for name in names):
            shown = ", ".join(list(dict.fromkeys(names))[:12]) + (", ..." if len(set(names)) > 12 else "")
            raise IsoglossError(f"No cell of the study fits --only '{pattern}'. It has {shown}.")
    return cells, lacking


def _study_cell(
    model: ModelSettings, checkpoint: str, *, facts: Mapping[str, str], items: Items, method: MethodSettings
) -> PlannedCell:
    """One cell of a study; behind an endpoint a model can only be asked, so that is what `auto` does there."""
    endpoint = None
    if model.endpoint:
        from .asking import study_endpoint

        endpoint = study_endpoint(model, checkpoint)
    name = "ask" if endpoint and method.name == "auto" else method.name
    labels = {"model": str(model.label), "checkpoint": checkpoint if endpoint else _short_name(checkpoint), **facts}
    return PlannedCell(checkpoint, items, name, method.options, labels, endpoint)


def _checkpoint(model: ModelSettings, language: str) -> tuple[str, Mapping[str, str]] | None:
    """The model's checkpoint for a language with its facts; none when the model is not for this language."""
    if model.languages and language not in [languages.resolve(name) for name in model.languages]:
        return None
    if model.checkpoint:
        return model.checkpoint, model.facts
    checkpoint = model.checkpoints.get(language)
    return (checkpoint.checkpoint, {**model.facts, **checkpoint.facts}) if checkpoint else None


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}/*") for pattern in patterns)
