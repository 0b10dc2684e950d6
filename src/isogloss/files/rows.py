"""Files as rows: JSON, JSON lines, CSV, TSV and Parquet, gzipped or not, each row with its line number."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import polars as pl

from ..errors import BadData, IsoglossError
from .encodings import wide_encoding

Row = tuple[int, dict[str, Any]]
Checked = tuple[int, dict[str, Any], bool]
OnBadRow = Callable[[BadData], None]
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
MOST_BYTES = 2_000_000_000
SMALL = 32_000_000  # bytes that any packed file may unpack to
RATIO = 100  # a larger file may unpack to at most RATIO times its size
MOST_ROWS = 5_000_000  # of a Parquet file, which may hold a row in less than a bit
DEEP = 100  # brackets in a line from which on its nesting is looked at
SURROGATE = re.compile("[\ud800-\udfff]")
_CHANGED: ContextVar[set[str] | None] = ContextVar("changed", default=None)


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
        rows = _json_lines(path, bad)
    elif kind in (".csv", ".tsv"):
        rows = _separated(path, bad, delimiter="\t" if kind == ".tsv" else ",")
    elif kind == ".parquet":
        rows = _parquet(path)
    else:
        raise BadData(path, None, f"unknown format '{kind}'. Use one of {', '.join(SUFFIXES)}, gzipped or not.")
    for number, row, normal in rows:
        try:
            yield number, row if normal else clean(row)
        except UnicodeError:
            bad(BadData(path, number, "not UTF-8. Save the file as UTF-8 and read it again."))
        except RecursionError:
            bad(BadData(path, number, "nested too deeply."))


def read_json(path: Path) -> Any:
    """The file's JSON value; a NaN or an infinity is refused."""
    try:
        raw = read_bytes(path)
        _check_encoding(path, raw[:64])
        return json.loads(raw.decode("utf-8-sig", "surrogateescape"), parse_constant=_refuse_constant)
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
    """Whether a line, and so each text that stands in it as it is, needs no cleaning."""
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


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """The open file, unpacked when its name ends in `.gz`, and how many bytes it may give."""
    try:
        size = path.stat().st_size
        packed = path.name.lower().endswith(".gz")
        with gzip.open(path) if packed else path.open("rb") as file:
            yield file, min(MOST_BYTES, max(SMALL, RATIO * size)) if packed else max(MOST_BYTES, size)  # type: ignore[misc]
    except FileNotFoundError as error:
        raise IsoglossError(f"No such file: {path}.") from error
    except IsADirectoryError as error:
        raise IsoglossError(f"{path} is a folder, not a file.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise BadData(path, None, f"cannot be read ({error}).") from error


def _too_large(path: Path, most: int) -> BadData:
    if most < MOST_BYTES:
        return BadData(path, None, f"unpacks to more than {RATIO} times its size. Unpack it yourself if that is right.")
    return BadData(path, None, f"unpacks to more than {most:,} bytes. Split it into smaller files.")


def _check_encoding(path: Path, head: bytes) -> None:
    wide = wide_encoding(head)
    if wide is not None:
        raise BadData(path, None, f"the file is in {wide}. Save it as UTF-8 and read it again.")


def _lines(path: Path, *, newline: str) -> Iterator[str]:
    """The file's lines; bytes that are not UTF-8 become lone surrogates, which `clean` refuses row by row."""
    with _opened(path) as (file, most):
        _check_encoding(path, file.read(64))
        file.seek(0)
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline=newline)
        left = most
        while line := text.readline(left + 1):
            left -= len(line)
            if left < 0:
                raise _too_large(path, most)
            yield line


def _refuse_constant(name: str) -> float:
    raise ValueError(f"'{name}' is not a number")


def _json_lines(path: Path, bad: OnBadRow) -> Iterator[Checked]:
    decode = json.JSONDecoder(parse_constant=_refuse_constant).decode
    for number, line in enumerate(_lines(path, newline="\n"), 1):
        if not line.strip():
            continue
        try:
            row = decode(line)
        except (ValueError, RecursionError) as error:
            bad(BadData(path, number, f"not JSON: {getattr(error, 'msg', error)}."))
            continue
        if isinstance(row, dict):
            flat = line.count("{") + line.count("[") < DEEP and "\\u" not in line
            yield number, row, flat and _is_normal(line)
        else:
            bad(BadData(path, number, "a line must be a JSON object with an item's fields."))


def _separated(path: Path, bad: OnBadRow, *, delimiter: str) -> Iterator[Checked]:
    reader = csv.reader(_lines(path, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
        if len(header) == 1 and "\t" in header[0] and delimiter == ",":  # named .csv, separated by tabs
            yield from _separated(path, bad, delimiter="\t")
            return
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
    """Standard error is shut meanwhile: for some broken files polars prints a traceback before it raises."""
    saved, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nothing)


def _parquet(path: Path) -> Iterator[Checked]:
    raw = read_bytes(path)
    try:
        with _silenced_stderr():
            count = pl.scan_parquet(io.BytesIO(raw)).select(pl.len()).collect().item()
            table = pl.read_parquet(io.BytesIO(raw)) if count <= MOST_ROWS else pl.DataFrame()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeError) as error:
        raise BadData(path, None, "not a Parquet file, or a broken one.") from error
    if count > MOST_ROWS:
        raise BadData(path, None, f"has {count:,} rows; at most {MOST_ROWS:,} are read. Split it into smaller files.")
    for number, row in enumerate(table.iter_rows(named=True), 1):
        yield number, row, False
