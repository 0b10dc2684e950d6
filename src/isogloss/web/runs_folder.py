"""The runs folder: its studies and runs, and the trash that they are moved to and restored from."""

import json
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import runs
from ..analysis.headlines import shown_metrics
from ..errors import BadData, IsoglossError
from ..files.layout import write_atomically
from ..reports.pivots import pivot
from .jobs import EvaluationJob, read_job, read_json
from .safety import find_link, hidden, inside, no_link

TRASH = ".trash"
CONTENT = "content"
NOTE = "note.json"
REPORT = "report.html"
MEASURES = "measures.json"
MEASURED = {"metric", "group", "value", "low", "high", "n", "why"}


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run in the runs folder: its path below the runs folder, what it says of itself, and how many parts it has."""

    path: str
    info: dict[str, Any]
    done: int
    when: str = ""

    @property
    def finished(self) -> bool:
        return self.done == int(self.info["parts"])

    @property
    def title(self) -> str:
        return " · ".join(str(self.info[key]) for key in ("model", "dataset", "language", "method"))


@dataclass(frozen=True, slots=True)
class StudyEntry:
    """A study in the runs folder: its runs, what of it cannot be read, and whether there is a report and a job.

    `stamp` is when one of its runs changed last.
    """

    name: str
    entries: tuple[RunEntry, ...]
    problems: tuple[str, ...]
    report: bool
    job: EvaluationJob | None
    findings: tuple[str, ...] = ()
    stamp: float = 0.0

    @property
    def finished(self) -> bool:
        """Whether there are runs, and all of them are finished."""
        return bool(self.entries) and all(entry.finished for entry in self.entries)

    @property
    def when(self) -> str:
        """The day and the time at which its newest run was begun."""
        return max((entry.when for entry in self.entries), default="")

    def values(self, key: str) -> list[str]:
        """The different values that the runs have for something, such as their models."""
        return sorted({str(entry.info[key]) for entry in self.entries})


@dataclass(frozen=True, slots=True)
class TrashEntry:
    """Something in the trash: its number there, and where it was."""

    id: str
    path: str
    when: str


def list_studies(root: Path) -> list[StudyEntry]:
    """Everything in the runs folder, by name."""
    if not root.is_dir():
        return []
    folders = (path for path in root.iterdir() if path.is_dir() and not path.is_symlink())
    studies = (read_study_entry(root, folder) for folder in sorted(folders) if not folder.name.startswith("."))
    return [study for study in studies if study.entries or study.problems or study.job or study.report]


def read_study_entry(root: Path, folder: Path) -> StudyEntry:
    """One study's folder."""
    link = find_link(folder)
    if link is not None:
        return StudyEntry(folder.name, (), (no_link(link, root),), report=False, job=None)
    entries, problems = [], []
    files = sorted(folder.rglob("run.json"))
    for file in files:
        try:
            run = runs.read_run(file.parent)
            stored = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(file.stat().st_mtime))
            when = str(run.info.get("started") or stored)[:16].replace("T", " ")
            path = file.parent.relative_to(root).as_posix()
            entries.append(RunEntry(path, run.info, len(runs.written_parts(run)), when))
        except IsoglossError as error:
            problems.append(relative(str(error), root))
    recorded = (read_measures(folder) or {}).get("findings", [])
    findings = tuple(line for line in recorded if isinstance(line, str)) if isinstance(recorded, list) else ()
    report = (folder / REPORT).is_file()
    stamp = max((file.stat().st_mtime for file in files), default=0.0)
    return StudyEntry(folder.name, tuple(entries), tuple(problems), report, read_job(folder), findings, stamp)


def relative(message: str, root: Path) -> str:
    """A message with paths below the runs folder, not with those of this machine."""
    return message.replace(f"{root}/", "").replace(f"{root.resolve()}/", "")


def find_study(root: Path, name: str) -> Path:
    """The folder of a study in the runs folder."""
    if "/" in name:
        raise BadData(name, None, "there is no such study.")
    return inside(root, name)


def read_measures(folder: Path) -> dict[str, Any] | None:
    """What a finished study measured, if it is there."""
    content = read_json(folder / MEASURES)
    rows = content.get("measures")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(row) >= MEASURED for row in rows):
        return None
    lines = content.get("ranking")
    ranking = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    return {"remarks": content.get("notes", []), "findings": [], **content, "ranking": ranking}


def arrange_measures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Measures as a table with a column for each metric, or for each headline where one leads.

    What is the same in every row is not repeated in its name.
    """
    metrics = shown_metrics(dict.fromkeys(str(row["metric"]) for row in rows))
    names = list(dict.fromkeys(name for row in rows for name in row["group"]))
    columns = [name for name in names if len({row["group"].get(name) for row in rows}) > 1] or names[:1]
    cells = pivot(
        rows,
        line=lambda row: tuple(row["group"].get(name, "overall" if name == "task" else "") for name in columns),
        column=lambda row: (str(row["metric"]),),
    )
    lines = [(line, {metric: row for metric in metrics if (row := cells.get(line, (metric,)))}) for line in cells.lines]
    return {"names": columns, "metrics": metrics, "lines": lines}


# ---- the trash


def move_to_trash(root: Path, path: str) -> TrashEntry:
    """Move a study, a run or an upload into the trash."""
    source = inside(root, path)
    if not source.is_dir():
        raise IsoglossError(f"'{path}' is not a folder of runs.")
    job = read_job(root / path.split("/")[0])
    if job and job.active:
        raise IsoglossError(f"'{job.name}' is {job.state}. Stop it first.")
    trashed = TrashEntry(secrets.token_hex(6), path, time.strftime("%Y-%m-%d %H:%M"))
    folder = hidden(root, TRASH) / trashed.id
    write_atomically(folder / NOTE, json.dumps({"path": path, "when": trashed.when}, ensure_ascii=False) + "\n")
    source.rename(folder / CONTENT)
    return trashed


def list_trash(root: Path) -> list[TrashEntry]:
    """What is in the trash, the newest first."""
    trashed = []
    trash = root / TRASH
    for note in trash.glob(f"*/{NOTE}") if not trash.is_symlink() else ():
        facts = read_json(note)
        if {"path", "when"} <= facts.keys() and (note.parent / CONTENT).is_dir():
            trashed.append(TrashEntry(note.parent.name, str(facts["path"]), str(facts["when"])))
    return sorted(trashed, key=lambda entry: entry.when)[::-1]


def restore(root: Path, id: str) -> str:
    """The path of what came back from the trash."""
    trashed = next((entry for entry in list_trash(root) if entry.id == id), None)
    if trashed is None:
        raise IsoglossError("It is not in the trash.")
    target = (root / trashed.path).resolve()
    if not target.is_relative_to(root.resolve()) or target == root.resolve():
        raise IsoglossError("It was somewhere else before.")
    if target.exists():
        raise IsoglossError(f"'{trashed.path}' is there again already. Rename or delete that one first.")
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = root / TRASH / id
    (folder / CONTENT).rename(target)
    (folder / NOTE).unlink()
    folder.rmdir()
    return trashed.path
