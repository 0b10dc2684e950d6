"""How files are read: what a user states about them, and what was detected, to be reported in one line."""

import codecs
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import BadData, IsoglossError
from .encodings import UTF_8, encoding_name, find_encoding

Remarks = dict[str, dict[str, None]]
NOT_UTF_8 = "not UTF-8. Save the file as UTF-8, or name its encoding: `encoding='cp1250'`."
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read: its own name for each of our columns, its encoding, its reader.

    `language` and `dataset` are those of rows that name none. `remarks` collects what was detected or assumed, by file.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    reader: str | None = None
    language: str | None = None
    dataset: str | None = None
    remarks: Remarks = field(default_factory=dict)


_READING: ContextVar[Reading | None] = ContextVar("reading", default=None)


def state_reading(columns: Mapping[str, str], *, reader: str | None = None, encoding: str | None = None) -> Reading:
    """How a user wants files to be read; `encoding` and `reader` may be given among the columns, as in `columns`."""
    renamed = {name: theirs for name, theirs in columns.items() if name not in ("encoding", "reader")}
    for theirs in (values := list(renamed.values())):
        if values.count(theirs) > 1:
            raise IsoglossError(f"Two columns are read from '{theirs}'. Name each column of the file once.")
    codec = columns.get("encoding") or encoding
    return Reading(renamed, check_encoding(codec) if codec else None, columns.get("reader") or reader)


@contextmanager
def reading_as(reading: Reading) -> Iterator[None]:
    """While this is open, files are read so."""
    token = _READING.set(reading)
    try:
        yield
    finally:
        _READING.reset(token)


def current() -> Reading:
    """How files are read now."""
    return _READING.get() or Reading()


def remark(path: Path, text: str) -> None:
    """Note what was detected about a file, once."""
    current().remarks.setdefault(path.name, {})[text] = None


def remarks_as_lines(remarks: Remarks) -> list[str]:
    """One line for the files of which the same was detected."""
    files: dict[str, list[str]] = {}
    for name, texts in remarks.items():
        files.setdefault("; ".join(texts), []).append(name)
    return [
        f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}: {text}."
        for text, names in files.items()
    ]


def choose_encoding(path: Path, head: bytes) -> str:
    """The codec that the user named for the file, or the one that its beginning shows."""
    reading = current()
    if reading.encoding is not None:
        return reading.encoding
    codec = find_encoding(head, reading.language)
    if codec != UTF_8:
        remark(path, f"read as {encoding_name(codec)}")
    return codec


def check_encoding(name: str) -> str:
    """The name of a codec for text; another is refused."""
    try:
        if codecs.lookup(name)._is_text_encoding:
            return UTF_8 if codecs.lookup(name).name == "utf-8" else name
    except LookupError:
        pass
    raise IsoglossError(f"No encoding named '{name}'. Examples: utf-8, utf-16, cp1250, iso8859-2, mac-roman.")


def rename_header(path: Path, header: list[str]) -> list[str]:
    """The columns of a table under our names; a column that was named and is not there is refused."""
    columns = current().columns
    if any(SURROGATE.search(name) for name in header):
        raise BadData(path, 1, NOT_UTF_8)
    for theirs in columns.values():
        if theirs not in header:
            raise BadData(path, 1, f"there is no column '{theirs}'. The columns are {', '.join(header)}.")
    ours = {theirs: name for name, theirs in columns.items()}
    return [ours.get(name, f"{name} (unused)" if name in columns else name) for name in header]


def rename_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row under our names for its columns; one that lacks a column is without it."""
    columns = current().columns
    kept = {name: value for name, value in row.items() if name not in columns and name not in columns.values()}
    return kept | {name: row[theirs] for name, theirs in columns.items() if theirs in row}
