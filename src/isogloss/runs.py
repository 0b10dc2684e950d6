"""Runs on disk: one folder per model, data, language and method; parts are written once, in one step, with a checksum."""

import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from . import languages, registry
from .atomic_files import lock_folder, move_file, read_table, write_file, write_table
from .errors import BadData, IsoglossError, NoSuchRun
from .items import ANNOTATORS
from .run_names import fingerprint, plain_slug, slug, wrong_fact
from .run_plans import find_missing, plan_order
from .scores import (
    ITEM_SCHEMA,
    KEY,
    QUESTION_SCHEMA,
    ROW_SCHEMA,
    SCORES,
    TEXTS,
    Scored,
    add_statements,
    find_builds,
    join_scored,
    make_scored,
    notes_of,
    same_candidates,
)
from .storage import RemotePath, StoragePath, as_path

SCHEMA = 3
# in version 1 a table did not say which run it belongs to; before 3, parts followed the file's order
SCHEMAS = (1, 2, 3)
FINGERPRINT = 2  # the version of what a fingerprint holds; another number makes every run a new one
DELETE = "Delete the run's folder and run again."


@dataclass(frozen=True, slots=True)
class Run:
    """A run's folder and what its `run.json` says."""

    folder: StoragePath
    info: dict[str, Any]

    @property
    def parts(self) -> int:
        return int(self.info["parts"])

    @property
    def stopped(self) -> str | None:
        """Why the run was stopped on purpose, if it was."""
        return self.info.get("why_stopped") if self.info.get("status") == "stopped" else None

    @property
    def method(self) -> str:
        """The name of the method, without its options; runs of answers did not state it before schema 3."""
        return str(self.info["fingerprint"].get("method", "ask"))

    @property
    def holds_scores(self) -> bool:
        """Whether the parts hold scores, and not what a model said."""
        return str(self.info.get("holds", SCORES.name)) == SCORES.name


def open_run(root: StoragePath, *, info: dict[str, Any], items: pl.DataFrame) -> Run:
    """The run with this fingerprint, made when it is not there yet; the scores that it holds are kept.

    What the caller states about the data and the model now replaces what was stated before.
    """
    run = find_run(root, info)
    if run:
        stated: dict[str, Any] = {name: info[name] for name in ("skipped", "notes", "labels") if name in info}
        if not stated.get("labels"):  # those that a study gave stay
            stated.pop("labels", None)
        if any(run.info.get(name) != value for name, value in stated.items()):
            run = replace(run, info={**run.info, **stated})
            write_info(run)
        if any(name.startswith(ANNOTATORS) for name in items.columns) and not read_items(run).equals(items):
            write_table(run.folder / "items.parquet", items, owner=_owners(run)[0])  # what annotators say now
        return run
    folder = _run_folder(root, info)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IsoglossError(
            f"Cannot make the folder {folder} ({error.strerror}). Choose another with `out`."
        ) from error
    run = Run(folder, {"schema": SCHEMA, **info, "status": "started"})
    write_table(folder / "items.parquet", items, owner=_owners(run)[0])
    write_info(run)
    return run


def find_run(root: StoragePath, info: dict[str, Any]) -> Run | None:
    """The run with this fingerprint, if it is there, also where 0.1.0 put it; other facts in its file are refused."""
    for namer in (slug, plain_slug):
        folder = _run_folder(root, info, namer=namer)
        if not (folder / "run.json").exists():
            continue
        run = read_run(folder)
        if run.info["model"] != info["model"]:
            if namer is slug:
                raise IsoglossError(f"{folder} holds a run of '{run.info['model']}'. Move it away and run again.")
            continue
        if run.info["fingerprint"] != info["fingerprint"]:
            raise IsoglossError(f"{folder} holds a run with another fingerprint. Move it away and run again.")
        if run.parts != info["parts"]:
            problem = (
                f"'parts' is {run.parts}, but these items make {info['parts']} parts. Put the right file back, or "
            )
            raise BadData(str(folder / "run.json"), None, f"{problem}{DELETE[0].lower()}{DELETE[1:]}")
        return run
    return None


def _run_folder(root: StoragePath, info: dict[str, Any], *, namer: Callable[[str], str] = slug) -> StoragePath:
    mark = fingerprint(info["fingerprint"])[:8]
    name = "-".join(namer(str(info[key])) for key in ("dataset", "language", "method"))
    return as_path(root) / namer(info["model"]) / f"{name}-{mark}"


