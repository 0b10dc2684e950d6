"""Files as rows: JSON, JSON lines, CSV, TSV, Parquet, Arrow and XLSX, gzipped or not, each row with its line number."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from pathlib import Path
from typing import IO, Any

import msgspec
import polars as pl

from ..errors import BadData, IsoglossError
from .encodings import SEPARATORS, find_separator
from .parquet_pages import page_sizes
from .reading import NOT_UTF_8, SURROGATE, choose_encoding, current, remark, rename_header, rename_row
from .workbooks import read_workbook

Row = tuple[int, dict[str, Any]]
Checked = tuple[int, dict[str, Any], bool]
OnBadRow = Callable[[BadData], None]
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".xlsx")
HEAD = 1 << 19  # bytes from which the encoding is detected
MOST_BYTES = 2_000_000_000
SMALL = 32_000_000  # bytes that any packed file may unpack to
RATIO = 100  # a larger file may unpack to at most RATIO times its size
MOST_ROWS = 5_000_000  # of a Parquet file, which may hold a row in less than a bit
LONGEST_LINE = 1_000_000  # letters; the longest item of a published set has some thousands
DEEP = 100  # brackets in a line from which on its nesting is looked at
_CHANGED: ContextVar[set[str] | None] = ContextVar("changed", default=None)


ARROW_TO_PARQUET = """
import io, sys
import polars as pl
raw = sys.stdin.buffer.read()
read = pl.read_ipc if raw.startswith(b"ARROW1") else pl.read_ipc_stream
read(io.BytesIO(raw)).write_parquet(sys.stdout.buffer)
"""


def raise_bad_row(error: BadData) -> None:
    """The strict way to treat a bad row: raise it."""
    raise error


def suffix(path: Path) -> str:
    """The file's format by its name, `.gz` left out: `x.jsonl.gz` is `.jsonl`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def is_readable(path: Path) -> bool:
    """Whether the name ends as one of our formats does."""
    return suffix(path) in SUFFIXES


def read_rows(path: Path, bad: OnBadRow = raise_bad_row) -> Iterator[Row]:
    """Each row of a table file with its line number; a broken row is handed to `bad` with its line."""
    kind = suffix(path)
    if kind == ".jsonl":
        rows = _json_lines(path, bad, constant=_refuse_constant)
    elif kind in (".csv", ".tsv"):
        rows = _separated(path, bad, usual="\t" if kind == ".tsv" else ",")
    elif kind == ".parquet":
        rows = _parquet(path, read_bytes(path))
    elif kind == ".arrow":
        rows = _parquet(path, _arrow_as_parquet(path, read_bytes(path)))
    elif kind == ".xlsx":
        names, cells = read_workbook(path)
        header = rename_header(path, names)
        rows = ((number, dict(zip(header, values, strict=True)), False) for number, values in cells)
    elif kind == ".json":
        rows = _json_list(path, bad)
    else:
        raise BadData(path, None, f"unknown format '{kind}'. Use one of {', '.join(SUFFIXES)}, gzipped or not.")
    for number, row, normal in rows:
        try:
            yield number, row if normal else clean(row)
        except UnicodeError:
            bad(BadData(path, number, NOT_UTF_8))
        except RecursionError:
            bad(BadData(path, number, "nested too deeply."))


def read_log(path: Path) -> Iterator[Row]:
    """The rows of another tool's log. In JSON lines, NaN and infinities are null: harnesses log measures without a value so."""
    if suffix(path) != ".jsonl":
        yield from read_rows(path)
        return
    for number, row, _ in _json_lines(path, raise_bad_row, constant=lambda _: None):
        yield number, clean(row)


def read_json(path: Path) -> Any:
    """The file's JSON value; a NaN or an infinity is refused."""
    try:
        raw = read_bytes(path)
        text = raw.decode(choose_encoding(path, raw[:HEAD]), "surrogateescape").removeprefix("\ufeff")
        value = json.loads(text, parse_constant=_refuse_constant)
        rows = isinstance(value, list) and current().columns
        return [rename_row(row) if isinstance(row, dict) else row for row in value] if rows else value
    except json.JSONDecodeError as error:
        raise BadData(path, error.lineno, f"not JSON: {error.msg}.") from error
    except (ValueError, RecursionError) as error:
        raise BadData(path, None, f"not JSON: {error}.") from error


