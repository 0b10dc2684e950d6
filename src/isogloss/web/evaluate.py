"""The page of evaluations: choose, start, watch, stop, resume; the study file is what the command line runs too."""

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from anyio import WouldBlock
from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, StreamingResponse
from starlette.exceptions import HTTPException

from .. import registry
from ..analysis.study import failures_as_text
from ..errors import IsoglossError
from ..run_names import slug
from ..studies.plan import plan_study
from . import jobs, runs_folder
from .choices import allowed_models, check_model, offered_data, split_served
from .pages import AppState, State, StudyFolder, first, go_to, page, read_fields, render, run_quick, run_slow
from .uploads import find_upload, uploaded_data

router = APIRouter()
PAUSE = 0.4
LONGEST = 3600.0
NAME = re.compile(r"[\w][\w.-]{0,79}")
MOST_ITEMS = 1_000_000


# ---- the form: what somebody chose becomes a study file, checked before it is queued


@dataclass(frozen=True, slots=True)
class EvaluationForm:
    """What was chosen: a model, data, languages, a method, how many items, and a name for the study."""

    model: str = ""
    data: str = ""
    languages: tuple[str, ...] = ()
    method: str = "auto"
    limit: int | None = None
    name: str = ""


def read_form(fields: dict[str, list[str]]) -> EvaluationForm:
    """What a form says; a number that is none, or a name that cannot be a folder, is refused."""
    text, name = first(fields, "limit"), first(fields, "name")
    if text and not (text.isdecimal() and text.isascii() and 0 < int(text[:9]) <= MOST_ITEMS):
        raise IsoglossError(f"The number of items must lie between 1 and {MOST_ITEMS:,}, or be left empty.")
    if name and not NAME.fullmatch(name):
        raise IsoglossError("A study's name has letters, digits, dots, hyphens and underscores only, at most 80.")
    model, data, method = (first(fields, key) for key in ("model", "data", "method"))
    languages = tuple(dict.fromkeys(fields.get("language", [])))
    return EvaluationForm(model, data, languages, method or "auto", int(text) if text else None, name)


def start_study(state: AppState, form: EvaluationForm) -> Path:
    """The folder of the study, which is written, checked, and in the queue."""
    check_model(form.model, state.settings)
    state.jobs.check_capacity()
    offered = [source.name for source in offered_data()]
    upload = None if form.data in offered else find_upload(state.root, form.data)
    folder = _make_folder(state.root, form)
    file = folder / jobs.FOLDER / jobs.STUDY
    try:
        if upload is not None:
            shutil.copyfile(upload.path, folder / jobs.FOLDER / upload.path.name)
        languages = form.languages or ((upload.language,) if upload and upload.language else ())
        checkpoint, served = split_served(form.model)
        entry = {"checkpoint": checkpoint, "served_model": served} if served else checkpoint
        study: dict[str, Any] = {"name": folder.name, "models": [entry]}
        columns = {"columns": dict(upload.columns)} if upload and upload.columns else {}
        study |= {"data": [{"source": upload.path.name if upload else form.data, **columns}]}
        study |= {"languages": list(languages)} if languages else {}
        study |= {"methods": [form.method], "report": runs_folder.REPORT}
        study |= {"sample": {"limit": form.limit}} if form.limit else {}
        study |= {} if state.settings.any_model else {"loading": {"offline": True}}
        file.write_text(yaml.safe_dump(study, allow_unicode=True, sort_keys=False), encoding="utf-8")
        plan = plan_study(file)
        if not plan.cells:
            raise IsoglossError(failures_as_text(plan.failures) or "There is nothing to do.")
    except BaseException as error:
        shutil.rmtree(folder)
        if isinstance(error, IsoglossError):
            raise IsoglossError(str(error).removeprefix(f"{file}: ")) from error
        raise
    state.jobs.want(folder, model=form.model)
    return folder