def _owners(run: Run, part: int | None = None) -> tuple[str, ...]:
    """What a table of the run says about where it belongs; one of the first schema need not say it."""
    what = "items" if part is None else f"part {part} of {run.parts}"
    owner = f"run {fingerprint(run.info['fingerprint'])} {what}"
    return (owner, "") if run.info["schema"] == 1 else (owner,)


def write_info(run: Run) -> None:
    """Write the run's `run.json`, in one step."""
    text = json.dumps(run.info, indent=1, ensure_ascii=False, sort_keys=True)
    write_file(run.folder / "run.json", text.encode())


def finish_run(run: Run, **facts: Any) -> Run:
    """The run, marked as finished, with further facts in its `run.json`."""
    done = replace(run, info={**run.info, "status": "finished", **facts})
    write_info(done)
    return done


def stop_run(run: Run, why: str, **facts: Any) -> Run:
    """The run, marked as stopped on purpose, with further facts; the same command with another goal continues it."""
    return finish_run(run, status="stopped", why_stopped=why, **facts)


@contextmanager
def locked(run: Run, *, shared: bool = False) -> Iterator[None]:
    """While this is open no other process works on the run, unless all are `shared`; a process that died keeps no lock.

    Behind an address nothing is locked: two writers of a part put the same bytes there, each in one step.
    """
    finished = run.info.get("status") == "finished"
    readable = finished and not shared
    file = None if isinstance(run.folder, RemotePath) else lock_folder(run.folder, readable=readable, shared=shared)
    with file or nullcontext():
        yield


def part_path(run: Run, number: int) -> StoragePath:
    """Where a part is kept."""
    return run.folder / f"part-{number:05d}.parquet"


def write_part(run: Run, number: int, *, rows: pl.DataFrame) -> None:
    """Write a part, in one step, with the checksum of its content."""
    write_table(part_path(run, number), rows, owner=_owners(run, number)[0])


def stage_part(run: Run, number: int, *, rows: pl.DataFrame) -> None:
    """Write a part beside its place; `commit_part` puts it there when all parts of one work are written."""
    write_table(_staged_path(run, number), rows, owner=_owners(run, number)[0])


def commit_part(run: Run, number: int) -> None:
    """Put a part that is ready in its place, in one step."""
    move_file(_staged_path(run, number), part_path(run, number))


def is_staged(run: Run, number: int) -> bool:
    """Whether a part lies whole beside its place."""
    path = _staged_path(run, number)
    try:
        return path.exists() and bool(read_part(run, number, path=path).width)
    except BadData:
        return False


def _staged_path(run: Run, number: int) -> StoragePath:
    path = part_path(run, number)
    return path.with_name(path.name + ".ready")


def read_part(run: Run, number: int, *, path: StoragePath | None = None) -> pl.DataFrame:
    """A part's rows, in its place or at another path; a truncated or altered part, or another run's, raises BadData."""
    advice, path = "Delete it and run the same command again.", path or part_path(run, number)
    table = read_table(path, "the part", owners=_owners(run, number), advice=advice)
    schema = ROW_SCHEMA if run.holds_scores else registry.get("method", run.method).holds.schema
    wrong = [name for name, kind in schema.items() if table.schema.get(name) != kind]
    if wrong:
        raise BadData(str(path), None, f"the column '{wrong[0]}' is missing or of another type. {advice}")
    return table.select(list(schema))


def missing_parts(run: Run) -> list[int]:
    """The numbers of the parts that are not there yet; a broken part is set aside and counts as missing."""
    there = set(written_parts(run))
    missing = []
    for number in range(run.parts):
        if number in there:
            try:
                read_part(run, number)
                continue
            except BadData as error:
                path = part_path(run, number)
                warnings.warn(f"{error} It was set aside as {path.name}.broken and is scored again.", stacklevel=2)
                move_file(path, path.with_name(path.name + ".broken"))
        missing.append(number)
    return missing


def written_parts(run: Run) -> list[int]:
    """The numbers of the parts that are there, found in one look at the folder."""
    try:
        names = {path.name for path in run.folder.iterdir()}
    except FileNotFoundError:
        return []
    return [number for number in range(run.parts) if part_path(run, number).name in names]


