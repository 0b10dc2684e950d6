"""The page of checking: a file goes in, its problems come out by row, with a sheet for people who correct them."""

import json
import re
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from .. import languages
from ..annotation.item_changes import CONTEXT, TARGET, fields_of, with_fields
from ..annotation.item_reviews import read_reviews
from ..annotation.sheets import SheetForm, write_sheet
from ..checks import ALL, find_problems
from ..checks.report import UNREADABLE
from ..errors import IsoglossError
from ..files.layout import row_of
from ..files.sources import read
from ..items import Item, Items, Problem
from .pages import AppState, State, first, go_to, page, read_fields, run_slow
from .uploads import Upload, find_upload, list_uploads, save_upload, split_columns, state_columns

router = APIRouter()
MOST_SHOWN = 200
LONGEST = 1000  # characters of the names of columns
LANGUAGE_ARGUMENT = re.compile(r"use `language`")
SHEETS = {"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "csv": "text/csv"}


@dataclass(frozen=True, slots=True)
class CheckedUpload:
    """What was found in a file: its items, its problems, and each check with its number of findings."""

    items: Items
    problems: tuple[Problem, ...]
    checks: tuple[dict[str, Any], ...]

    def row(self, problem: Problem) -> Item | None:
        """The item of a problem."""
        matches = (item for item in self.items if (item.id, item.language) == (problem.item, problem.language))
        return next(matches, None)


def check_upload(upload: Upload) -> CheckedUpload:
    """What the checks find in a file; rows that cannot be read are problems, not errors."""
    try:
        items = read(upload.path, language=upload.language or None, columns=upload.columns, skip_bad=True)
    except IsoglossError as error:
        raise IsoglossError(_plain(str(error), upload)) from error
    unreadable = [problem for problem in items.problems if problem.check == UNREADABLE.name]
    problems = (*unreadable, *find_problems(items.rows, ALL))
    problems = tuple(Problem(p.check, p.severity, p.item, _plain(p.message, upload), p.language) for p in problems)
    counts = Counter(entry.check for entry in problems)
    checks = [
        {
            "name": entry.name,
            "severity": entry.severity,
            "count": counts[entry.name],
            "about": entry.missing() or entry.explanation,
        }
        for entry in (UNREADABLE, *ALL)
    ]
    return CheckedUpload(items, problems, tuple(sorted(checks, key=lambda entry: not entry["count"])))


def _plain(message: str, upload: Upload) -> str:
    """A message that names the file as its owner does, and the form's fields in place of options."""
    message = message.replace(str(upload.path), upload.title)
    message = re.sub(
        r"If yours have other names, use `columns=.*", "Send it again with the names of its columns below.", message
    )
    return LANGUAGE_ARGUMENT.sub("send it again with its language chosen below", message)


@router.get("/check")
async def show_form(state: State) -> HTMLResponse:
    """The form, and the files that were sent before."""
    return _form(state)


def _form(state: AppState, message: str = "") -> HTMLResponse:
    """The form, with a message about what was wrong."""
    facts = {
        "uploads": list_uploads(state.root),
        "names": list(map(languages.describe, languages.tags())),
        "limits": state.settings.limits,
    }
    return page("check.html", status=400 if message else 200, here="check", message=message, **facts)


@router.post("/check", response_model=None)
async def take(request: Request, state: State) -> HTMLResponse | RedirectResponse:
    """Keep the file that was sent, and show what is wrong with it."""
    try:
        async with request.form(max_files=1, max_fields=5) as form:
            file, tag = form.get("file"), str(form.get("language", ""))
            if not isinstance(file, UploadFile) or not file.filename:
                raise IsoglossError("Choose a file first.")
            columns = split_columns(str(form.get("columns", ""))[:LONGEST])
            facts: dict[str, Any] = {"title": file.filename, "language": tag, "limits": state.settings.limits}
            upload = state_columns(await run_slow(state, save_upload, state.root, file.file, **facts), columns)
    except IsoglossError as error:
        return _form(state, str(error))
    return go_to(f"/check/{upload.id}")


async def _find(id: str, state: State) -> Upload:
    try:
        return find_upload(state.root, id)
    except IsoglossError as error:
        raise HTTPException(404, "There is no such file here.") from error


SentFile = Annotated[Upload, Depends(_find)]


@router.get("/check/{id}")
async def show_problems(state: State, upload: SentFile) -> HTMLResponse:
    """What is wrong with a file, row by row."""
    try:
        checked = await run_slow(state, check_upload, upload)
    except IsoglossError as error:
        return _form(state, str(error))
    return page("problems.html", here="check", upload=upload, found=checked, most=MOST_SHOWN, message="")


@router.post("/check/{id}/reviewed", response_model=None)
async def take_sheet(request: Request, state: State, *, upload: SentFile) -> HTMLResponse | RedirectResponse:
    """Make a new file of what the reviewers of a file wrote into its sheet, and show what is wrong with that one."""
    try:
        async with request.form(max_files=1, max_fields=2) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise IsoglossError("Choose a sheet first.")
            content = await file.read(state.settings.limits.upload + 1)
            kind = Path(file.filename).suffix.lower()
        text = await run_slow(state, apply_sheet, upload, content, kind=kind)
        title = f"{Path(upload.title).stem}-reviewed.jsonl"
        facts: dict[str, Any] = {"title": title, "language": upload.language, "limits": state.settings.limits}
        return go_to(f"/check/{(await run_slow(state, save_upload, state.root, BytesIO(text), **facts)).id}")
    except IsoglossError as error:
        facts = {"upload": upload, "found": await run_slow(state, check_upload, upload), "most": MOST_SHOWN}
        return page("problems.html", status=400, here="check", message=str(error), **facts)


def apply_sheet(upload: Upload, content: bytes, *, kind: str) -> bytes:
    """The file's items as JSON lines, with the fixes of a reviewed sheet and without what it drops."""
    rows = check_upload(upload).items
    items = {item.id: item for item in rows}
    if len(items) < len(rows):
        raise IsoglossError("An id appears in several languages. Review a file with one language at a time.")
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder) / f"sheet{kind}"
        sheet.write_bytes(content)
        try:
            reviews = {review.item: review for review in read_reviews(sheet, items)}
        except IsoglossError as error:
            raise IsoglossError(str(error).replace(str(sheet), "The sheet")) from error
    if not reviews:
        raise IsoglossError("No row of the sheet has a verdict. Fill in the column 'verdict' first.")
    kept = [item for item in rows if item.id not in reviews or reviews[item.id].verdict != "drop"]
    fixed = [with_fields(item, reviews[item.id].fixes) if item.id in reviews else item for item in kept]
    return "".join(json.dumps(row_of(item), ensure_ascii=False) + "\n" for item in fixed).encode()


