"""The page of languages: what each one has here and what it lacks."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from .. import languages
from ..corpora.wordlists import load_toml
from ..languages import Language
from ..templates.lexicon import bundled_languages
from .choices import offered_data
from .pages import described, page, run_quick

router = APIRouter()
ENGLISH = "en"
TEMPLATES = ("templates", "template_blanks")


@dataclass(frozen=True, slots=True)
class Means:
    """What a language has: a file, data sets, templates, prompts for chat models, gender words, names, articles."""

    language: Language
    described: bool
    data: tuple[str, ...]
    templates: bool
    prompts: bool
    words: bool
    names: bool
    articles: bool


def list_means() -> list[Means]:
    """Every language that is known here, by its tag."""
    sources = offered_data()
    templates, files = set(bundled_languages()), set(languages.tags())
    words = {ENGLISH, *load_toml("pronouns.toml")}
    names = {ENGLISH, *load_toml("native_names.toml"), *load_toml("transliterated_names.toml")}
    tags = files | templates | words | names | {tag for one in sources for tag in one.languages}
    found = []
    for tag in sorted(tags):
        known = described(tag)
        data = tuple(one.name for one in sources if tag in one.languages and one.name not in TEMPLATES)
        rest = ("ask" in known.sections, tag in words, tag in names, "articles" in known.sections)
        found.append(Means(known, tag in files, data, tag in templates, *rest))
    return found


@router.get("/languages")
async def show_languages(request: Request) -> HTMLResponse:
    """A table with a row for each language."""
    return page("languages.html", here="languages", rows=await run_quick(list_means))
