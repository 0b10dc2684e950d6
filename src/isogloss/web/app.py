"""The application: the guard, one file per page behind it, and one sentence for everything that goes wrong."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from ..errors import IsoglossError
from . import check, evaluate, languages, probe, runs
from .jobs import Jobs
from .model_cache import ModelCache
from .pages import AppState, error_page, static_file
from .runs_folder import relative
from .safety import Guard
from .settings import ServerSettings, check_settings

HEAVY = 2


def make_app(settings: ServerSettings) -> ASGIApp:
    """The application for these settings; its queue works while it is served.

    The guard is outside of everything, so that answers to errors have its headers too.
    """
    settings = replace(check_settings(settings), root=settings.root.resolve())
    jobs = Jobs(settings)
    state = AppState(
        settings, jobs, ModelCache(settings.limits, offline=not settings.any_model), CapacityLimiter(HEAVY)
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        jobs.open()
        yield
        jobs.close()
        state.models.close()

    app = FastAPI(title="Isogloss", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.app_state = state
    for module in (runs, probe, evaluate, check, languages):
        app.include_router(module.router)
    app.add_api_route("/static/{name}", _static, methods=["GET"])
    app.add_exception_handler(IsoglossError, _mistake)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _broken)
    return Guard(app, settings=settings)


async def _static(name: str) -> FileResponse:
    return static_file(name)


async def _mistake(request: Request, error: Exception) -> HTMLResponse:
    """A user's mistake, in one sentence."""
    return error_page(relative(str(error), request.app.state.app_state.root), 400)


async def _refused(request: Request, error: Exception) -> HTMLResponse:
    """What was refused or is not there."""
    status = getattr(error, "status_code", 500)
    return error_page(str(getattr(error, "detail", "")) or "That did not work.", status)


async def _broken(request: Request, error: Exception) -> HTMLResponse:
    """A mistake of ours; what it was is said on the terminal only."""
    return error_page("That failed by an error in Isogloss. The terminal of the server shows what it was.", 500)
