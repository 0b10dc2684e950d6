"""Planning a study: a study file becomes jobs, one for each checkpoint, checked as far as one can without a weight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

from .. import languages, registry
from ..analysis.groups import check_by
from ..analysis.measures import check_metrics
from ..errors import BadData, IsoglossError
from ..files import sources
from ..files.filters import filter_items
from ..files.hub import PREFIX, fetch_table, offline_mode
from ..items import Item, Items
from ..scores import ITEM_SCHEMA, ROW_SCHEMA, item_table
from .file import Data, MethodSettings, ModelSettings, StudyFile, read_study
from .jobs import Failure, Loading, ModelJob, Sample, ScoringRequest, choose_method, fitting_items, take_sample

TAKEN = {*ITEM_SCHEMA, *ROW_SCHEMA, "model", "method", "family", "checkpoint"}


@dataclass(frozen=True, slots=True)
class Subset:
    """What of a study is run: the cells that match a pattern MODEL/DATA/LANGUAGE; a sample and a device of its own."""

    only: tuple[str, ...] = ()
    limit: int | None = None
    seed: int | None = None
    device: str | None = None


EVERYTHING = Subset()


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """A study that is ready to run: a job for each checkpoint, and what is known to fail before a weight is loaded.

    `partial` when only some of its cells were chosen.
    """

    study: StudyFile
    path: Path
    jobs: tuple[ModelJob, ...]
    failures: tuple[Failure, ...] = ()
    partial: bool = False


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """One cell before it is planned: a model's checkpoint, the items of some data in one language, and a method."""

    label: str
    checkpoint: str
    facts: Mapping[str, str]
    items: Items
    method: MethodSettings

    def failure(self, why: str) -> Failure:
        """This cell, failed."""
        first = self.items[0]
        return Failure(self.label, first.dataset, first.language, self.method.name, why)


@dataclass(frozen=True, slots=True)
class LoadedData:
    """The items of an entry of the data by language, and the wanted languages that it lacks, each with a sentence."""

    name: str
    items: Mapping[str, Items]
    lacking: Mapping[str, str] = field(default_factory=dict)


# ---- planning


def plan_study(path: str | Path, *, subset: Subset = EVERYTHING) -> StudyPlan:
    """The study in a file as jobs, everything checked that can be without a weight; a mistake in the file is an error."""
    path = Path(path)
    study = read_study(path)
    try:
        _check_names(study)
        models = [_named(model, path.parent) for model in study.models]
        with offline_mode(study.loading.offline):
            readings = [_read(data, study, base=path.parent) for data in study.data]
        _check_columns(study, readings)
    except BadData:
        raise
    except IsoglossError as error:
        raise IsoglossError(f"{path}: {error}") from error
    sample = Sample(subset.limit or study.sample.limit, study.sample.seed if subset.seed is None else subset.seed)
    loading = Loading(**study.loading.model_dump())
    loading = replace(loading, device=subset.device) if subset.device else loading
    every = list(_all_slots(study, models, readings=readings))
    slots, lacking = _chosen(every, only=subset.only)
    if not slots and not lacking:
        raise IsoglossError(f"{path}: no model has a checkpoint for a language of the data, so there is nothing to do.")
    slots = [replace(slot, items=take_sample(slot.items, sample)) for slot in slots]
    good, failures = _check_slots(slots, offline=loading.offline)
    return StudyPlan(study, path, tuple(_jobs(good, loading)), (*lacking, *failures), partial=bool(subset.only))


def _check_names(study: StudyFile) -> None:
    """Refuse methods, options, metrics and languages that do not exist, and facts that are columns already."""
    from ..methods import fill_options

    for method in (*study.methods, *(one for data in study.data for one in data.methods)):
        if method.name != "auto":
            fill_options(method.name, registry.get("method", method.name), given=method.options)
    check_metrics(study.measures.metrics)
    entries = [study.languages, *(one.languages for one in study.models), *(one.languages for one in study.data)]
    for name in (name for names in entries for name in names):
        languages.resolve(name)
    for model in study.models:
        for facts in (model.facts, *(one.facts for one in model.checkpoints.values())):
            for name in facts:
                if name in TAKEN:
                    raise IsoglossError(f"a fact may not be named '{name}', which is a column already.")


