"""The catalogue of published data: where each source is, what it is, and the content that must be read from it."""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .. import languages, registry
from ..items import Item

FILE = Path(__file__).parent.parent / "data" / "catalogue.toml"
ITEMS, SCORES = "items", "scores"
COMMIT = re.compile(r"/[0-9a-f]{40}/")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One published file: its language, its address, its size in bytes (0: unknown), its SHA-256 and its layout.

    A file with a layout of its own is converted once; others are stored as they are.
    """

    language: str
    address: str
    size: int = 0
    sha256: str | None = None
    layout: str | None = None
    stored: str = ""  # its name here, where several files of a source have one name

    @property
    def name(self) -> str:
        """The name under which the file is stored: its own, unless others have it too."""
        return self.stored or self.address.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Source:
    """A published source: `kind` says whether it holds items or scores, `reader` is the data set that reads it.

    `contents` has per language the number of items and the hash of their content as the reader makes them; `hub` is a gated data set of the hub.
    """

    name: str
    title: str
    licence: str
    citation: str
    page: str
    files: tuple[SourceFile, ...] = ()
    kind: str = ITEMS
    reader: str = ""
    faults: tuple[str, ...] = ()
    contents: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    hub: str | None = None
    tags: tuple[str, ...] = ()  # the languages of a source without files
    warning: str = "It contains stereotypes, some of them offensive."

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that it has, by tag."""
        return tuple(dict.fromkeys(file.language for file in self.files)) or self.tags

    def folder(self, language: str) -> Path:
        """Where its files in a language are stored."""
        return languages.home() / "data" / self.name / language

    def is_pinned(self, language: str) -> bool:
        """Whether the addresses of a language name a commit, so that what they give cannot change."""
        return all(COMMIT.search(file.address) for file in self.files if file.language == language)

    def size(self, language: str | None = None) -> int:
        """The bytes of all its files, or of those in a language."""
        return sum(file.size for file in self.files if language in (None, file.language))


@cache
def sources() -> dict[str, Source]:
    """All sources of the catalogue by name."""
    blocks = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: _source(name, block) for name, block in blocks.items()}


def data_names() -> list[str]:
    """The names of all data that can be read by name."""
    return sorted({*registry.names("dataset"), *sources()})


def find_source(name: str) -> Source | None:
    """The source of that name, with hyphens or underscores; none if the catalogue has no such name."""
    return sources().get(name.replace("-", "_"))


def _source(name: str, block: dict[str, Any]) -> Source:
    """A source from its block; the files are listed by place, with the address that they have in common."""
    facts: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in block.items() if key != "parts"
    }
    facts["contents"] = {tag: (number, content) for tag, (number, content) in block.get("contents", {}).items()}
    files = tuple(
        SourceFile(
            language,
            part["address"].replace("{file}", path),
            size,
            next(iter(sha256), None),
            part.get("layout"),
            path.replace("/", "_") if part.get("folders") else "",
        )
        for part in block.get("parts", [])
        for path, language, size, *sha256 in part["files"]
    )
    return Source(name, files=files, **facts)


def content_hash(items: Iterable[Item]) -> str:
    """The SHA-256 of what items say: ids, contexts, roles and texts, whatever their order and the layout of their file."""
    rows = sorted(
        [
            item.id,
            item.language,
            item.context or "",
            *sorted([candidate.role, candidate.text] for candidate in item.candidates),
        ]
        for item in items
    )
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()