def read_run(folder: StoragePath) -> Run:
    """The run in a folder; a run of another schema version is refused."""
    folder = as_path(folder)
    path = folder / "run.json"
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise IsoglossError(f"{folder} is not a run: it has no run.json.") from error
    except (ValueError, RecursionError, OSError) as error:
        raise BadData(str(path), None, f"the file is broken. {DELETE}") from error
    if not isinstance(info, dict) or info.get("schema") not in SCHEMAS:
        seen = info.get("schema") if isinstance(info, dict) else None
        listed = ", ".join(map(str, SCHEMAS))
        raise BadData(str(path), None, f"schema version {seen}; this Isogloss reads versions {listed}.")
    if wrong := wrong_fact(info):
        raise BadData(str(path), None, f"'{wrong}' is missing or wrong. {DELETE}")
    mark = re.search(r"-([0-9a-f]{8})$", folder.name)
    digest = fingerprint(info["fingerprint"])[:8]
    if mark and mark[1] != digest:
        raise BadData(
            str(path), None, f"it describes another run ({digest}) than the folder's name. Put the right file back."
        )
    return Run(folder, info)


def find_runs(*paths: StoragePath | str) -> list[Run]:
    """All runs in folders and below them, each once; a folder without any is an error."""
    below: dict[StoragePath, list[Run]] = {}
    for path in map(as_path, paths):
        if not path.exists():
            raise NoSuchRun(path)
        below[path] = [read_run(folder) for folder in run_folders(path)]
        if not below[path]:
            raise IsoglossError(f"No runs in {path}. Make one with: isogloss eval MODEL --data demo")
    return note_missing(below)


def note_missing(below: Mapping[StoragePath, Sequence[Run]]) -> list[Run]:
    """The runs of folders, each once and in the order of the plan, with notes on what was planned and is missing, for every number."""
    ordered = [run for path, some in below.items() for run in sorted(some, key=plan_order(path))]
    runs = list({run.folder.resolve(): run for run in ordered}.values())
    notes = [note for path, some in below.items() for note in find_missing(path, [run.info for run in some])]
    empty = [run.folder.name for run in runs if not written_parts(run)]
    if empty and len(empty) < len(runs):
        where = ", ".join(map(str, below))
        notes.append(f"{len(empty)} of {len(runs)} runs in {where} have no finished part yet: {', '.join(empty[:3])}")
    return [replace(run, info={**run.info, "notes": [*run.info.get("notes", []), *notes]}) for run in runs]


def run_folders(path: StoragePath) -> list[StoragePath]:
    """The folders below a place that hold a run; what was deleted on the local page is left out."""
    above = len(str(path))
    files: list[StoragePath] = [file for file in path.rglob("run.json") if "/.trash/" not in str(file)[above:]]
    return [file.parent for file in sorted(files, key=str)]


def in_languages(runs: Sequence[Run], wanted: Sequence[str]) -> list[Run]:
    """The runs in these languages, by tag or name; all when none is named, and none of them is an error."""
    tags = [languages.resolve(name) for name in wanted]
    chosen = [run for run in runs if not tags or run.info["language"] in tags]
    if not chosen:
        languages_there = ", ".join(sorted({run.info["language"] for run in runs}))
        raise IsoglossError(f"None of the runs is in {', '.join(tags)}; they are in {languages_there}.")
    return chosen


def read_items(run: Run, *, texts: bool = True) -> pl.DataFrame:
    """The items of a run: one row per item and candidate, with tags and, if asked for, `texts`."""
    path, left_out = run.folder / "items.parquet", () if texts else TEXTS
    table = read_table(path, "the table of items", owners=_owners(run), advice=DELETE, left_out=left_out)
    wrong = [name for name, kind in ITEM_SCHEMA.items() if table.schema.get(name) != kind and name not in left_out]
    asked = {name for name, kind in QUESTION_SCHEMA.items() if table.schema.get(name) == kind}
    tags = {name: kind for name, kind in table.schema.items() if name not in ITEM_SCHEMA and name not in asked}
    taken = {*ROW_SCHEMA, "model", "method"}
    wrong += [name for name, kind in tags.items() if name in taken or kind not in (pl.String, pl.List(pl.String))]
    wrong += [name for name in (*KEY, "candidate", "role") if name not in wrong and table[name].null_count()]
    if wrong:
        raise BadData(str(path), None, f"the column '{wrong[0]}' is missing, or holds what it may not. {DELETE}")
    return table