@router.get("/check/{id}/review.{kind}")
async def download_sheet(state: State, id: str, *, kind: str) -> Response:
    """The review sheet: every item with an error or a warning, and columns to correct it."""
    if kind not in SHEETS:
        raise HTTPException(404, "A sheet is xlsx or csv.")
    upload = await _find(id, state)
    content = await run_slow(state, make_sheet, upload, kind)
    name = f'attachment; filename="review-{upload.path.stem}.{kind}"'
    return Response(content, media_type=SHEETS[kind], headers={"Content-Disposition": name})


def make_sheet(upload: Upload, kind: str) -> bytes:
    """The bytes of the review sheet of a file."""
    checked = check_upload(upload)
    messages: dict[tuple[str, str | None], list[str]] = {}
    for problem in checked.problems:
        if problem.severity != "note":
            messages.setdefault((problem.item, problem.language), []).append(f"{problem.check}: {problem.message}")
    items = [item for item in checked.items if (item.id, item.language) in messages]
    roles = list(dict.fromkeys(candidate.role for item in items for candidate in item.candidates))
    columns = ["id", "language", "task", "problem", "context", "context_fix"]
    columns += [name for role in roles for name in (role, f"{role}_fix")]
    columns += ["target", "target_fix", "verdict", "comment", "reviewer"]
    rows = []
    for item in items:
        texts = fields_of(item)
        row = {"id": item.id, "language": item.language, "task": str(item.tags.get("task", ""))}
        row |= {"problem": "; ".join(messages[item.id, item.language])}
        row |= {"context": texts[CONTEXT], "target": texts[TARGET]}
        rows.append(row | {candidate.role: texts[candidate.id] for candidate in item.candidates})
    tags = {item.language for item in items}
    rtl = bool(tags) and all(languages.describe(tag).direction == "rtl" for tag in tags)
    with tempfile.TemporaryDirectory() as folder:
        return write_sheet(Path(folder) / f"sheet.{kind}", rows, form=SheetForm(columns, rtl)).read_bytes()


@router.post("/check/delete")
async def delete(request: Request, state: State) -> RedirectResponse:
    """Remove a file that was sent for good; studies that used it have copies."""
    shutil.rmtree((await _find(first(await read_fields(request), "id"), state)).path.parent)
    return go_to("/check")
