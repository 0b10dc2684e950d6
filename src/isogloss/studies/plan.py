"""Planning: what is to be asked of models becomes cells, checked as far as possible before a model is opened.

`eval` and `ask` plan commands, `run` and the local page plan study files; all make a `StudyPlan`, which `execute` runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import languages, registry
from ..analysis.groups import check_by
from ..analysis.intervals import IntervalSettings
from ..analysis.measures import check_metrics, check_mode
from ..analysis.study import Failure, Measuring, nothing_done
from ..claims.files import read_claims
from ..errors import BadData, IsoglossError, NoItems, UnknownName
from ..files import sources
from ..files.filters import add_columns, filter_items
from ..files.hub import PREFIX, fetch_table, offline_mode
from ..items import Items, group_by, limit_items
from ..models.load import find_family
from ..models.model import DEFAULT_LOADING, Loading
from ..scores import ITEM_SCHEMA, QUESTION_SCHEMA, ROW_SCHEMA
from .scoring_plan import (
    PlannedCell,
    choose_comparable,
    find_name,
    fitting_items,
    method_or_error,
    notice_languages,
)
from .stopping import rule_beside
from .training import path_beside

if TYPE_CHECKING:
    from ..models.model import Model
    from .file import Data, MethodSettings, ModelSettings, StudyFile

TAKEN = {*ITEM_SCHEMA, *QUESTION_SCHEMA, *ROW_SCHEMA, "model", "method", "family", "checkpoint"}
COLUMNS = ("model", "method", "family")
SERVED = (  # of `Loading`: a model states them for itself
    *("served_model", "key_env", "concurrency", "timeout", "tries", "tokenizer", "repeat"),
    *("max_requests", "max_cost", "prices"),
)


@dataclass(frozen=True, slots=True)
class Subset:
    """What of a study is run: cells that match a pattern MODEL/DATA/LANGUAGE; `limit`, `seed` and the others replace the study's."""

    only: tuple[str, ...] = ()
    limit: int | None = None
    seed: int | None = None
    device: str | None = None
    offline: bool = False


EVERYTHING = Subset()
DEFAULT_MEASURING = Measuring()


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """Cells that are ready to run, what is known to fail, and what is measured in the end.

    `study` and `path` are the study file, where there is one; `partial` when only some of its cells were chosen.
    `opened` are models that are open already, by the name of their checkpoint. `until` is a stopping rule.
    """

    cells: tuple[PlannedCell, ...]
    failures: tuple[Failure, ...] = ()
    measuring: Measuring = field(default_factory=Measuring)
    study: StudyFile | None = None
    path: Path | None = None
    partial: bool = False
    opened: Mapping[str, Model] = field(default_factory=dict)
    until: str | None = None

    def names(self) -> list[tuple[str, str, str, str]]:
        """The model, data set and language of every cell; the method is known once the model is open."""
        keys = [(cell.name, item.dataset, item.language, "") for cell in self.cells for item in cell.items]
        return list(dict.fromkeys(keys))

    def by_checkpoint(self) -> list[list[PlannedCell]]:
        """The cells of each checkpoint, which is opened once for all of them."""
        return list(group_by(self.cells, lambda cell: (cell.checkpoint, cell.loading)).values())


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
    loading: Loading | Sequence[Loading] = DEFAULT_LOADING,
    measuring: Measuring = DEFAULT_MEASURING,
) -> StudyPlan:
    """Every model on every set of items by one method; refused when no model can be asked, or a name does not exist.

    With several ways of loading, such as the names of models at one address, each model is opened in each of them.
    """
    check_method(method, options or {})
    sets = tuple(notice_languages(items) for items in sets)
    ways = [loading] if isinstance(loading, Loading) else loading
    cells = [
        PlannedCell(name, items, method, options or {}, loading=way) for name, way, items in product(models, ways, sets)
    ]
    return _plan_command(cells, measuring=measuring)


