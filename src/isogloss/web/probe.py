"""The page of probing: a sentence with alternatives or a template, a model, and the shares as bars at once."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from .. import languages
from ..errors import IsoglossError
from ..studies.probe import ProbeRequest
from ..templates.grammar import parse_template
from ..templates.resolution import count_wordings
from .choices import allowed_models, check_model
from .pages import AppState, State, first, page, read_fields
from .runs_folder import relative

router = APIRouter()
EXAMPLE = "The [nurse|doctor|baker] is kind."
MOST_BARS = 40
MOST_WORDINGS = 200


@router.get("/probe")
async def show_form(state: State) -> HTMLResponse:
    """The empty form."""
    return page("probe.html", **_form(state, {}), found=None, message="")


@router.post("/probe")
async def answer(request: Request, state: State) -> HTMLResponse:
    """The form with the bars below it; a script gets the bars alone."""
    fields = await read_fields(request)
    result, message = None, ""
    try:
        model = check_model(first(fields, "model"), state.settings)
        result = await state.models.ask(model, _inquiry(fields, state.settings.limits.letters))
    except IsoglossError as error:
        message = relative(str(error), state.root)
    status = 400 if message else 200
    if request.headers.get("hx-request") == "true":
        return page("bars.html", status=status, found=result, message=message, most=MOST_BARS)
    return page("probe.html", status=status, **_form(state, fields), found=result, message=message)


def _inquiry(fields: dict[str, list[str]], letters: int) -> ProbeRequest:
    """What was asked; a template with very many wordings, or nested very deeply, is refused before it is unfolded."""
    template = " ".join(first(fields, "template").split())
    if len(template) > letters:
        raise IsoglossError(f"The sentence has {len(template):,} letters; at most {letters:,} are taken here.")
    try:
        count = count_wordings(parse_template(template).elements)
    except RecursionError as error:
        raise IsoglossError("The template is nested too deeply.") from error
    if count > MOST_WORDINGS:
        raise IsoglossError(f"The template has more than {MOST_WORDINGS} wordings in round brackets. Use fewer.")
    return ProbeRequest(template, first(fields, "language") or "en", first(fields, "terms") or None)


def _form(state: AppState, fields: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "here": "probe",
        "models": allowed_models(state.settings),
        "any_model": state.settings.any_model,
        "warm": state.models.names(),
        "tags": languages.tags(),
        "given": {name: first(fields, name) for name in ("model", "language", "template", "terms")},
        "example": EXAMPLE,
        "letters": state.settings.limits.letters,
        "most": MOST_BARS,
    }
