"""Storage paths: folders and files on this machine, or behind an address such as s3://bucket/runs that fsspec can reach."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import IsoglossError, require

ADDRESS = re.compile(r"([a-zA-Z][\w+.-]+):/+(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class RemotePath:
    """A file or folder behind an address; it does what the store asks of a path, and writes a file in one PUT."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(f"{self.url}/{name}")

    @property
    def name(self) -> str:
        return self.url.rpartition("/")[2]

    @property
    def parent(self) -> RemotePath:
        return RemotePath(self.url.rpartition("/")[0])

    def with_name(self, name: str) -> RemotePath:
        """The neighbor of this name."""
        return self.parent / name

    def resolve(self) -> RemotePath:
        """Itself: an address is never relative."""
        return self

    def exists(self) -> bool:
        """Whether something is there."""
        with self._reached() as (system, path):
            return bool(system.exists(path))

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Make the folder, where folders are a thing of their own."""
        with self._reached() as (system, path):
            system.makedirs(path, exist_ok=True)

    def read_bytes(self) -> bytes:
        """The whole content."""
        with self._reached() as (system, path):
            return bytes(system.cat_file(path))

    def read_text(self, *, encoding: str) -> str:
        """The whole content as text."""
        return self.read_bytes().decode(encoding)

    def write_bytes(self, content: bytes) -> None:
        """Put the whole content there in one step: no reader ever sees half of it."""
        with self._reached() as (system, path):
            system.pipe_file(path, content)

    def replace(self, target: RemotePath) -> None:
        """Move it: a copy, then a removal, where the store knows no renaming."""
        with self._reached() as (system, path), target._reached() as (_, other):
            system.mv(path, other)

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove it."""
        with self._reached() as (system, path):
            if system.exists(path) or not missing_ok:
                system.rm_file(path)

    def iterdir(self) -> list[RemotePath]:
        """What lies in this folder, found in one request."""
        with self._reached() as (system, path):
            return [self / str(entry).rstrip("/").rpartition("/")[2] for entry in system.ls(path, detail=False)]

    def rglob(self, name: str) -> list[RemotePath]:
        """The files of this name in the folder and below it."""
        with self._reached() as (system, path):
            files = [str(file) for file in system.find(path)]
            start = str(path).rstrip("/")
        return [
            RemotePath(self.url + file[file.index(start) + len(start) :]) for file in files if file.endswith("/" + name)
        ]

    @contextmanager
    def _reached(self) -> Iterator[tuple[Any, str]]:
        """The file system and the path in it; any failure except a missing file is raised as one sentence."""
        try:
            yield require("fsspec", extra="ray").core.url_to_fs(self.url, use_listings_cache=False)
        except (FileNotFoundError, IsoglossError):
            raise
        except Exception as error:  # each kind of store has its own errors
            why = str(error) or type(error).__name__
            raise IsoglossError(
                f"Cannot reach {self.url} ({why}). Is the address right, and may you read and write there?"
            ) from error


StoragePath = Path | RemotePath


def as_path(path: str | Path | RemotePath) -> StoragePath:
    """The place that a path or an address names; a path that lost one of an address's slashes is an address still."""
    if isinstance(path, RemotePath):
        return path
    address = ADDRESS.fullmatch(str(path))
    if not address:
        return Path(path)
    scheme, rest = address.groups()
    if scheme.lower() in ("file", "local"):
        return Path("/" + rest)
    return RemotePath(f"{scheme.lower()}://{rest.rstrip('/')}")
