"""The page of runs: studies to browse, reports to open or make, two runs to compare, and a trash with a way back."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from .. import runs
from ..analysis import comparisons
from ..analysis.study import load_study
from ..errors import IsoglossError
from ..reports.text.comparisons import grid
from ..reports.text.sentences import explain_comparisons, study_as_json
from . import runs_folder
from .pages import State, StudyFolder, first, go_to, page, read_fields, run_quick, run_slow
from .safety import REPORT_POLICY, inside

router = APIRouter()
SHOWN = ("metric", "a", "b", "a - b", "p", "Holm", "n", "MDE")
SMALL = 30_000  # items of a study that is measured before the start page is shown
_one_report = threading.Lock()


@router.get("/")
async def show_runs(state: State) -> HTMLResponse:
    """Everything in the runs folder; a small study that was never measured, such as imported scores, is measured now."""
    studies = await run_quick(runs_folder.list_studies, state.root)
    for index, study in enumerate(studies):
        small = sum(int(entry.info["items"]) for entry in study.entries) <= SMALL
        if study.finished and small and not study.findings:
            measures = await run_slow(state, measure_study, state.root / study.name, study.stamp)
            studies[index] = replace(study, findings=tuple(measures["findings"])) if measures else study
    return page("runs.html", here="runs", studies=studies, trash=runs_folder.list_trash(state.root))


@router.get("/runs/{name}")
async def show_study(state: State, folder: StudyFolder) -> HTMLResponse:
    """One study with its runs and its measures."""
    entry = await run_quick(runs_folder.read_study_entry, state.root, folder)
    measures = runs_folder.read_measures(folder)
    if measures is None and entry.finished:
        measures = await run_slow(state, measure_study, folder, entry.stamp)
    title, pair = await run_quick(read_study_title, folder), likely_pair([entry])
    return page("study.html", here="runs", study=entry, title=title, measures=measures, pair=pair)


def read_study_title(folder: Path) -> str:
    """The title of a study, where its file has one."""
    from ..reports.page.document import read_title

    return read_title(folder)


@lru_cache(maxsize=64)
def measure_study(folder: Path, stamp: float) -> dict[str, Any] | None:
    """What the runs of a folder give that was not measured before; nothing where they cannot be measured together.

    It is kept as long as `stamp`, the time of the last change, is the same.
    """
    try:
        return study_as_json(load_study(folder))
    except IsoglossError:
        return None


@router.get("/compare")
async def show_comparison(state: State, a: str = "", *, b: str = "") -> HTMLResponse:
    """Two runs side by side: the difference, how sure it is, and what it does not say."""
    studies = await run_quick(runs_folder.list_studies, state.root)
    table, message = None, ""
    chosen = (a, b) if a and b else likely_pair(studies)
    if a and b:
        try:
            table = await run_slow(state, compare_runs, state.root, (a, b))
        except IsoglossError as error:
            message = runs_folder.relative(str(error), state.root)
    status = 400 if message else 200
    return page("compare.html", status=status, here="runs", studies=studies, pair=chosen, table=table, message=message)


def likely_pair(studies: Sequence[runs_folder.StudyEntry]) -> tuple[str, str]:
    """Two runs that one would compare: the same data and method, another language or model."""
    entries = [entry for study in studies for entry in study.entries]
    for first_run, second in combinations(entries, 2):
        if all(first_run.info[key] == second.info[key] for key in ("dataset", "method")):
            return first_run.path, second.path
    return (entries[0].path, entries[-1].path) if entries else ("", "")


def compare_runs(root: Path, pair: tuple[str, str]) -> dict[str, Any]:
    """The comparison of two runs: what it says in words, and a table without columns that are the same in every row."""
    chosen = [runs.read_run(inside(root, path)) for path in pair]
    if pair[0] == pair[1]:
        raise IsoglossError("Both sides are the same run. Choose another one for B.")
    sides = [runs.read_scored([run]) for run in chosen]
    compared = comparisons.compare(sides[0], sides[1])
    table = grid(compared)
    kept = [
        index
        for index, name in enumerate(table.heading)
        if name in SHOWN or (index < table.labels and len({row[index] for row in table.rows}) > 1)
    ]
    explained = list(zip(compared, explain_comparisons(compared), strict=True))
    whole = [line for row, line in explained if "task" not in row.group]
    return {
        "sentences": whole or [line for _, line in explained],
        "by_task": [line for row, line in explained if "task" in row.group] if whole else [],
        "heading": [table.heading[index] for index in kept],
        "rows": [[row[index] for index in kept] for row in table.rows],
        "remarks": table.remarks,
    }


@router.get("/report/{name}")
async def show_report(folder: StudyFolder) -> FileResponse:
    """A study's report, shut into an origin of its own."""
    path = folder / runs_folder.REPORT
    if not path.is_file():
        raise HTTPException(404, "This study has no report yet.")
    return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


@router.post("/report/{name}")
async def make_report(state: State, folder: StudyFolder) -> RedirectResponse:
    """Make the report of a study, and open it."""
    await run_slow(state, write_study_report, folder)
    return go_to(f"/report/{folder.name}")


def write_study_report(folder: Path) -> None:
    """Write the report of all runs in a folder; one at a time."""
    from ..reports.page.document import write_report

    with _one_report:
        write_report(load_study(folder, texts=True), folder / runs_folder.REPORT)


@router.post("/delete")
async def delete(request: Request, state: State) -> RedirectResponse:
    """Move a study or a run into the trash."""
    trashed = runs_folder.move_to_trash(state.root, first(await read_fields(request), "path"))
    return go_to(f"/#trash-{trashed.id}")


@router.post("/undo")
async def undo(request: Request, state: State) -> RedirectResponse:
    """Take something back from the trash."""
    runs_folder.restore(state.root, first(await read_fields(request), "id"))
    return go_to("/")