def _make_folder(root: Path, form: EvaluationForm) -> Path:
    """A new folder with the wished name, or with one of our own; a name that is taken is refused, ours gets a number."""
    plain = form.name or slug(f"{Path(form.model).name}-{form.data}")[:60]
    for number in range(1, 1000):
        folder = root / (plain if number == 1 else f"{plain}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if form.name:
                raise IsoglossError(f"There is a study named '{form.name}' already. Choose another name.") from None
            continue
        (folder / jobs.FOLDER).mkdir()
        return folder
    raise IsoglossError(f"There are too many studies named '{plain}'. Give this one a name.")


# ---- the pages


@router.get("/evaluate")
async def show_form(state: State, data: str = "demo") -> HTMLResponse:
    """The form, and all evaluations."""
    return page("evaluate.html", **_form(state, EvaluationForm(data=data)), message="")


@router.get("/evaluate/languages")
async def show_languages(state: State, data: str = "demo") -> HTMLResponse:
    """The languages of some data, as a piece of the form."""
    return page("language_field.html", **_form(state, EvaluationForm(data=data)))


@router.post("/evaluate", response_model=None)
async def start(request: Request, state: State) -> HTMLResponse | RedirectResponse:
    """Write the study file and put it into the queue; what cannot work is said before."""
    fields = await read_fields(request)
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
        "methods": list(dict.fromkeys(["auto", "ask", *registry.names("method")])),
        "form": form,
        "jobs": jobs.read_jobs(state.root),
    }


@router.get("/evaluate/{name}")
async def show_job(state: State, name: str) -> HTMLResponse:
    """One evaluation: how far it is, and what can be done with it."""
    return page("job.html", **_job(state, name))


def _job(state: AppState, name: str) -> dict[str, Any]:
    folder = runs_folder.find_study(state.root, name)
    job = jobs.read_job(folder)
    if job is None:
        raise HTTPException(404, "There is no such evaluation.")
    queue = [queued.name for queued in reversed(jobs.read_jobs(state.root)) if queued.state == jobs.QUEUED]
    turn = queue.index(job.name) + 1 if job.name in queue else 0
    text = (folder / jobs.FOLDER / jobs.STUDY).read_text(encoding="utf-8", errors="replace")
    measures = runs_folder.read_measures(folder) if not job.active else None
    report = (folder / runs_folder.REPORT).is_file()
    return {"here": "evaluate", "job": job, "place": turn, "text": text, "measures": measures, "report": report}


@router.get("/evaluate/{name}/events")
async def show_events(request: Request, state: State, *, name: str) -> StreamingResponse:
    """The evaluation as it goes on: server-sent events, each with the piece of the page that has changed."""
    _job(state, name)
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_events(request, state, name=name), media_type="text/event-stream", headers=headers)


async def _events(request: Request, state: AppState, *, name: str) -> AsyncIterator[str]:
    """An event for each change; the last one says that nothing more will come. Where too many watch, none for a minute."""
    watcher = object()
    try:
        state.streams.acquire_on_behalf_of_nowait(watcher)
    except WouldBlock:
        yield "retry: 60000\n\n"
        return
    try:
        async for event in progress_events(request, state, name=name):
            yield event
    finally:
        state.streams.release_on_behalf_of(watcher)


async def progress_events(request: Request, state: AppState, *, name: str) -> AsyncIterator[str]:
    last: tuple[str, str] | None = None
    for _ in range(int(LONGEST / PAUSE)):
        if await request.is_disconnected():
            return
        try:
            values = await run_quick(_job, state, name)
        except HTTPException:
            yield _event("state", "<p>This evaluation was deleted.</p>")
            yield _event("end", "")
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
async def stop(state: State, folder: StudyFolder) -> RedirectResponse:
    """Stop an evaluation; what is finished is kept."""
    state.jobs.stop(folder)
    return go_to(f"/evaluate/{folder.name}")


@router.post("/evaluate/{name}/resume")
async def resume(state: State, folder: StudyFolder) -> RedirectResponse:
    """Go on with an evaluation."""
    if jobs.read_job(folder) is None:
        raise HTTPException(404, "There is no such evaluation.")
    state.jobs.check_capacity()
    state.jobs.want(folder)
    return go_to(f"/evaluate/{folder.name}")


@router.get("/evaluate/{name}/study.yaml")
async def download(folder: StudyFolder) -> FileResponse:
    """The study file, for the command line."""
    path = folder / jobs.FOLDER / jobs.STUDY
    if not path.is_file():
        raise HTTPException(404, "There is no such evaluation.")
    return FileResponse(path, media_type="application/yaml", filename=f"{folder.name}.yaml")