def _plan_command(cells: Sequence[PlannedCell], *, measuring: Measuring) -> StudyPlan:
    """The plan of cells of one command; refused when none of them can be run."""
    columns = {
        *_item_columns([cell.items for cell in cells]),
        *COLUMNS,
        *_method_columns(cell.method for cell in cells),
    }
    _check_measuring(measuring, columns)
    plan = _check_cells(StudyPlan(tuple(cells), measuring=measuring))
    if not plan.cells:
        raise nothing_done(plan.failures)
    return plan


def plan_study(path: str | Path, *, subset: Subset = EVERYTHING) -> StudyPlan:
    """The study in a file as cells; a mistake in the file is an error, a cell that cannot work is a failure."""
    path = Path(path)
    from .file import read_study

    study = read_study(path)
    sampling = replace_set(study.sample.model_dump(), limit=subset.limit, seed=subset.seed)
    loading = Loading(**replace_set(study.loading.model_dump(), device=subset.device, offline=subset.offline or None))
    measuring = _measuring_of(study)
    methods = [*study.methods, *(method for data in study.data for method in data.methods)]
    try:
        _check_names(study, methods, base=path.parent)
        until = rule_beside(study.until, path.parent, unit=study.loading.order) if study.until else None
        models = [_named(model, path.parent) for model in study.models]
        with offline_mode(loading.offline):
            read_once = cache(_read_items)  # several blocks of data may have one source
            readings = [_read(data, study, base=path.parent, read=read_once) for data in study.data]
        columns = _item_columns([items for reading in readings for items in reading.items.values()])
        columns |= {*COLUMNS, "checkpoint", *_check_facts(study, columns)}
        columns |= _method_columns(method.name for method in methods)
        _check_measuring(measuring, columns)
    except BadData:
        raise
    except IsoglossError as error:
        raise IsoglossError(f"{path}: {error}") from error
    readings = [
        replace(reading, items={tag: limit_items(rows, **sampling) for tag, rows in reading.items.items()})
        for reading in readings
    ]
    cells, lacking = _study_cells(study, models, readings=readings, only=subset.only)
    cells = [replace(cell, loading=_loading_of(cell, loading)) for cell in cells]
    if not cells and not lacking:
        raise IsoglossError(f"{path}: no model has a checkpoint for a language of the data, so there is nothing to do.")
    plan = StudyPlan(tuple(cells), tuple(lacking), measuring, study, path, partial=bool(subset.only))
    return _check_cells(replace(plan, until=until))


