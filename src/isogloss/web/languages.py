"""The page of languages: what each one has here and what it lacks."""

import tempfile
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response

from .. import languages
from ..annotation.template_review import write_review
from ..coverage import LanguageCoverage, cover_language
from ..templates.lexicon import bundled_languages
from .choices import offered_data
from .pages import page, run_quick

router = APIRouter()
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def list_coverage() -> list[LanguageCoverage]:
    """Every language that is known here, by its tag."""
    sources = {dataset.name: dataset.languages for dataset in offered_data()}
    tags = {
        *languages.tags(),
        *bundled_languages(),
        *(tag for tags_of_source in sources.values() for tag in tags_of_source),
    }
    return [cover_language(tag, sources) for tag in sorted(tags)]


@router.get("/languages")
async def show_languages(request: Request) -> HTMLResponse:
    """A table with a row for each language."""
    return page("languages.html", here="languages", rows=await run_quick(list_coverage))


def make_sheet(tag: str) -> bytes:
    """The review sheet of a language for its speakers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{tag}.xlsx"
        write_review(path, tag)
        return path.read_bytes()


@router.get("/languages/{tag}/sheet.xlsx")
async def download_sheet(tag: str) -> Response:
    """The review sheet, for speakers who have no command line."""
    if tag not in bundled_languages():
        raise HTTPException(404, f"There are no templates for '{tag}'.")
    name = {"Content-Disposition": f'attachment; filename="{tag}.xlsx"'}
    return Response(await run_quick(make_sheet, tag), media_type=XLSX, headers=name)
