"""The application: the guard before the door, one file per page behind it, and one sentence for everything that goes wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse
from starlette.exceptions import HTTPException

from ..errors import IsoglossError
from . import check, evaluate, languages, probe, runs
from .jobs import Jobs
from .pages import Desk, error_page, static_file
from .safety import Guard
from .settings import Settings, check_settings
from .shelf import relative
from .warm import Warm

HEAVY = 2


def make_app(settings: Settings) -> FastAPI:
    """The application for these settings; its queue works while it is served."""
    settings = replace(check_settings(settings), root=settings.root.resolve())
    offline = not settings.any_model
    limits = settings.limits
    jobs = Jobs(settings.root, at_once=limits.at_once, most=limits.queue, offline=offline)
    desk = Desk(settings, jobs, Warm(limits, offline=offline), CapacityLimiter(HEAVY))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        jobs.open()
        yield
        jobs.close()
        desk.warm.close()

    app = FastAPI(title="Isogloss", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.desk = desk
    app.add_middleware(Guard, settings=settings)
    for one in (runs, probe, evaluate, check, languages):
        app.include_router(one.router)
    app.add_api_route("/static/{name}", _static, methods=["GET"])
    app.add_exception_handler(IsoglossError, _mistake)
    app.add_exception_handler(HTTPException, _refused)
    return app


async def _static(name: str) -> FileResponse:
    return static_file(name)


async def _mistake(request: Request, error: Exception) -> HTMLResponse:
    """A user's mistake, in one sentence."""
    return error_page(relative(str(error), request.app.state.desk.root), 400)


async def _refused(request: Request, error: Exception) -> HTMLResponse:
    """What was refused or is not there."""
    status = getattr(error, "status_code", 500)
    return error_page(str(getattr(error, "detail", "")) or "That did not work.", status)