def replace_set(values: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The values with those changes that are set."""
    return values | {name: value for name, value in changes.items() if value is not None}


# ---- checks, each made once


def _check_cells(plan: StudyPlan) -> StudyPlan:
    """The plan with the cells that can work as far as one can know before a model is opened; the others are failures."""
    good: list[tuple[PlannedCell, str]] = []
    failures = list(plan.failures)
    for group in plan.by_checkpoint():
        try:
            family = find_family(group[0].checkpoint, group[0].loading)
        except IsoglossError as error:
            failures += [failure for cell in group for failure in cell.failures(error)]
            continue
        for cell in group:
            try:
                _check_cell(cell, family)
                good.append((cell, family))
            except IsoglossError as error:
                failures += cell.failures(error)
    return replace(plan, cells=tuple(choose_comparable(good)), failures=tuple(failures))


def _check_cell(cell: PlannedCell, family: str) -> None:
    """Refuse a method that does not fit the model or the items."""
    from ..methods import check_family, fill_options

    name = cell.name
    if cell.method == "auto":
        tasks = {item.tags.get("task"): item for item in cell.items}
        choices = [method_or_error(item, family) for item in tasks.values()]
        errors = [choice for choice in choices if isinstance(choice, IsoglossError)]
        if errors and len(errors) == len(choices):
            raise errors[-1]
    else:
        method = registry.get("method", cell.method)
        check_family(cell.method, method, model=name, family=family)
        options = fill_options(cell.method, method, chosen=cell.options)
        fitting = fitting_items(cell.method, method, rows=cell.items.rows, options=options)
        if method.prepare:
            method.prepare(fitting, options)


def check_method(name: str, options: Mapping[str, str]) -> None:
    """Refuse a method or an option that does not exist."""
    from ..methods import fill_options

    if name != "auto":
        fill_options(name, registry.get("method", name), chosen=options)


def _check_measuring(measuring: Measuring, columns: Iterable[str]) -> None:
    """Refuse a metric or a mode that does not exist, and columns that no table will have, before anything is scored."""
    check_mode(measuring.mode)
    check_metrics(measuring.metrics)
    check_by(measuring.by, list(columns))


def _measuring_of(study: StudyFile) -> Measuring:
    """What a study file wants measured."""
    wanted = study.measures
    metrics, by = (None if names is None else tuple(names) for names in (wanted.metrics, wanted.by))
    return Measuring(metrics, by, wanted.mode, IntervalSettings(wanted.interval, wanted.resamples, wanted.seed))


def _method_columns(names: Iterable[str]) -> set[str]:
    """The columns that the tables of methods have beside those of items; `auto` may choose one that has them."""
    chosen = registry.load_all("method").values() if "auto" in (names := list(names)) else map(_method, names)
    return {column for method in chosen for column in method.columns}


def _method(name: str) -> Any:
    return registry.get("method", name)


def _item_columns(sets: Sequence[Items]) -> set[str]:
    return {*ITEM_SCHEMA, *(name for items in sets for item in items for name in item.tags)}


def _check_names(study: StudyFile, methods: Iterable[MethodSettings], *, base: Path) -> None:
    """Refuse methods, options, languages, metrics of tables, figures and files beside the study that do not exist."""
    from ..reports.paper.layouts import metric_names

    for method in methods:
        check_method(method.name, method.options)
    entries = [study.languages, *(model.languages for model in study.models), *(data.languages for data in study.data)]
    for name in (name for names in entries for name in names):
        languages.resolve(name)
    for table in study.tables:
        check_metrics(metric_names(table))
    for figure in study.figures:
        registry.get("figure", figure.figure)
        for name in figure.sources:
            if not (base / name).exists():
                raise IsoglossError(
                    f"the figure '{figure.figure}' needs '{name}' beside the study file. Add it, or remove the figure."
                )
    if study.claims:
        read_claims(base / study.claims)


def _check_facts(study: StudyFile, columns: Set[str]) -> set[str]:
    """The names of all facts; one that is the name of a column is refused."""
    facts = {name for model in study.models for name in model.facts}
    facts |= {name for model in study.models for checkpoint in model.checkpoints.values() for name in checkpoint.facts}
    for name in sorted(facts & (TAKEN | columns)):
        of_data = "" if name in TAKEN else " of the data"
        raise IsoglossError(f"a fact may not be named '{name}', which is a column{of_data} already.")
    return facts


# ---- study files


def _named(model: ModelSettings, base: Path) -> ModelSettings:
    """The model with its label, and with the whole paths of checkpoints beside the study file."""
    whole = path_beside(base, model.checkpoint) if model.checkpoint else None
    tags = {
        languages.resolve(tag): checkpoint.model_copy(update={"checkpoint": path_beside(base, checkpoint.checkpoint)})
        for tag, checkpoint in model.checkpoints.items()
    }
    label = model.label or model.served_model or find_name(str(whole))
    return model.model_copy(update={"label": label, "checkpoint": whole, "checkpoints": tags})


def _read(data: Data, study: StudyFile, *, base: Path, read: Callable[..., Items]) -> LoadedData:
    """The data's items by language; a language that is wanted and not there is no mistake of the file."""
    source = path_beside(base, data.source)
    name = data.name or Path(data.source).name.split(".")[0]
    wanted = [languages.resolve(name) for name in data.languages or study.languages]
    if source.startswith(PREFIX):
        fetch_table(source)
    stated = {"reader": data.format or "", "encoding": data.encoding or "", **data.columns}
    items = read(source, tuple(wanted), stated=tuple(stated.items()), skip_bad=data.skip_bad)
    there = dict.fromkeys(item.language for item in items)
    lacking = {tag: f"'{name}' has no items in '{tag}'." for tag in wanted if tag not in there}
    chosen = replace(items, rows=tuple(item for item in items if not wanted or item.language in wanted))
    chosen = filter_items(chosen, data.where) if len(chosen) else chosen
    loaded = {}
    for tag in there:
        rows = tuple(item for item in chosen if item.language == tag)
        problems = tuple(problem for problem in chosen.problems if problem.language in (tag, None))
        if rows:
            loaded[tag] = add_columns(notice_languages(Items(rows, problems)), data.facts)
    return LoadedData(name, loaded, lacking)


def _read_items(source: str, wanted: Sequence[str], *, stated: Iterable[tuple[str, str]], skip_bad: bool) -> Items:
    columns = dict(stated)
    try:
        return sources.read(source, language=sources.offered(source, wanted), columns=columns, skip_bad=skip_bad)
    except (NoItems, UnknownName):  # some of the languages are not there: which are?
        return sources.read(source, columns=columns, skip_bad=skip_bad)


def _study_cells(
    study: StudyFile, models: Sequence[ModelSettings], *, readings: Sequence[LoadedData], only: Sequence[str]
) -> tuple[list[PlannedCell], list[Failure]]:
    """The cells whose name MODEL/DATA/LANGUAGE matches a pattern, and those whose language the data lacks."""
    labels = [str(model.label) for model in models]
    for label in labels:
        if labels.count(label) > 1:
            raise IsoglossError(f"Two models of the study are called '{label}'. Give each its own 'label'.")
    cells: list[PlannedCell] = []
    lacking: list[Failure] = []
    names: list[str] = []
    for model, (data, reading) in product(models, zip(study.data, readings, strict=True)):
        if data.models and model.label not in data.models:
            continue
        for tag in (*reading.items, *reading.lacking):
            cell = _study_cell(model, tag)
            if cell is None:
                continue
            names.append(f"{model.label}/{reading.name}/{tag}")
            for method in (data.methods or study.methods) if _fits(names[-1], only) else ():
                if tag in reading.items:
                    cells.append(replace(cell, items=reading.items[tag], method=method.name, options=method.options))
                else:
                    lacking.append(Failure(str(model.label), reading.name, tag, method.name, reading.lacking[tag]))
    for pattern in only:
        if not any(_fits(name, [pattern]) for name in names):
            listed = ", ".join(list(dict.fromkeys(names))[:12]) + (", ..." if len(set(names)) > 12 else "")
            raise IsoglossError(f"No cell of the study fits `only='{pattern}'`. It has {listed}.")
    return cells, lacking


def _study_cell(model: ModelSettings, language: str) -> PlannedCell | None:
    """A model's cell in a language, without its items and its method; none when the model is not for this language."""
    language_checkpoint = model.checkpoints.get(language)
    checkpoint = language_checkpoint.checkpoint if language_checkpoint else model.checkpoint
    if not checkpoint or (model.languages and language not in map(languages.resolve, model.languages)):
        return None
    served = {name: getattr(model, name) for name in SERVED}
    labels = {"model": str(model.label), "checkpoint": model.served_model or find_name(checkpoint)}
    labels |= {**model.facts, **(language_checkpoint.facts if language_checkpoint else {})}
    return PlannedCell(checkpoint, Items(()), labels=labels, loading=Loading(**served))


def _loading_of(cell: PlannedCell, loading: Loading) -> Loading:
    """How a cell's model is opened: as the study says, and at a server as the model says."""
    return replace(loading, **{name: getattr(cell.loading, name) for name in SERVED})


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}/*") for pattern in patterns)
