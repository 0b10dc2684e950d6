"""The page of evaluations: choose, start, watch, stop, resume; the study file is what the command line runs too."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, StreamingResponse
from starlette.exceptions import HTTPException

from .. import registry
from ..errors import IsoglossError
from . import jobs, runs_folder
from .choices import allowed_models, offered_data
from .evaluation_form import EvaluationForm, read_form, start_study
from .pages import AppState, app_state, first, go_to, page, read_fields, render, run_quick, run_slow
from .uploads import uploaded_data

router = APIRouter()
PAUSE = 0.4
LONGEST = 3600.0


@router.get("/evaluate")
async def show_form(request: Request, data: str = "demo") -> HTMLResponse:
    """The form, and all evaluations."""
    state = app_state(request)
    return page("evaluate.html", **_form(state, EvaluationForm(data=data)), message="")


@router.get("/evaluate/languages")
async def show_languages(request: Request, data: str = "demo") -> HTMLResponse:
    """The languages of some data, as a piece of the form."""
    return page("language_field.html", **_form(app_state(request), EvaluationForm(data=data)))


@router.post("/evaluate", response_model=None)
async def start(request: Request) -> HTMLResponse | RedirectResponse:
    """Write the study file and put it into the queue; what cannot work is said before."""
    state, fields = app_state(request), await read_fields(request)
    form = EvaluationForm(model=first(fields, "model"), data=first(fields, "data"), method=first(fields, "method"))
    try:
        form = read_form(fields)
        folder = await run_slow(state, start_study, state, form)
    except IsoglossError as error:
        message = runs_folder.relative(str(error), state.root)
        return page("evaluate.html", status=400, **_form(state, form), message=message)
    return go_to(f"/evaluate/{folder.name}")


def _form(state: AppState, form: EvaluationForm) -> dict[str, Any]:
    sources = [*offered_data(), *uploaded_data(state.root)]
    chosen = next((source for source in sources if source.name == form.data), sources[0])
    return {
        "here": "evaluate",
        "models": allowed_models(state.settings),
        "any_model": state.settings.any_model,
        "sources": sources,
        "chosen": chosen,
        "methods": ["auto", "ask", *registry.names("method")],
        "form": form,
        "jobs": jobs.read_jobs(state.root),
    }


@router.get("/evaluate/{name}")
async def show_job(request: Request, name: str) -> HTMLResponse:
    """One evaluation: how far it is, and what can be done with it."""
    return page("job.html", **_job(app_state(request), name))


def _job(state: AppState, name: str) -> dict[str, Any]:
    folder = runs_folder.find_study(state.root, name)
    job = jobs.read_job(folder)
    if job is None:
        raise HTTPException(404, "There is no such evaluation.")
    queue = sorted(
        (queued for queued in jobs.read_jobs(state.root) if queued.state == jobs.QUEUED), key=lambda job: job.turn
    )
    turn = next((number for number, queued in enumerate(queue, 1) if queued.name == job.name), 0)
    text = (folder / jobs.FOLDER / jobs.STUDY).read_text(encoding="utf-8", errors="replace")
    measures = runs_folder.read_measures(folder) if not job.active else None
    report = (folder / runs_folder.REPORT).is_file()
    return {"here": "evaluate", "job": job, "place": turn, "text": text, "measures": measures, "report": report}


@router.get("/evaluate/{name}/events")
async def show_events(request: Request, name: str) -> StreamingResponse:
    """The evaluation as it goes on: server-sent events, each with the piece of the page that has changed."""
    state = app_state(request)
    _job(state, name)
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_events(request, state, name=name), media_type="text/event-stream", headers=headers)


async def _events(request: Request, state: AppState, *, name: str) -> AsyncIterator[str]:
    """An event for each change; the last one says that nothing more will come."""
    last: tuple[str, str] | None = None
    for _ in range(int(LONGEST / PAUSE)):
        if await request.is_disconnected():
            return
        try:
            values = await run_quick(_job, state, name)
        except HTTPException:
            return
        job = values["job"]
        now = (job.state, render("progress.html", **values))
        if last is None or now[0] != last[0]:
            yield _event("state", render("work.html", **values))
        elif now != last:
            yield _event("progress", now[1])
        last = now
        if not job.active:
            yield _event("end", "")
            return
        await asyncio.sleep(PAUSE)


def _event(name: str, html: str) -> str:
    """One event; the HTML is wrapped in JSON, so that it stays on one line."""
    return f"event: {name}\ndata: {json.dumps(html)}\n\n"


@router.post("/evaluate/{name}/stop")
async def stop(request: Request, name: str) -> RedirectResponse:
    """Stop an evaluation; what is finished is kept."""
    state = app_state(request)
    state.jobs.stop(runs_folder.find_study(state.root, name))
    return go_to(f"/evaluate/{name}")


@router.post("/evaluate/{name}/resume")
async def resume(request: Request, name: str) -> RedirectResponse:
    """Go on with an evaluation."""
    state = app_state(request)
    folder = runs_folder.find_study(state.root, name)
    if jobs.read_job(folder) is None:
        raise HTTPException(404, "There is no such evaluation.")
    state.jobs.check_capacity()
    state.jobs.want(folder)
    return go_to(f"/evaluate/{name}")


@router.get("/evaluate/{name}/study.yaml")
async def download(request: Request, name: str) -> FileResponse:
    """The study file, for the command line."""
    path = runs_folder.find_study(app_state(request).root, name) / jobs.FOLDER / jobs.STUDY
    if not path.is_file():
        raise HTTPException(404, "There is no such evaluation.")
    return FileResponse(path, media_type="application/yaml", filename=f"{name}.yaml")
