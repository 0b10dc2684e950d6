"""Runs on disk: one folder per model, data, language and method; parts are written once, in one step, with a checksum."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import re
import secrets
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import polars as pl

from . import languages
from .answers.opinions import opinion_rows
from .answers.records import ANSWERS
from .errors import BadData, CannotWrite, IsoglossError
from .places import Place, Remote, names_in, place_of
from .scores import Scored, join_scored, make_scored

SCHEMA = 1
SEAL = "isogloss:sha256:"
BLANK_HASH = "0" * 64
FACTS = {"model": str, "dataset": str, "language": str, "method": str, "parts": int, "fingerprint": dict}
MOST_PARTS = 100_000


@dataclass(frozen=True, slots=True)
class Run:
    """A run's folder and what its `run.json` says."""

    folder: Place
    info: dict[str, Any]

    @property
    def parts(self) -> int:
        return int(self.info["parts"])


def fingerprint(facts: dict[str, Any]) -> str:
    """The SHA-256 of everything that a score depends on."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def slug(name: str) -> str:
    """A name as a folder's name: letters, digits, dot, hyphen and underscore only."""
    return re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._") or "model"


def open_run(root: Place, *, info: dict[str, Any], items: pl.DataFrame) -> Run:
    """The run with this fingerprint, made when it is not there yet; what it holds already is kept."""
    run = find_run(root, info)
    if run:
        return run
    folder = _run_folder(root, info)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IsoglossError(
            f"Cannot make the folder {folder} ({error.strerror}). Choose another with --out."
        ) from error
    _write_table(folder / "items.parquet", items)
    run = Run(folder, {"schema": SCHEMA, **info, "status": "started"})
    write_info(run)
    return run


def find_run(root: Place, info: dict[str, Any]) -> Run | None:
    """The run with this fingerprint, if it is there."""
    folder = _run_folder(root, info)
    if not (folder / "run.json").exists():
        return None
    run = read_run(folder)
    if run.info["fingerprint"] != info["fingerprint"]:
        raise IsoglossError(f"{folder} holds a run with another fingerprint. Move it away and run again.")
    return run


def _run_folder(root: Place, info: dict[str, Any]) -> Place:
    mark = fingerprint(info["fingerprint"])[:8]
    name = "-".join(slug(str(info[key])) for key in ("dataset", "language", "method"))
    return place_of(root) / slug(info["model"]) / f"{name}-{mark}"


def write_info(run: Run) -> None:
    """Write the run's `run.json`, in one step."""
    text = json.dumps(run.info, indent=1, ensure_ascii=False, sort_keys=True)
    _write(run.folder / "run.json", text.encode())


def finish_run(run: Run, **facts: Any) -> Run:
    """The run, marked as finished, with further facts in its `run.json`."""
    done = replace(run, info={**run.info, **facts, "status": "finished"})
    write_info(done)
    return done


@contextmanager
def locked(run: Run) -> Iterator[None]:
    """While this is open no other process works on the run; a process that died keeps no lock.

    Behind an address nothing is locked: two writers of a part put the same bytes there, each in one step.
    """
    file = None if isinstance(run.folder, Remote) else _open_lock(run, run.folder)
    with file or nullcontext():
        yield


def _open_lock(run: Run, folder: Path) -> IO[str] | None:
    """The lock's file, held until it is closed; none for a finished run that can only be read."""
    try:
        file = (folder / ".lock").open("w")
    except OSError as error:
        if run.info.get("status") == "finished":
            return None
        raise CannotWrite(folder, error) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise IsoglossError(f"Another process is working on {folder}. Wait for it, or stop it.") from error
    except OSError:  # a file system without locks, as some network folders are: two writers do no harm
        file.close()
        return None
    for left in folder.glob(".*~"):  # what a process that was killed had begun to write
        left.unlink(missing_ok=True)
    return file


def part_path(run: Run, number: int) -> Place:
    """Where a part is kept."""
    return run.folder / f"part-{number:05d}.parquet"


def write_part(run: Run, number: int, *, rows: pl.DataFrame) -> None:
    """Write a part, in one step, with the checksum of its content."""
    _write_table(part_path(run, number), rows)


def write_ready(run: Run, number: int, *, rows: pl.DataFrame) -> None:
    """Write a part beside its place; `promote_part` puts it there when all parts of one work are written."""
    _write_table(_ready_path(run, number), rows)


def promote_part(run: Run, number: int) -> None:
    """Put a part that is ready in its place, in one step."""
    _move(_ready_path(run, number), part_path(run, number))


def is_ready(run: Run, number: int) -> bool:
    """Whether a part lies whole beside its place."""
    path = _ready_path(run, number)
    try:
        return path.exists() and bool(_read_table(path, "the part", advice="").width)
    except BadData:
        return False


def _ready_path(run: Run, number: int) -> Place:
    path = part_path(run, number)
    return path.with_name(path.name + ".ready")


def read_part(run: Run, number: int) -> pl.DataFrame:
    """A part's rows; a truncated or altered part raises BadData."""
    return _read_table(part_path(run, number), "the part", advice="Delete it and run the same command again.")


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
                _move(path, path.with_name(path.name + ".broken"))
        missing.append(number)
    return missing


def written_parts(run: Run) -> list[int]:
    """The numbers of the parts that are there, found in one look at the folder."""
    names = set(names_in(run.folder))
    return [number for number in range(run.parts) if part_path(run, number).name in names]


