"""The page: all panels that have data, in one HTML file that loads nothing and works without a network."""

import base64
import hashlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from ... import registry
from ...analysis.intervals import IntervalSettings
from ...analysis.study import Study
from ...atomic_files import write_file
from ...errors import require
from ...runs import Run
from ...storage import StoragePath
from ..chart_data import distinct
from ..numbers import english_first, listed, plain_name
from .added_files import Extras
from .data import PageData, measure_all
from .parts import FOLDER, Section, render
from .summary import write_summary

STUDY = "study.yaml"  # which a run of a study file leaves in the study's folder
POLICY = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"  # nothing can be fetched


def write_report(
    study: Study,
    out: str | Path,
    *,
    extras: Extras | None = None,
    settings: IntervalSettings | None = None,
    command: str = "",
) -> Path:
    """The path of the report of a study, HTML or, by its ending, a PDF summary; see `read_extras` for what can be added."""
    page_data = measure_all(study, extras or Extras(), settings=settings or IntervalSettings())
    if Path(out).suffix.lower() == ".pdf":
        return write_summary(page_data, out, title=title_of(page_data), command=command)
    write_file(Path(out), draw_page(page_data, command=command).encode())
    return Path(out)


def draw_page(data: PageData, *, command: str = "") -> str:
    """The whole page as HTML."""
    from ... import __version__

    plain = require("markupsafe", extra="report").Markup
    script = _asset("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render(
        "page.html",
        title=title_of(data),
        version=__version__,
        made=time.strftime("%Y-%m-%d", time.gmtime()),
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; {POLICY}",
        style=plain(_asset("style.css")),
        script=plain(script),
        panels=list(draw_panels(data)),
        problems=data.problems,
        command=command,
    )


def draw_panels(data: PageData) -> Iterator[Section]:
    """The sections of the panels that have something to show, top to bottom."""
    panels = registry.load_all("panel")
    for name in sorted(panels, key=lambda name: panels[name].order):
        values = panels[name].draw(data)
        if values is not None:
            yield Section(name, panels[name].title, render(f"panels/{name}.html", **values))


def _asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8").strip()


def stored_title(runs: Sequence[Run]) -> str:
    """The title in the study file beside these runs, where they are the runs of one study that has one."""
    folders = {run.folder.parent.parent for run in runs}
    return read_title(folders.pop()) if len(folders) == 1 else ""


def read_title(folder: StoragePath) -> str:
    """The title in the study file of a folder, where it has one."""
    try:
        content = yaml.safe_load((folder / STUDY).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return ""
    title = content.get("title") if isinstance(content, dict) else None
    return title if isinstance(title, str) else ""


def title_of(data: PageData) -> str:
    """The title that was given or that the study has, otherwise what the report is about, by its models and languages."""
    if title := data.extras.title or stored_title(data.runs):
        return title
    models, tags = distinct(data.overall, "model"), english_first(distinct(data.overall, "language"))
    if not models:
        return "Stereotypes of language models"
    who = listed(models) if len(models) <= 3 else f"{len(models)} models"
    where = listed([plain_name(tag) for tag in tags]) if len(tags) <= 3 else f"{len(tags)} languages"
    return f"Stereotypes of {who} in {where}"
