"""The page of languages: what each one has here and what it lacks."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from .. import languages
from ..coverage import LanguageCoverage, cover_language
from ..templates.lexicon import bundled_languages
from .choices import offered_data
from .pages import page, run_quick

router = APIRouter()


def list_coverage() -> list[LanguageCoverage]:
    """Every language that is known here, by its tag."""
    sources = {dataset.name: dataset.languages for dataset in offered_data()}
    tags = {*languages.tags(), *bundled_languages(), *(tag for known in sources.values() for tag in known)}
    return [cover_language(tag, sources) for tag in sorted(tags)]


@router.get("/languages")
async def show_languages(request: Request) -> HTMLResponse:
    """A table with a row for each language."""
    return page("languages.html", here="languages", rows=await run_quick(list_coverage))
