"""The application: the guard, one file per page behind it, and one sentence for everything that goes wrong."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from ..errors import IsoglossError
from . import check, evaluate, labels, languages, probe, runs
from .jobs import Jobs
from .model_cache import ModelCache
from .pages import AppState, page, static_file
from .runs_folder import relative
from .safety import Guard
from .settings import ServerSettings, check_settings

HEAVY = 2
STREAMS = 24  # open progress streams; each reads the folder of its job twice a second


def make_app(settings: ServerSettings) -> ASGIApp:
    """The application for these settings; its queue works while it is served.

    The guard is outside of everything, so that answers to errors have its headers too.
    """
    settings = replace(check_settings(settings), root=settings.root.resolve())
    jobs = Jobs(settings)
    state = AppState(
        settings,
        jobs,
        ModelCache(settings.limits, offline=not settings.any_model),
        slow=CapacityLimiter(HEAVY),
        streams=CapacityLimiter(STREAMS),
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        jobs.open()
        yield
        jobs.close()
        state.models.close()

    app = FastAPI(title="Isogloss", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.app_state = state
    for module in (runs, probe, evaluate, check, labels, languages):
        app.include_router(module.router)
    app.add_api_route("/static/{name}", static_file, methods=["GET"])
    for kind in (IsoglossError, HTTPException, Exception):
        app.add_exception_handler(kind, _show_error)
    return Guard(app, settings=settings)


async def _show_error(request: Request, error: Exception) -> HTMLResponse:
    """A page with one sentence: a user's mistake, what was refused or is not there, or an error of ours."""
    if isinstance(error, IsoglossError):
        status, message = 400, relative(str(error), request.app.state.app_state.root)
    elif isinstance(error, HTTPException):
        status, message = error.status_code, error.detail or "That did not work."
        message = "There is no page with this address." if message == "Not Found" else message
    else:  # what it was is said on the terminal only
        status, message = 500, "That failed by an error in Isogloss. The terminal of the server shows what it was."
    return page("error.html", status=status, here="", message=message)
