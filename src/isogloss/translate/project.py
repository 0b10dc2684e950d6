"""A translation on disk: the data files of the new language, and beside them a folder `work` with how they came about."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import languages, registry
from ..annotation.item_changes import Change, undo
from ..checks import Check
from ..errors import BadData, IsoglossError
from ..files.layout import row_of, write_atomically, write_items, write_json_lines
from ..files.rows import read_json, read_rows
from ..files.sources import read
from ..items import Item, Items
from ..progress import Progress, silent
from .repairs import find_repairs, repair
from .steps import RepairStep, steps_as_rows, take_step, untranslated, untranslated_words
from .texts import Dropped, TranslationSession, refuse_unpaid, texts_of, translate_items
from .translators import LanguagePair, check_options

WORK = "work"
TRANSLATED = "translated"
REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Project:
    """Items in a new language with their sources, everything that was changed or dropped, and who reviewed what."""

    folder: Path
    items: tuple[Item, ...]
    sources: Mapping[str, Item] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    steps: tuple[RepairStep, ...] = ()
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TranslationRequest:
    """What is to be translated how: the translator with its options, and whether paid calls may be made."""

    translator: str
    to: str
    options: Mapping[str, str] = field(default_factory=dict)
    paid: bool = False


def translate(items: Items, request: TranslationRequest, *, folder: Path, progress: Progress = silent) -> Project:
    """The items in another language, as a new project on disk; what was translated before is not asked for again."""
    tags = {item.language for item in items}
    if len(tags) != 1:
        raise IsoglossError(f"One language can be translated at a time; the data has {', '.join(sorted(tags))}.")
    pair = LanguagePair(tags.pop(), languages.resolve(request.to))
    if pair.source == pair.target:
        raise IsoglossError(f"The data is in '{pair.source}' already. Use `to` with another language.")
    _refuse_used(folder, pair)
    translator = registry.get("translator", request.translator)
    check_options(translator, request.options)
    for item in items:
        row_of(item)
    state = TranslationSession(translator.open(pair, request.options), pair, folder / WORK / "cache.jsonl", progress)
    if not request.paid:
        refuse_unpaid(texts_of(items), state)
    rows, dropped = translate_items(items.rows, state)
    sources = {item.id: item for item in items}
    info = {
        "from": pair.source,
        "to": pair.target,
        "translator": state.opened.name,
        "dataset": items[0].dataset,
        "sent_items": len(items),
        "reviews": {},
        "agreement": [],
    }
    first = take_step(TRANSLATED, rows, sources=sources)
    return save_project(Project(folder, rows, sources, (), dropped, (first,), info))


def repair_project(project: Project, names: Sequence[str] | None = None) -> Project:
    """The project after these repairs, or all of them, with the state after each, saved."""
    for step in find_repairs(names):
        items, changes = repair(project.items, step, sources=project.sources)
        every = project.changes + changes
        state = take_step(step.name, items, sources=project.sources, changes=changes, history=len(every))
        project = replace(project, items=items, changes=every, steps=(*project.steps, state))
    return save_project(project)


def undo_step(project: Project, name: str) -> Project:
    """The project as it was before the last time this step was taken; the steps after it are undone too."""
    indices = [index for index, step in enumerate(project.steps) if step.name == name.replace("-", "_") and index]
    if not indices:
        taken = ", ".join(step.name for step in project.steps[1:]) or "none"
        raise IsoglossError(f"The step '{name}' was not taken, so it cannot be undone. Taken: {taken}.")
    index = indices[-1]
    if any(step.name == REVIEW for step in project.steps[index:]):
        raise IsoglossError(f"The step '{name}' cannot be undone: reviewers have looked at what came of it.")
    kept = project.steps[index - 1].history
    items = undo(project.items, project.changes[kept:])
    return save_project(replace(project, items=items, changes=project.changes[:kept], steps=project.steps[:index]))


def begin_project(items: Items, folder: Path) -> Project:
    """A project for data that was not translated here, so that it can be repaired and reviewed."""
    _refuse_used(folder, None)
    tags = sorted({item.language for item in items})
    if len(tags) != 1:
        raise IsoglossError(f"A project has one language; the data has {', '.join(tags)}. Use `language`.")
    info = {"from": None, "to": tags[0], "translator": None, "dataset": items[0].dataset, "sent_items": len(items)}
    first = take_step("given", items.rows, sources={})
    return save_project(Project(folder, tuple(items), steps=(first,), info=info | {"reviews": {}, "agreement": []}))


def is_project(path: Path) -> bool:
    """Whether the folder is one of these."""
    return (path / WORK / "project.json").is_file()


def checks_of_project(path: Path) -> tuple[Check, ...]:
    """The checks that compare a translation in a folder with its source; none for other data."""
    sources = open_project(path).sources if is_project(path) else None
    return (untranslated(sources), untranslated_words(sources)) if sources else ()


def open_project(folder: Path) -> Project:
    """The project in a folder."""
    if not is_project(folder):
        raise IsoglossError(f"{folder} is not a translation. Make one with: isogloss data translate … --out {folder}")
    work = folder / WORK
    record = read_json(work / "project.json")
    try:
        info, steps = record["info"], tuple(RepairStep(**row) for row in record["steps"])
        changes = tuple(Change(**row) for _, row in read_rows(work / "changes.jsonl"))
        dropped = tuple(Dropped(**row) for _, row in read_rows(work / "dropped.jsonl"))
        items = tuple(read(folder, language=info["to"]))
        source = work / "source.jsonl"
        rows = read(source, language=info["from"]).rows if source.exists() else ()
    except (KeyError, TypeError) as error:
        problem = "not a project that this version can read. Translate again; the cache is kept."
        raise BadData(work, None, problem) from error
    return Project(folder, items, {item.id: item for item in rows}, changes, dropped, steps, info)


def save_project(project: Project) -> Project:
    """The project, with every item saying where it comes from, written to its folder."""
    project = replace(project, items=tuple(_with_origin(project)))
    work = project.folder / WORK
    for old in project.folder.glob("*.jsonl"):
        if not any(old.name.startswith(f"{item.tags.get('task')}_") for item in project.items):
            old.unlink()
    write_items(project.folder, project.items)
    if project.sources:
        write_json_lines(work / "source.jsonl", [row_of(item) for item in project.sources.values()])
    write_json_lines(work / "changes.jsonl", map(asdict, project.changes))
    write_json_lines(work / "dropped.jsonl", map(asdict, project.dropped))
    record = {"info": project.info, "steps": steps_as_rows(project.steps)}
    write_atomically(work / "project.json", json.dumps(record, ensure_ascii=False, indent=1))
    return project


def _with_origin(project: Project) -> Iterator[Item]:
    changed = {change.item for change in project.changes}
    reviews: Mapping[str, Sequence[str]] = project.info.get("reviews", {})
    plain = "machine" if project.info.get("translator") else "original"
    for item in project.items:
        count = len(reviews.get(item.id, ()))
        origin = "reviewed" if count else "repaired" if item.id in changed else plain
        yield replace(item, tags={**item.tags, "provenance": origin, "reviewers": str(count)})


def _refuse_used(folder: Path, pair: LanguagePair | None) -> None:
    """A folder may hold nothing, or the same translation without a change, which is then made again."""
    if is_project(folder):
        old = open_project(folder)
        if old.changes or old.info["reviews"]:
            raise IsoglossError(f"{folder} has been worked on. Choose another folder with `out`.")
        if pair is None or (old.info["from"], old.info["to"]) != (pair.source, pair.target):
            raise IsoglossError(f"{folder} holds another translation. Choose another folder with `out`.")
    elif any(folder.glob("*.jsonl")):
        raise IsoglossError(f"{folder} has data in it already. Choose another folder with `out`.")
