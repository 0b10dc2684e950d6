"""Uploads: data files that somebody sent, each in a folder of its own under the runs folder, limited in size and rows."""

import json
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from .. import languages
from ..errors import IsoglossError
from ..files.layout import write_atomically
from ..files.sources import language_in_name
from ..run_names import slug
from .choices import DataChoice
from .jobs import read_json
from .safety import hidden
from .settings import Limits

FOLDER = ".uploads"
NOTE = "upload.json"
KINDS = (".csv", ".tsv", ".jsonl", ".json", ".xlsx")
ID = re.compile(r"[0-9a-f]{12}")
CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent: its id, where it is, what it was called, and the language and columns stated for it."""

    id: str
    path: Path
    title: str
    language: str
    when: str
    columns: Mapping[str, str] = field(default_factory=dict)


def split_columns(text: str) -> dict[str, str]:
    """Our names of columns and the file's own, written as ours=theirs with commas between."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    if wrong := next((name for name, sign, theirs in pairs if not (sign and name.strip() and theirs.strip())), None):
        raise IsoglossError(f"'{wrong.strip()[:100]}' names no column. Write stereotype=YOURS, anti_stereotype=YOURS.")
    return {name.strip(): theirs.strip() for name, _, theirs in pairs}


def state_columns(upload: Upload, columns: Mapping[str, str]) -> Upload:
    """The upload with its own names of columns, which are kept beside it."""
    note = upload.path.parent / NOTE
    write_atomically(note, json.dumps({**read_json(note), "columns": dict(columns)}, ensure_ascii=False) + "\n")
    return replace(upload, columns=columns)


def save_upload(root: Path, file: BinaryIO, *, title: str, language: str, limits: Limits) -> Upload:
    """The upload, kept under a name that is safe; too many rows, or another kind of file, are refused."""
    name = Path(title.replace("\\", "/")).name
    kind = Path(name.lower()).suffix
    if kind not in KINDS:
        raise IsoglossError(f"A file of data ends in one of {', '.join(KINDS)}.")
    if len(list_uploads(root)) >= limits.uploads:
        raise IsoglossError(f"There are {limits.uploads} files already. Delete some first.")
    tag = languages.resolve(language) if language else ""
    id = secrets.token_hex(6)
    folder = hidden(root, FOLDER) / id
    folder.mkdir(parents=True)
    try:
        path = folder / f"{slug(Path(name).stem)[:80]}{kind}"
        _write(file, path, limits=limits)
        when = time.strftime("%Y-%m-%d %H:%M")
        note = {"title": name[:120], "file": path.name, "language": tag, "when": when}
        write_atomically(folder / NOTE, json.dumps(note, ensure_ascii=False) + "\n")
    except BaseException:
        shutil.rmtree(folder)
        raise
    return Upload(id, path, name[:120], tag, when)


def _write(file: BinaryIO, path: Path, *, limits: Limits) -> None:
    rows = size = 0
    with path.open("wb") as target:
        while chunk := file.read(CHUNK):
            rows += chunk.count(b"\n")
            size += len(chunk)
            if rows > limits.rows or size > limits.upload:
                raise IsoglossError(f"More than {limits.rows:,} rows or {limits.upload:,} bytes. Split the file.")
            target.write(chunk)
    if not size:
        raise IsoglossError("The file is empty.")


def find_upload(root: Path, id: str) -> Upload:
    """The upload of that id."""
    upload = _read(hidden(root, FOLDER) / id) if ID.fullmatch(id) else None
    if upload is None:
        raise IsoglossError(f"No data named '{id[:100]}'. Choose a data set, or a file that was checked.")
    return upload


def list_uploads(root: Path) -> list[Upload]:
    """All uploads, the newest first."""
    path = root / FOLDER
    folders = path.iterdir() if path.is_dir() and not path.is_symlink() else iter(())
    uploads = [_read(folder) for folder in folders if ID.fullmatch(folder.name)]
    return sorted((upload for upload in uploads if upload), key=lambda upload: upload.when, reverse=True)


def _read(folder: Path) -> Upload | None:
    facts = read_json(folder / NOTE)
    path = folder / Path(str(facts.get("file", ""))).name
    usable = path.is_file() and not path.is_symlink() and not folder.is_symlink()
    if not usable or not {"title", "language", "when"} <= facts.keys():
        return None
    columns = facts.get("columns")
    stated = {str(name): str(theirs) for name, theirs in columns.items()} if isinstance(columns, dict) else {}
    return Upload(folder.name, path, str(facts["title"]), str(facts["language"]), str(facts["when"]), stated)


def uploaded_data(root: Path) -> list[DataChoice]:
    """The uploads as data that can be chosen."""
    choices = []
    for upload in list_uploads(root):
        tag = upload.language or language_in_name(upload.path)
        choices.append(DataChoice(upload.id, upload.title, (tag,) if tag else ()))
    return choices
