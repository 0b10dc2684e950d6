"""The page of labels: a sheet goes in, a person fills it in row by row, and the filled sheet comes out."""

import json
import re
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from .. import languages
from ..annotation.label_sheets import NEEDED, QUESTIONS, SHOWN, guide_of, known_words
from ..annotation.sheets import FORMATS, SheetForm, read_sheet, write_sheet
from ..errors import IsoglossError
from ..files.layout import write_atomically
from .jobs import read_json
from .pages import AppState, State, first, go_to, page, read_fields, run_quick
from .safety import hidden
from .settings import Limits

router = APIRouter()
FOLDER = ".sheets"
NOTE, SHEET = "sheet.json", "sheet.csv"
ID = re.compile(r"[0-9a-f]{12}")
SHOWN_AT_ONCE = 20  # rows of a page; each has a label and a comment
ONCE = ("annotator", "background")  # asked once for a whole sheet


@dataclass(frozen=True, slots=True)
class OpenSheet:
    """A sheet that is being filled in: its id, folder and title, its columns and its rows."""

    id: str
    folder: Path
    title: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, str], ...]

    @property
    def labelled(self) -> int:
        return sum(bool(row.get("label")) for row in self.rows)

    @property
    def question(self) -> str:
        return self.rows[0]["question"]

    @property
    def language(self) -> str:
        tags = {row.get("language", "") for row in self.rows}
        return tags.pop() if len(tags) == 1 else "en"


def keep_sheet(root: Path, content: bytes, *, title: str, limits: Limits) -> str:
    """The id under which a sheet is kept; a file that is no sheet of labels is refused."""
    kind = Path(title.lower()).suffix
    if kind not in FORMATS:
        raise IsoglossError(f"A sheet ends in one of {', '.join(FORMATS)}.")
    if len(content) > limits.upload:
        raise IsoglossError(f"More than {limits.upload:,} bytes. Split the sheet.")
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / f"sheet{kind}"
        path.write_bytes(content)
        try:
            rows = [row for _, row in read_sheet(path)]
        except IsoglossError as error:
            raise IsoglossError(str(error).replace(str(path), "The sheet")) from error
    if not rows or any(name not in rows[0] for name in NEEDED):
        raise IsoglossError("This is no sheet of labels. Write one with: isogloss labels sheet")
    if len(rows) > limits.rows or {row["question"] for row in rows} - QUESTIONS.keys():
        raise IsoglossError(f"A sheet asks one of {', '.join(QUESTIONS)} and has at most {limits.rows:,} rows.")
    id = secrets.token_hex(6)
    folder = hidden(root, FOLDER) / id
    folder.mkdir(parents=True)
    write_sheet(folder / SHEET, rows, form=SheetForm(list(rows[0])))
    name = Path(title.replace("\\", "/")).name[:120]
    write_atomically(folder / NOTE, json.dumps({"title": name}, ensure_ascii=False) + "\n")
    return id


def open_sheet(root: Path, id: str) -> OpenSheet:
    """The sheet of that id."""
    folder = hidden(root, FOLDER) / id if ID.fullmatch(id) else None
    if folder is None or folder.is_symlink() or not (folder / SHEET).is_file():
        raise IsoglossError(f"There is no sheet '{id[:20]}' here.")
    rows = tuple(row for _, row in read_sheet(folder / SHEET))
    title = str(read_json(folder / NOTE).get("title", "sheet"))
    return OpenSheet(id, folder, title, tuple(rows[0]), rows)


def list_sheets(root: Path) -> list[OpenSheet]:
    """All sheets that are being filled in."""
    path = root / FOLDER
    folders = sorted(path.iterdir()) if path.is_dir() and not path.is_symlink() else []
    return [open_sheet(root, folder.name) for folder in folders if ID.fullmatch(folder.name)]


