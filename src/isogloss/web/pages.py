"""Pages: templates filled in with every text escaped, files that never change, and what the pages work with."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar, cast

import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import Depends, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from ..reports.numbers import language_name, metric_name
from ..reports.page.parts import open_templates
from .jobs import Jobs
from .model_cache import ModelCache
from .runs_folder import arrange_measures, find_study
from .settings import ServerSettings

FOLDER = Path(__file__).parent.parent / "data"
STATIC = {
    "report.css": (FOLDER / "report" / "style.css", "text/css"),
    "web.css": (FOLDER / "web" / "web.css", "text/css"),
    "live.js": (FOLDER / "web" / "live.js", "text/javascript"),
    "htmx.js": (FOLDER / "web" / "vendor" / "htmx.min.js", "text/javascript"),
    "icon.svg": (FOLDER / "web" / "icon.svg", "image/svg+xml"),
}
MOST_FIELDS = 60
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AppState:
    """What all pages share: the settings, the queue of evaluations, the warm models, and who may work hard at a time."""

    settings: ServerSettings
    jobs: Jobs
    models: ModelCache
    slow: CapacityLimiter
    streams: CapacityLimiter

    @property
    def root(self) -> Path:
        return self.settings.root


async def _app_state(request: Request) -> AppState:
    return cast("AppState", request.app.state.app_state)


State = Annotated[AppState, Depends(_app_state)]  # of the application that was asked


async def _study_folder(name: str, state: State) -> Path:
    return find_study(state.root, name)


StudyFolder = Annotated[Path, Depends(_study_folder)]  # of the study that the address names


async def run_slow(state: AppState, work: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
    """What a slow function gives, in a thread of its own; only a few run at a time."""
    return await anyio.to_thread.run_sync(partial(work, *args, **options), limiter=state.slow)


async def run_quick(work: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
    """What a quick look at the disk gives, in a thread, so that nobody else waits for it."""
    return await anyio.to_thread.run_sync(partial(work, *args, **options))


@cache
def _environment() -> Any:
    from .. import __version__

    templates = open_templates(FOLDER / "web")
    templates.globals |= {"version": __version__, "arranged": arrange_measures}
    templates.filters["number"] = lambda value: "-" if value is None else f"{value:.2f}".replace("-", "−")
    templates.filters["metric"] = metric_name
    templates.filters["language"] = lambda tag: language_name(tag) if tag else ""
    return templates


def render(template: str, **values: Any) -> str:
    """The template filled in; every text is escaped."""
    return str(_environment().get_template(template).render(**values))


def page(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page, or a piece of one."""
    return HTMLResponse(render(template, **values), status)


def go_to(path: str) -> RedirectResponse:
    """The answer to a form that was accepted: look there."""
    return RedirectResponse(path, 303)


async def read_fields(request: Request) -> dict[str, list[str]]:
    """The fields of a form that was sent, each with its values; files are left out."""
    async with request.form(max_files=1, max_fields=MOST_FIELDS) as form:
        fields: dict[str, list[str]] = {}
        for name, value in form.multi_items():
            if not isinstance(value, UploadFile):
                fields.setdefault(name, []).append(value.strip())
        return fields


def first(fields: dict[str, list[str]], name: str) -> str:
    """The first value of a field, or an empty text."""
    return fields.get(name, [""])[0]


async def static_file(name: str) -> FileResponse:
    """One of the few files that every page uses."""
    if name not in STATIC:
        raise HTTPException(404, "There is no such file.")
    path, kind = STATIC[name]
    return FileResponse(path, media_type=kind, headers={"Cache-Control": "no-cache"})