def read_run(folder: Place) -> Run:
    """The run in a folder; a run of another schema version is refused."""
    folder = place_of(folder)
    path = folder / "run.json"
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise IsoglossError(f"{folder} is not a run: it has no run.json.") from error
    except (ValueError, RecursionError, OSError) as error:
        raise BadData(str(path), None, "the file is broken. Delete the run's folder and run again.") from error
    if not isinstance(info, dict) or info.get("schema") != SCHEMA:
        seen = info.get("schema") if isinstance(info, dict) else None
        raise BadData(str(path), None, f"schema version {seen}; this Isogloss reads version {SCHEMA}.")
    wrong = _wrong_fact(info)
    if wrong:
        raise BadData(str(path), None, f"'{wrong}' is missing or wrong. Delete the run's folder and run again.")
    return Run(folder, info)


def _wrong_fact(info: dict[str, Any]) -> str | None:
    """The first fact of a `run.json` that is missing or not of its kind."""
    for name, kind in FACTS.items():
        if type(info.get(name)) is not kind:
            return name
    notes, skipped = info.get("notes", []), info.get("skipped", {})
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        return "notes"
    if not isinstance(skipped, dict) or not all(type(count) is int for count in skipped.values()):
        return "skipped"
    for name in ("labels", "facts"):
        if not isinstance(info.get(name, {}), dict):
            return name
    return None if 0 < info["parts"] <= MOST_PARTS else "parts"


def find_runs(path: Place) -> list[Run]:
    """All runs in a folder and below it."""
    path = place_of(path)
    if not path.exists():
        raise IsoglossError(f"No such run: {path}.")
    found = [read_run(folder) for folder in run_folders(path)]
    if not found:
        raise IsoglossError(f"No runs in {path}. Make one with: isogloss eval MODEL --data demo")
    return found


def run_folders(path: Place) -> list[Place]:
    """The folders below a place that hold a run; what was deleted on the local page is left out."""
    above = len(str(path))
    files: list[Place] = [file for file in path.rglob("run.json") if "/.trash/" not in str(file)[above:]]
    return [file.parent for file in sorted(files, key=str)]


def in_languages(runs: Sequence[Run], wanted: Sequence[str]) -> list[Run]:
    """The runs in these languages, by tag or name; all when none is named, and none of them is an error."""
    tags = [languages.resolve(name) for name in wanted]
    found = [run for run in runs if not tags or run.info["language"] in tags]
    if not found:
        known = ", ".join(sorted({run.info["language"] for run in runs}))
        raise IsoglossError(f"None of the runs is in {', '.join(tags)}; they are in {known}.")
    return found


def read_items(run: Run) -> pl.DataFrame:
    """The items of a run: one row per item and candidate, with texts and tags."""
    return _read_table(
        run.folder / "items.parquet", "the table of items", advice="Delete the run's folder and run again."
    )


def read_scored(runs: list[Run]) -> Scored:
    """What all these runs scored, as one table; an unfinished run is named in the notes, a run given twice is read once."""
    found = list(_each_scored(list({run.folder.resolve(): run for run in runs}.values())))
    if not found:
        raise IsoglossError("None of the runs has a finished part. Run the same command again to go on.")
    return join_scored(found)


def _each_scored(runs: list[Run]) -> Iterator[Scored]:
    for run in runs:
        there = written_parts(run)
        notes = tuple(run.info.get("notes", ()))
        if len(there) < run.parts:
            notes += (f"{run.folder.name}: {run.parts - len(there)} of {run.parts} parts are missing",)
        if not there:
            continue
        rows = pl.concat([read_part(run, number) for number in there])
        rows = opinion_rows(rows) if run.info.get("holds") == ANSWERS else rows
        scored = make_scored(read_items(run), rows, labels=labels_of(run))
        yield replace(scored, skipped=run.info.get("skipped", {}), notes=notes)


def labels_of(run: Run) -> dict[str, str]:
    """The columns that all scores of a run share: model, method, family, and the labels that a study gave it."""
    labels: dict[str, str] = {"model": run.info["model"], "method": run.info["method"]}
    family = run.info.get("facts", {}).get("family")
    given: dict[str, str] = run.info.get("labels", {})
    return labels | ({"family": family} if family else {}) | given


def _write(path: Place, content: bytes) -> None:
    """Write a file in one step: by rename on this machine, in one PUT behind an address."""
    if isinstance(path, Remote):
        path.write_bytes(content)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}~")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise CannotWrite(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _move(path: Place, target: Place) -> None:
    """Put a file in another's place, in one step where the store can; who comes second finds it done."""
    try:
        path.replace(target)  # type: ignore[arg-type]  # both lie in one run's folder
    except OSError as error:
        if not (isinstance(error, FileNotFoundError) and target.exists()):
            raise CannotWrite(target, error) from error


def _write_table(path: Place, rows: pl.DataFrame) -> None:
    """Write a Parquet file that carries the hash of its own bytes, counted with the hash's place left blank."""
    buffer = io.BytesIO()
    rows.write_parquet(buffer, metadata={"checksum": SEAL + BLANK_HASH})
    raw = buffer.getvalue()
    start = raw.rindex(SEAL.encode()) + len(SEAL)
    sealed = raw[:start] + hashlib.sha256(raw).hexdigest().encode() + raw[start + len(BLANK_HASH) :]
    _write(path, sealed)


def _read_table(path: Place, what: str, *, advice: str) -> pl.DataFrame:
    """The table; the hash is compared before anything is decoded, since polars may abort on bytes that were altered."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadData(
            str(path), None, f"{what} cannot be read ({error.strerror or 'No such file'}). {advice}"
        ) from error
    before, seal, after = raw.rpartition(SEAL.encode())
    blank = before + seal + BLANK_HASH.encode() + after[len(BLANK_HASH) :]
    if not seal or hashlib.sha256(blank).hexdigest().encode() != after[: len(BLANK_HASH)]:
        raise BadData(str(path), None, f"{what} is broken or was altered. {advice}")
    return pl.read_parquet(io.BytesIO(raw))