def fill_sheet(sheet: OpenSheet, fields: dict[str, list[str]]) -> None:
    """Write what a person chose into the sheet, in one step; rows that the form does not have stay as they are."""
    words, rows = known_words(sheet.question), []
    for number, row in enumerate(sheet.rows):
        filled = dict(row)
        if f"label-{number}" in fields:
            label = first(fields, f"label-{number}")
            if label and label.casefold() not in words:
                raise IsoglossError(f"The label is '{label[:40]}'. Use one of {', '.join(QUESTIONS[sheet.question])}.")
            filled |= {"label": label, "comment": first(fields, f"comment-{number}")[:2000]}
        filled |= {name: first(fields, name)[:200] for name in ONCE if name in fields and name in sheet.columns}
        rows.append(filled)
    write_sheet(sheet.folder / SHEET, rows, form=SheetForm(sheet.columns))


@router.get("/labels")
async def show_sheets(state: State) -> HTMLResponse:
    """The form, and the sheets that are being filled in."""
    return await _form(state)


async def _form(state: AppState, message: str = "") -> HTMLResponse:
    sheets = await run_quick(list_sheets, state.root)
    return page("labels.html", status=400 if message else 200, here="labels", message=message, sheets=sheets)


@router.post("/labels", response_model=None)
async def take_sheet(request: Request, state: State) -> HTMLResponse | RedirectResponse:
    """Keep a sheet, and show its first rows."""
    try:
        async with request.form(max_files=1, max_fields=4) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise IsoglossError("Choose a sheet first.")
            content, title = await file.read(state.settings.limits.upload + 1), file.filename
        id = await run_quick(keep_sheet, state.root, content, title=title, limits=state.settings.limits)
    except IsoglossError as error:
        return await _form(state, str(error))
    return go_to(f"/labels/{id}")


async def _find(id: str, state: State) -> OpenSheet:
    try:
        return await run_quick(open_sheet, state.root, id)
    except IsoglossError as error:
        raise HTTPException(404, str(error)) from error


KeptSheet = Annotated[OpenSheet, Depends(_find)]


@router.get("/labels/{id}")
async def show_rows(sheet: KeptSheet, start: int = 0) -> HTMLResponse:
    """Some rows of a sheet, each with a drop-down."""
    start = max(0, min(start, len(sheet.rows) - 1)) // SHOWN_AT_ONCE * SHOWN_AT_ONCE
    guide, words = guide_of(sheet.language, sheet.question)
    shown = [name for name in SHOWN if name in sheet.columns]
    numbered = list(enumerate(sheet.rows))[start : start + SHOWN_AT_ONCE]
    direction = languages.describe(sheet.language.split("-")[0]).direction
    facts: dict[str, Any] = {"guide": guide, "words": list(words.values()), "shown": shown, "rows": numbered}
    facts |= {"start": start, "following": start + SHOWN_AT_ONCE, "direction": direction, "known": sheet.rows[0]}
    return page("label_rows.html", here="labels", sheet=sheet, **facts)


@router.post("/labels/delete")
async def delete(request: Request, state: State) -> RedirectResponse:
    """Remove a sheet for good."""
    sheet = await _find(first(await read_fields(request), "id"), state)
    shutil.rmtree(sheet.folder)
    return go_to("/labels")


@router.post("/labels/{id}")
async def save_rows(request: Request, sheet: KeptSheet) -> RedirectResponse:
    """Keep what was filled in, and show the next rows, or the list of sheets after the last ones."""
    fields = await read_fields(request)
    await run_quick(fill_sheet, sheet, fields)
    following = first(fields, "following")
    more = following.isdecimal() and int(following) < len(sheet.rows)
    return go_to(f"/labels/{sheet.id}?start={following}" if more else "/labels")


@router.get("/labels/{id}/sheet.csv")
async def download(sheet: KeptSheet) -> Response:
    """The sheet with what was filled in, to be returned and read with `isogloss labels read`."""
    name = f'attachment; filename="labels-{sheet.id}.csv"'
    content = (sheet.folder / SHEET).read_bytes()
    return Response(content, media_type="text/csv", headers={"Content-Disposition": name})
