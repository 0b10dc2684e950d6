"""Sealed files: written in one step; a table carries the hash of its own bytes, and which run it belongs to."""

import csv
import fcntl
import hashlib
import io
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import polars as pl

from .errors import BadData, CannotWrite, IsoglossError
from .storage import RemotePath, StoragePath

SEAL = "isogloss:sha256:"
BLANK_HASH = "0" * 64
LARGE = 1_000_000  # bytes


def write_file(path: StoragePath, content: bytes) -> None:
    """Write a file in one step: by rename on this machine, in one PUT behind an address."""
    if isinstance(path, RemotePath):
        path.write_bytes(content)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}~")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise CannotWrite(path, error) from error
    finally:
        with suppress(OSError):  # in a read-only folder this fails too, and hides the first error
            temporary.unlink(missing_ok=True)


def write_csv(path: Path, rows: Iterable[Iterable[str]], *, encoding: str = "utf-8") -> None:
    """Write a table in one step, so that what a person filled in is never half lost."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    write_file(path, text.getvalue().encode(encoding))


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(folder, error) from error


def append_lines(path: Path, lines: str) -> None:
    """Add lines to a file and wait until the disk has them; a line that was torn before is ended first."""
    try:
        with path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            torn = bool(size) and file.read(1) != b"\n"
            file.write(b"\n" * torn + lines.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CannotWrite(path, error) from error


def move_file(path: StoragePath, target: StoragePath) -> None:
    """Move a file onto another, in one step where the store can; a second process finds it done."""
    try:
        path.replace(target)  # type: ignore[arg-type]  # both lie in one run's folder
    except OSError as error:
        if not (isinstance(error, FileNotFoundError) and target.exists()):
            raise CannotWrite(target, error) from error


def write_table(path: StoragePath, rows: pl.DataFrame, *, owner: str) -> None:
    """Write a Parquet file with its owner and the hash of its own bytes, counted with the hash's 64 digits set to zero."""
    buffer = io.BytesIO()
    rows.write_parquet(buffer, metadata={"checksum": f"{SEAL}{BLANK_HASH} {owner}"})
    raw = buffer.getvalue()
    start = raw.rindex(SEAL.encode()) + len(SEAL)
    write_file(path, raw[:start] + hashlib.sha256(raw).hexdigest().encode() + raw[start + len(BLANK_HASH) :])


def read_table(
    path: StoragePath, what: str, *, owners: tuple[str, ...], advice: str, left_out: tuple[str, ...] = ()
) -> pl.DataFrame:
    """The table but for columns that are `left_out`, when its bytes are whole and its owner is one of these.

    The hash is compared before anything is decoded, since polars may abort on bytes that were altered.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadData(
            str(path), None, f"{what} cannot be read ({error.strerror or 'No such file'}). {advice}"
        ) from error
    before, seal, after = raw.rpartition(SEAL.encode())
    blank = before + seal + BLANK_HASH.encode() + after[len(BLANK_HASH) :]
    if not seal or hashlib.sha256(blank).hexdigest().encode() != after[: len(BLANK_HASH)]:
        raise BadData(str(path), None, f"{what} is broken or was altered. {advice}")
    try:
        named = pl.read_parquet_metadata(io.BytesIO(raw)).get("checksum", "").partition(" ")[2]
        columns = [name for name in pl.read_parquet_schema(io.BytesIO(raw)) if name not in left_out]
        table = _decode(raw, columns)
    except pl.exceptions.PolarsError as error:
        raise BadData(str(path), None, f"{what} is not a table that can be read. {advice}") from error
    if named not in owners:
        seen, wanted = (re.sub("([0-9a-f]{8})[0-9a-f]{56}", r"\1", text) for text in (named or "none", owners[0]))
        raise BadData(str(path), None, f"{what} belongs to another run (it says '{seen}', not '{wanted}'). {advice}")
    return table


def _decode(raw: bytes, columns: list[str]) -> pl.DataFrame:
    """These columns of a Parquet file; of a large one, one by one and each in one piece, so that memory is used again."""
    if len(raw) < LARGE:
        return pl.read_parquet(io.BytesIO(raw), columns=columns)
    return pl.DataFrame([pl.read_parquet(io.BytesIO(raw), columns=[name])[name].rechunk() for name in columns])


@contextmanager
def claim_file(path: Path) -> Iterator[bool]:
    """Whether this process alone has the file while this is open; a process that died has none.

    Where the file system has no locks, every process has it.
    """
    try:
        file = path.open("w")
    except OSError as error:
        raise CannotWrite(path, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:
            pass
        yield True


def lock_folder(folder: Path, *, readable: bool, shared: bool = False) -> IO[str] | None:
    """The lock of a folder, held until it is closed; none where the file system has no locks.

    A folder that cannot be written has none either, if it is enough to read it. A `shared` lock keeps out those that are not.
    """
    try:
        file = (folder / ".lock").open("w")
    except OSError as error:
        if readable:
            return None
        raise CannotWrite(folder, error) from error
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise IsoglossError(f"Another process is working on {folder}. Wait for it, or stop it.") from error
    except OSError:  # as some network folders are: two writers do no harm
        file.close()
        return None
    for left in () if shared else folder.glob(".*~"):  # what a process that was killed had begun to write
        left.unlink(missing_ok=True)
    return file