@contextmanager
def noting_changes() -> Iterator[set[str]]:
    """While this is open, the texts that `clean` changes are noted, as they are afterwards."""
    noted: set[str] = set()
    token = _CHANGED.set(noted)
    try:
        yield noted
    finally:
        _CHANGED.reset(token)


def clean(value: Any) -> Any:
    """The value with all its text in NFC; raises UnicodeError where text is not UTF-8."""
    if isinstance(value, str):
        if value.isascii():
            return value
        value.encode()
        normal = unicodedata.normalize("NFC", value)
        if normal != value and (noted := _CHANGED.get()) is not None:
            noted.add(normal.strip())
        return normal
    if isinstance(value, Mapping):
        return {clean(key): clean(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [clean(inner) for inner in value]
    return value


def _is_normal(text: str) -> bool:
    """Whether a line, and so each text in it, needs no cleaning."""
    if text.isascii():
        return True
    return unicodedata.is_normalized("NFC", text) and not SURROGATE.search(text)


def read_bytes(path: Path) -> bytes:
    """The file's bytes, unpacked when its name ends in `.gz`."""
    with _opened(path) as (file, most):
        content = file.read(most + 1)
        if len(content) > most:
            raise _too_large(path, most)
        return content


def check_regular(path: Path) -> Path:
    """The path, unless it is a pipe or a device, which may give nothing for ever."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise BadData(path, None, "a pipe or a device is not read. Save its content as a file first.")
    return path


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """The open file, unpacked when its name ends in `.gz`, and how many bytes it may give."""
    try:
        check_regular(path)
        size = path.stat().st_size
        packed = path.name.lower().endswith(".gz")
        with gzip.open(path) if packed else path.open("rb") as file:
            yield file, min(MOST_BYTES, max(SMALL, RATIO * size)) if packed else max(MOST_BYTES, size)  # type: ignore[misc]
    except FileNotFoundError as error:
        raise IsoglossError(f"No such file: {path}.") from error
    except IsADirectoryError as error:
        raise IsoglossError(f"{path} is a folder, not a file.") from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadData(path, None, f"cannot be read ({error}).") from error


def _too_large(path: Path, most: int) -> BadData:
    if most < MOST_BYTES:
        return BadData(path, None, f"unpacks to more than {RATIO} times its size. Unpack it yourself if that is right.")
    return BadData(path, None, f"unpacks to more than {most:,} bytes. Split it into smaller files.")


def _lines(path: Path, *, newline: str) -> Iterator[str]:
    """The file's lines; bytes that are not of its encoding become lone surrogates, which `clean` refuses row by row."""
    with _opened(path) as (file, most):
        codec = choose_encoding(path, file.read(HEAD))
        file.seek(0)
        text = io.TextIOWrapper(file, encoding=codec, errors="surrogateescape", newline=newline)
        left, number = most, 0
        while line := text.readline(min(left, LONGEST_LINE) + 1):
            left -= len(line)
            number += 1
            if left < 0:
                raise _too_large(path, most)
            if len(line) > LONGEST_LINE and not line.endswith("\n"):
                raise BadData(path, number, f"a line of more than {LONGEST_LINE:,} letters, which no item has.")
            yield line


def _refuse_constant(name: str) -> float:
    raise ValueError(f"'{name}' is not a number")


def _json_lines(path: Path, bad: OnBadRow, *, constant: Callable[[str], Any]) -> Iterator[Checked]:
    decoder, renamed = msgspec.json.Decoder(), bool(current().columns)
    for number, line in enumerate(_lines(path, newline="\n"), 1):
        line = line.removeprefix("\ufeff") if number == 1 else line
        normal = line.count("{") + line.count("[") < DEEP and "\\u" not in line and _is_normal(line)
        try:
            row = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError):  # then the standard library's decoder decides
            if not line.strip():
                continue
            try:
                row = json.loads(line, parse_constant=constant)
            except (ValueError, RecursionError) as error:
                bad(BadData(path, number, f"not JSON: {getattr(error, 'msg', error)}."))
                continue
        if isinstance(row, dict):
            yield number, rename_row(row) if renamed else row, normal
        else:
            bad(BadData(path, number, "a line must be a JSON object with an item's fields."))


def _json_list(path: Path, bad: OnBadRow) -> Iterator[Checked]:
    value = read_json(path)
    if not isinstance(value, list):
        raise BadData(path, None, "must hold a list of objects, one for each item.")
    for number, row in enumerate(value, 1):
        if isinstance(row, dict):
            yield number, row, False
        else:
            bad(BadData(path, number, "an entry must be a JSON object with an item's fields."))


def _separated(path: Path, bad: OnBadRow, *, usual: str) -> Iterator[Checked]:
    lines = _lines(path, newline="")
    first = next(lines, "").removeprefix("\ufeff")
    delimiter = find_separator(first, usual)
    if delimiter != usual:
        remark(path, f"separated by {SEPARATORS[delimiter]}")
    reader = csv.reader(chain([first] if first else [], lines), delimiter=delimiter, strict=True)
    try:
        header = rename_header(path, next(reader, []))
        if len(set(header)) < len(header) or not header:
            raise BadData(path, 1, "the first line must name the columns, each once.")
        normal = all(map(_is_normal, header))
        for cells in reader:
            if cells and len(cells) != len(header):
                bad(BadData(path, reader.line_num, f"{len(cells)} cells, but the header names {len(header)} columns."))
            elif cells:
                yield reader.line_num, dict(zip(header, cells, strict=True)), normal and all(map(_is_normal, cells))
    except csv.Error as error:
        raise BadData(path, reader.line_num, f"not a table: {error}.") from error


@contextmanager
def _silenced_stderr() -> Iterator[None]:
    """While this is open, standard error is closed: for some broken files polars prints a traceback before it raises."""
    saved, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nothing)


