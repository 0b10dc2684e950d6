"""The page of runs: studies to browse, reports to open or make, two runs to compare, and a trash with a way back."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from .. import store
from ..analysis import comparisons
from ..errors import IsoglossError
from ..report.comparing import grid
from ..report.drawing import Grid
from ..report.sentences import explain_comparisons
from . import shelf
from .pages import desk_of, first, go_to, look, page, read_fields, work_hard
from .safety import REPORT_POLICY

router = APIRouter()
_one_report = threading.Lock()


@router.get("/")
async def show_runs(request: Request) -> HTMLResponse:
    """Everything in the runs folder."""
    desk = desk_of(request)
    studies = await look(shelf.list_studies, desk.root)
    return page("runs.html", here="runs", studies=studies, trash=shelf.list_thrown(desk.root))


@router.get("/runs/{name}")
async def show_study(request: Request, name: str) -> HTMLResponse:
    """One study with its runs and its measures."""
    desk = desk_of(request)
    folder = shelf.find_study(desk.root, name)
    found = await look(shelf.look_at, desk.root, folder)
    return page("study.html", here="runs", study=found, measures=shelf.read_measures(folder))


@router.get("/compare")
async def show_comparison(request: Request, a: str = "", b: str = "") -> HTMLResponse:
    """Two runs side by side: the difference, how sure it is, and what it does not say."""
    desk = desk_of(request)
    studies = await look(shelf.list_studies, desk.root)
    table, message = None, ""
    if a and b:
        try:
            table = await work_hard(desk, compare_runs, desk.root, (a, b))
        except IsoglossError as error:
            message = shelf.relative(str(error), desk.root)
    status = 400 if message else 200
    return page("compare.html", status=status, here="runs", studies=studies, a=a, b=b, table=table, message=message)


def compare_runs(root: Path, pair: tuple[str, str]) -> Grid:
    """The comparison of two runs as a table."""
    sides = [store.read_scored([shelf.read_run(root, path)]) for path in pair]
    found = comparisons.compare(sides[0], sides[1])
    table = grid(found)
    return replace(table, remarks=(*explain_comparisons(found), *table.remarks))


@router.get("/report/{name}")
async def show_report(request: Request, name: str) -> FileResponse:
    """A study's report, shut into an origin of its own."""
    path = shelf.find_study(desk_of(request).root, name) / shelf.REPORT
    if not path.is_file():
        raise HTTPException(404, "This study has no report yet.")
    return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


@router.post("/report/{name}")
async def make_report(request: Request, name: str) -> RedirectResponse:
    """Make the report of a study, and open it."""
    desk = desk_of(request)
    folder = shelf.find_study(desk.root, name)
    await work_hard(desk, write_study_report, folder)
    return go_to(f"/report/{folder.name}")


def write_study_report(folder: Path) -> None:
    """Write the report of all runs in a folder; one at a time."""
    from ..report.page import write_report

    with _one_report:
        draft = folder / f".{shelf.REPORT}"
        write_report([str(folder)], draft)
        draft.replace(folder / shelf.REPORT)


@router.post("/delete")
async def delete(request: Request) -> RedirectResponse:
    """Move a study or a run into the trash."""
    desk = desk_of(request)
    path = first(await read_fields(request), "path")
    thrown = shelf.throw_away(desk.root, path)
    return go_to(f"/#trash-{thrown.id}")


@router.post("/undo")
async def undo(request: Request) -> RedirectResponse:
    """Take something back from the trash."""
    desk = desk_of(request)
    shelf.take_back(desk.root, first(await read_fields(request), "id"))
    return go_to("/")
