"""The page of probing: a sentence with alternatives or a template, a model, and the shares as bars at once."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from .. import languages
from ..errors import IsoglossError
from ..studies.probing import Inquiry
from ..templates.grammar import parse_template
from ..templates.plan import count_wordings
from .choices import allowed_models, check_model
from .pages import Desk, desk_of, first, is_piece, page, read_fields
from .shelf import relative

router = APIRouter()
EXAMPLE = "The [nurse|doctor|baker] is kind."
MOST_BARS = 40
MOST_WORDINGS = 200


@router.get("/probe")
async def show_form(request: Request) -> HTMLResponse:
    """The empty form."""
    return page("probe.html", **_form(desk_of(request), {}), found=None, message="")


@router.post("/probe")
async def answer(request: Request) -> HTMLResponse:
    """The form with the bars below it; a script gets the bars alone."""
    desk, fields = desk_of(request), await read_fields(request)
    found, message = None, ""
    try:
        model = check_model(first(fields, "model"), desk.settings)
        found = await desk.warm.ask(model, _inquiry(fields, desk.settings.limits.letters))
    except IsoglossError as error:
        message = relative(str(error), desk.root)
    status = 400 if message else 200
    if is_piece(request):
        return page("bars.html", status=status, found=found, message=message, most=MOST_BARS)
    return page("probe.html", status=status, **_form(desk, fields), found=found, message=message)


def _inquiry(fields: dict[str, list[str]], letters: int) -> Inquiry:
    template = " ".join(first(fields, "template").split())
    if len(template) > letters:
        raise IsoglossError(f"The sentence has {len(template):,} letters; at most {letters:,} are taken here.")
    _refuse_many(template)
    return Inquiry(template, first(fields, "language") or "en", first(fields, "terms") or None)


def _refuse_many(template: str) -> None:
    """Refuse a template with very many wordings, or nested very deeply, before anybody unfolds it."""
    try:
        count = count_wordings(parse_template(template).elements)
    except RecursionError as error:
        raise IsoglossError("The template is nested too deeply.") from error
    if count > MOST_WORDINGS:
        raise IsoglossError(f"The template has more than {MOST_WORDINGS} wordings in round brackets. Use fewer.")


def _form(desk: Desk, fields: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "here": "probe",
        "models": allowed_models(desk.settings),
        "any_model": desk.settings.any_model,
        "warm": desk.warm.names(),
        "tags": languages.tags(),
        "given": {name: first(fields, name) for name in ("model", "language", "template", "terms")},
        "example": EXAMPLE,
        "letters": desk.settings.limits.letters,
        "most": MOST_BARS,
    }