def _parquet(path: Path, raw: bytes) -> Iterator[Checked]:
    try:
        unpacked = sum(page_sizes(io.BytesIO(raw)))
        if unpacked > (most := min(MOST_BYTES, max(SMALL, RATIO * len(raw)))):
            raise _too_large(path, most)
        with _silenced_stderr():
            count = pl.scan_parquet(io.BytesIO(raw)).select(pl.len()).collect().item()
            table = pl.read_parquet(io.BytesIO(raw)) if count <= MOST_ROWS else pl.DataFrame()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise BadData(path, None, "not a Parquet file, or a broken one.") from error
    if count > MOST_ROWS:
        raise BadData(path, None, f"has {count:,} rows; at most {MOST_ROWS:,} are read. Split it into smaller files.")
    for column in table.iter_columns():  # one long cell may stand in each row at hardly any size
        lengths = column.str.len_chars() if column.dtype == pl.String else pl.Series([], dtype=pl.UInt32)
        if (lengths.max() or 0) > LONGEST_LINE:  # type: ignore[operator]
            longest = lengths.arg_max() or 0
            raise BadData(path, longest + 1, f"a cell of more than {LONGEST_LINE:,} letters, which no item has.")
    table.columns = rename_header(path, table.columns)
    for number, row in enumerate(table.iter_rows(named=True), 1):
        yield number, row, False


def _arrow_as_parquet(path: Path, raw: bytes) -> bytes:
    """The table of an Arrow file, or of the Arrow stream that the library `datasets` writes, as the bytes of a Parquet file.

    It is converted in a child process, since polars ends its process on some altered bytes.
    """
    child = subprocess.run([sys.executable, "-c", ARROW_TO_PARQUET], input=raw, capture_output=True, check=False)
    if child.returncode or not child.stdout:
        raise BadData(path, None, "not an Arrow file, or a broken one.")
    return child.stdout
