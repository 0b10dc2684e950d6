"""Workbooks: the first sheet of an XLSX file as rows of text, within limits of size."""

import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import BadData, IsoglossError, require
from .reading import remark

MOST_ROWS, MOST_COLUMNS, MOST_BYTES = 200_000, 256, 500_000_000


def read_workbook(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The names of the columns, and each row that is not empty with its number, every cell as text."""
    if not path.is_file():
        raise IsoglossError(f"No such file: {path}.")
    openpyxl = require("openpyxl", extra="xlsx")
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(member.file_size for member in packed.infolist())
        book = openpyxl.load_workbook(path, read_only=True, data_only=True) if size <= MOST_BYTES else None
        rows = book.worksheets[0].iter_rows(values_only=True, max_col=MOST_COLUMNS) if book else ()
        cells = list(islice(rows, MOST_ROWS + 1))
    except Exception as error:
        raise BadData(path, None, "not an XLSX file, or a broken one.") from error
    if size > MOST_BYTES:
        raise BadData(path, None, f"unpacks to more than {MOST_BYTES:,} bytes. Split it into smaller ones.")
    if len(cells) > MOST_ROWS:
        raise BadData(path, None, f"a sheet of more than {MOST_ROWS:,} rows. Split it into smaller ones.")
    if book is not None and len(book.worksheets) > 1:
        remark(path, f"the first of {len(book.worksheets)} sheets, '{book.worksheets[0].title}'")
    named = {index: str(name).strip() for index, name in enumerate(cells[0] if cells else ()) if _text(name)}
    if len(set(named.values())) < len(named) or not named:
        raise BadData(path, 1, "the first row must name the columns, each once.")
    rows = ((number, [_text(values[index]) for index in named]) for number, values in enumerate(cells[1:], 2))
    return list(named.values()), (row for row in rows if any(row[1]))


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()