def _check_columns(study: StudyFile, readings: Sequence[LoadedData]) -> None:
    """Refuse facts that hide a column of the data, and groups that no table will have."""
    columns = {name for reading in readings for items in reading.items.values() for name in item_table(items).columns}
    facts = {name for model in study.models for name in model.facts}
    facts |= {name for model in study.models for one in model.checkpoints.values() for name in one.facts}
    for name in sorted(facts & columns):
        raise IsoglossError(f"a fact may not be named '{name}', which is a column of the data already.")
    check_by(study.measures.by, [*columns, *facts, "model", "method", "family", "checkpoint"])


def _named(model: ModelSettings, base: Path) -> ModelSettings:
    """The model with its label, and with the whole paths of checkpoints that lie beside the study file."""
    from ..models.load import find_source

    def beside(name: str) -> str:
        return str(base / name) if (base / name).exists() else name

    label = model.label
    if label is None:
        try:
            label = find_source(beside(str(model.checkpoint))).name
        except IsoglossError:
            label = str(model.checkpoint)
    tags = {
        languages.resolve(tag): one.model_copy(update={"checkpoint": beside(one.checkpoint)})
        for tag, one in model.checkpoints.items()
    }
    whole = beside(model.checkpoint) if model.checkpoint else None
    return model.model_copy(update={"label": label, "checkpoint": whole, "checkpoints": tags})


def _read(data: Data, study: StudyFile, *, base: Path) -> LoadedData:
    """The data's items by language; a language that is wanted and not there is no mistake of the file."""
    source = str(base / data.source) if (base / data.source).exists() else data.source
    name = data.name or Path(data.source).name.split(".")[0]
    wanted = [languages.resolve(one) for one in data.languages or study.languages]
    if source.startswith(PREFIX):
        fetch_table(source)
    try:
        items = sources.read(source, language=wanted, format=data.format, skip_bad=data.skip_bad)
    except BadData:
        raise
    except IsoglossError:
        if not wanted:
            raise
        items = sources.read(source, format=data.format, skip_bad=data.skip_bad)
    there = list(dict.fromkeys(item.language for item in items))
    lacking = {tag: f"'{name}' has no items in '{tag}'." for tag in wanted if tag not in there}
    chosen = {tag: _in_language(items, tag) for tag in there if not wanted or tag in wanted}
    if chosen:
        rows = tuple(item for part in chosen.values() for item in part)
        left = filter_items(Items(rows, items.problems), data.where)
        chosen = {tag: _in_language(left, tag) for tag in chosen}
    return LoadedData(name, {tag: rows for tag, rows in chosen.items() if len(rows)}, lacking)


def _in_language(items: Items, language: str) -> Items:
    """The items in a language, with their problems and those of no language."""
    rows = tuple(item for item in items if item.language == language)
    return Items(rows, tuple(one for one in items.problems if one.language in (language, None)))


def _all_slots(
    study: StudyFile, models: Sequence[ModelSettings], *, readings: Sequence[LoadedData]
) -> Iterator[tuple[str, PlannedCell | Failure]]:
    """Every cell of the study with its name MODEL/DATA/LANGUAGE; one whose language the data lacks is a failure."""
    labels = [str(model.label) for model in models]
    for label in labels:
        if labels.count(label) > 1:
            raise IsoglossError(f"Two models of the study are called '{label}'. Give each a 'label' of its own.")
    for model, (data, reading) in product(models, zip(study.data, readings, strict=True)):
        if data.models and model.label not in data.models:
            continue
        for tag, method in product((*reading.items, *reading.lacking), data.methods or study.methods):
            found = _checkpoint(model, tag)
            if found is None:
                continue
            label = str(model.label)
            cell: PlannedCell | Failure
            if tag in reading.items:
                cell = PlannedCell(label, *found, reading.items[tag], method)
            else:
                cell = Failure(label, reading.name, tag, method.name, reading.lacking[tag])
            yield f"{label}/{reading.name}/{tag}", cell


