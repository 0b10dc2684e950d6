"""The shelf: the studies and runs in the runs folder, and the trash that they are moved to and come back from."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import store
from ..errors import BadData, IsoglossError
from ..files.layout import write_whole
from .jobs import Job, read_job
from .safety import find_link, hidden, inside, no_link

TRASH = ".trash"
CONTENT = "content"
NOTE = "note.json"
REPORT = "report.html"
MEASURES = "measures.json"
MEASURED = {"metric", "group", "value", "low", "high", "n", "why"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A run on the shelf: its path below the runs folder, what it says of itself, and how many parts it has."""

    path: str
    info: dict[str, Any]
    done: int

    @property
    def finished(self) -> bool:
        return self.done == int(self.info["parts"])

    @property
    def title(self) -> str:
        return " · ".join(str(self.info[key]) for key in ("model", "dataset", "language", "method"))


@dataclass(frozen=True, slots=True)
class Shelved:
    """A study on the shelf: its runs, what of it cannot be read, and whether there is a report and a job."""

    name: str
    entries: tuple[Entry, ...]
    troubles: tuple[str, ...]
    report: bool
    job: Job | None

    def values(self, key: str) -> list[str]:
        """The different values that the runs have for something, such as their models."""
        return sorted({str(entry.info[key]) for entry in self.entries})


@dataclass(frozen=True, slots=True)
class Thrown:
    """Something in the trash: its number there, and where it was."""

    id: str
    path: str
    when: str


def list_studies(root: Path) -> list[Shelved]:
    """Everything on the shelf, by name."""
    if not root.is_dir():
        return []
    folders = (path for path in root.iterdir() if path.is_dir() and not path.is_symlink())
    found = (look_at(root, folder) for folder in sorted(folders) if not folder.name.startswith("."))
    return [one for one in found if one.entries or one.troubles or one.job or one.report]


def look_at(root: Path, folder: Path) -> Shelved:
    """One study's folder."""
    link = find_link(folder)
    if link is not None:
        return Shelved(folder.name, (), (no_link(link, root),), report=False, job=None)
    entries, troubles = [], []
    for file in sorted(folder.rglob("run.json")):
        try:
            entries.append(_entry(root, file.parent))
        except IsoglossError as error:
            troubles.append(relative(str(error), root))
    return Shelved(folder.name, tuple(entries), tuple(troubles), (folder / REPORT).is_file(), read_job(folder))


def _entry(root: Path, folder: Path) -> Entry:
    run = store.read_run(folder)
    return Entry(folder.relative_to(root).as_posix(), run.info, len(store.written_parts(run)))


def relative(message: str, root: Path) -> str:
    """A message with paths below the runs folder, not with those of this machine."""
    return message.replace(f"{root}/", "").replace(f"{root.resolve()}/", "")


def find_study(root: Path, name: str) -> Path:
    """The folder of a study on the shelf."""
    if "/" in name:
        raise BadData(name, None, "there is no such study.")
    return inside(root, name)


def read_run(root: Path, path: str) -> store.Run:
    """The run with that path on the shelf."""
    return store.read_run(inside(root, path))


def read_measures(folder: Path) -> dict[str, Any] | None:
    """What a finished study measured, if it is there."""
    try:
        found = json.loads((folder / MEASURES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    rows = found.get("measures") if isinstance(found, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(row) >= MEASURED for row in rows):
        return None
    return {"remarks": found.get("notes", []), "findings": [], **found}


# ---- the trash


def throw_away(root: Path, path: str) -> Thrown:
    """Move a study, a run or an upload into the trash."""
    source = inside(root, path)
    if not source.is_dir():
        raise IsoglossError(f"'{path}' is not a folder of runs.")
    job = read_job(root / path.split("/")[0])
    if job and job.active:
        raise IsoglossError(f"'{job.name}' is {job.state}. Stop it first.")
    thrown = Thrown(secrets.token_hex(6), path, time.strftime("%Y-%m-%d %H:%M"))
    place = hidden(root, TRASH) / thrown.id
    write_whole(place / NOTE, json.dumps({"path": path, "when": thrown.when}, ensure_ascii=False) + "\n")
    source.rename(place / CONTENT)
    return thrown


def list_thrown(root: Path) -> list[Thrown]:
    """What is in the trash, the newest first."""
    found = []
    trash = root / TRASH
    for note in trash.glob(f"*/{NOTE}") if not trash.is_symlink() else ():
        try:
            facts = json.loads(note.read_text(encoding="utf-8"))
            found.append(Thrown(note.parent.name, str(facts["path"]), str(facts["when"])))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return sorted((one for one in found if (root / TRASH / one.id / CONTENT).is_dir()), key=lambda one: one.when)[::-1]


def take_back(root: Path, id: str) -> str:
    """The path of what came back from the trash."""
    thrown = next((one for one in list_thrown(root) if one.id == id), None)
    if thrown is None:
        raise IsoglossError("It is not in the trash.")
    target = (root / thrown.path).resolve()
    if not target.is_relative_to(root.resolve()) or target == root.resolve():
        raise IsoglossError("It was somewhere else before.")
    if target.exists():
        raise IsoglossError(f"'{thrown.path}' is there again already. Rename or delete that one first.")
    target.parent.mkdir(parents=True, exist_ok=True)
    place = root / TRASH / id
    (place / CONTENT).rename(target)
    (place / NOTE).unlink()
    place.rmdir()
    return thrown.path