def read_scored(runs: list[Run]) -> Scored:
    """What all these runs scored, as one table; an unfinished run is named in the notes, a run given twice is read once."""
    tables = [scored for _, scored, _ in each_scored(list({run.folder.resolve(): run for run in runs}.values()))]
    if not tables:
        raise IsoglossError("None of the runs has a finished part. Run the same command again to resume.")
    return join_scored(tables)


@contextmanager
def collecting(problems: list[str] | None) -> Iterator[None]:
    """Add an error to the problems, where there is a list of them, instead of raising it."""
    try:
        yield
    except IsoglossError as error:
        if problems is None:
            raise
        problems.append(str(error))


def each_scored(
    runs: list[Run], problems: list[str] | None = None, *, texts: bool = False
) -> Iterator[tuple[Run, Scored, pl.DataFrame]]:
    """Each run with its scores and items, which have their `texts` if asked for; a missing part is noted.

    What is broken is an error; with a list of `problems`, it is added to them and does not hide the rest.
    """
    for run in runs:
        with collecting(problems):
            written, items = written_parts(run), None
            left = f"{run.parts - len(written)} of {run.parts} parts are missing"
            why = (
                f"stopped on purpose after {len(written)} of {run.parts} parts: {run.stopped}" if run.stopped else left
            )
            notes = (f"{run.folder.name}: {why}",) if len(written) < run.parts else ()
            if written:
                with collecting(problems):
                    items = read_items(
                        run, texts=texts or not run.holds_scores
                    )  # answers are read with their statements
            parts: list[pl.DataFrame] = []
            for number in written:
                with collecting(problems):
                    parts.append(read_part(run, number))
            if parts and items is not None:
                scored = scored_run(run, items, rows=pl.concat(parts), whole=len(parts) == run.parts)
                yield run, replace(scored, notes=(*scored.notes, *notes)), items


def _in_order(rows: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """The rows of parts in the order of their items."""
    places = items.select(KEY).unique(maintain_order=True).with_row_index("place")
    placed = rows.join(places, on=KEY, how="left", maintain_order="left")
    return placed.sort("place", maintain_order=True, nulls_last=True).drop("place")


def scored_run(run: Run, items: pl.DataFrame, *, rows: pl.DataFrame, whole: bool) -> Scored:
    """A run's rows with its items' columns; rows and items that do not belong together are refused.

    `whole` says that the rows are those of all parts: then, and only then, every item has some.
    """
    same = same_candidates(rows, items)
    if not same:  # clusters are scored in a random order, and shown in the data's
        rows = _in_order(rows, items)
        same = same_candidates(rows, items)
    stray = rows.clear() if same else rows.join(items, on=[*KEY, "candidate"], how="anti")
    if stray.height:
        problem = f"{stray.height} rows of the parts belong to no item of items.parquet, such as '{stray['id'][0]}'."
        raise BadData(str(run.folder), None, f"{problem} {DELETE}")
    bare = items.clear() if same else items.unique(KEY, maintain_order=True).join(rows, on=KEY, how="anti")
    if bare.height and whole:
        n_items = items.select(KEY).n_unique()
        problem = f"the parts have no scores for {bare.height} of the {n_items} items, such as '{bare['id'][0]}'."
        raise BadData(str(run.folder), None, f"{problem} {DELETE}")
    if not bare.height and not whole:
        problem = f"'parts' is {run.parts}, but fewer parts hold scores for all items. Put the right file back."
        raise BadData(str(run.folder / "run.json"), None, problem)
    if not run.holds_scores:
        rows = registry.get("method", run.method).read(add_statements(rows, items), run.info)
    labels: dict[str, str] = {"model": run.info["model"], "method": run.info["method"]}
    if family := run.info.get("facts", {}).get("family"):
        labels["family"] = family
    scored = make_scored(items, rows, labels=labels | run.info.get("labels", {}))
    builds = find_builds(run.info, where=f"{run.folder} " if run.folder.name else "")  # scores in memory have no folder
    return replace(scored, skipped=run.info.get("skipped", {}), notes=notes_of(run.info), builds=builds)