def _checkpoint(model: ModelSettings, language: str) -> tuple[str, Mapping[str, str]] | None:
    """The model's checkpoint for a language with its facts; none when the model is not for this language."""
    if model.languages and language not in [languages.resolve(name) for name in model.languages]:
        return None
    if model.checkpoint:
        return model.checkpoint, model.facts
    one = model.checkpoints.get(language)
    return (one.checkpoint, {**model.facts, **one.facts}) if one else None


def _chosen(
    cells: Sequence[tuple[str, PlannedCell | Failure]], *, only: Sequence[str]
) -> tuple[list[PlannedCell], list[Failure]]:
    """The cells whose name fits one of the patterns; a pattern that fits none is an error."""
    names = list(dict.fromkeys(name for name, _ in cells))
    for pattern in only:
        if not any(_fits(name, [pattern]) for name in names):
            shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise IsoglossError(f"No cell of the study fits --only '{pattern}'. It has {shown}.")
    kept = [cell for name, cell in cells if _fits(name, only)]
    return [one for one in kept if isinstance(one, PlannedCell)], [one for one in kept if isinstance(one, Failure)]


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}/*") for pattern in patterns)


def _check_slots(slots: Sequence[PlannedCell], *, offline: bool) -> tuple[list[PlannedCell], list[Failure]]:
    """The cells that can be scored as far as one can know without a weight, and those that cannot."""
    families = {checkpoint: _family(checkpoint, offline=offline) for checkpoint in {one.checkpoint for one in slots}}
    good, failures = [], []
    for slot in slots:
        family = families[slot.checkpoint]
        try:
            if isinstance(family, IsoglossError):
                raise family
            _check_slot(slot, family)
            good.append(slot)
        except IsoglossError as error:
            failures.append(slot.failure(str(error)))
    return good, failures


def _family(checkpoint: str, *, offline: bool) -> str | IsoglossError:
    """The checkpoint's family, or why it cannot be known."""
    from ..models.load import find_family

    try:
        return find_family(checkpoint, offline=offline)
    except IsoglossError as error:
        return error


def _check_slot(cell: PlannedCell, family: str) -> None:
    """Refuse a method that does not fit the family or the items."""
    from ..methods import check_family

    name = cell.method.name
    if name == "auto":
        tasks = list({item.tags.get("task"): item for item in cell.items}.values())
        if not any(_has_method(item, family) for item in tasks):
            choose_method(tasks[0], family)
        return
    method = registry.get("method", name)
    check_family(name, method, model=cell.label, family=family)
    fitting_items(name, method, rows=cell.items.rows)


def _has_method(item: Item, family: str) -> bool:
    try:
        return bool(choose_method(item, family))
    except IsoglossError:
        return False


def _jobs(slots: Sequence[PlannedCell], loading: Loading) -> Iterator[ModelJob]:
    """One job for each checkpoint, in the order of the file."""
    from ..models.load import find_source

    by_checkpoint: dict[str, list[PlannedCell]] = {}
    for slot in slots:
        by_checkpoint.setdefault(slot.checkpoint, []).append(slot)
    for checkpoint, group in by_checkpoint.items():
        name = find_source(checkpoint).name
        requests = [
            ScoringRequest(
                slot.items,
                slot.method.name,
                slot.method.options,
                {"model": slot.label, "checkpoint": name, **slot.facts},
            )
            for slot in group
        ]
        yield ModelJob(checkpoint, tuple(requests), loading)
