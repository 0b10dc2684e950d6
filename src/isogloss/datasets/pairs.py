"""Our own layout of pairs: one row with two sentences, as JSON lines, CSV, TSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import BadData, IsoglossError
from ..items import ANTI_STEREOTYPE, STEREOTYPE, Candidate, Item
from ..languages import standard_tag
from ..layout import ORIGIN, PAIR_TAGS
from ..rows import Bad, read_rows
from ..sources import Dataset

FLAT = {STEREOTYPE: "stereotype", ANTI_STEREOTYPE: "anti_stereotype"}
TAGS = (*PAIR_TAGS, *ORIGIN)


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has an id, a category and two sentences, and no context."""
    two = "candidates" in columns or set(FLAT.values()) <= columns
    return {"id", "category"} <= columns and two and "context" not in columns


def parse(path: Path, language: str | None, *, bad: Bad) -> Iterator[Item]:
    """The pairs of a file; `language` is used where the rows do not name one."""
    for line, row in read_rows(path, bad):
        try:
            yield _item(row, language)
        except ValueError as error:
            bad(BadData(path, line, str(error)))


def _item(row: Mapping[str, Any], language: str | None) -> Item:
    name = _text(row, "id")
    tag = row.get("language") or language
    if not isinstance(tag, str):
        raise ValueError("the row names no language; add a 'language' column or say --language.")
    try:
        tag = standard_tag(tag)
    except IsoglossError as error:
        raise ValueError(str(error)) from error
    cells = row.get("candidates") or [{"role": role, "text": row.get(column)} for role, column in FLAT.items()]
    if not isinstance(cells, list) or len(cells) != 2 or not all(isinstance(cell, Mapping) for cell in cells):
        raise ValueError("'candidates' must be a list of two objects with 'role' and 'text'.")
    roles = [_text(cell, "role") for cell in cells]
    if roles[0] == roles[1]:
        raise ValueError(f"both sentences have the role '{roles[0]}'.")
    found = zip(roles, cells, strict=True)
    return Item(
        id=name,
        dataset=str(row.get("dataset") or "pairs"),
        language=tag,
        category=_text(row, "category"),
        candidates=tuple(Candidate(f"{name}-{role}", role, _text(cell, "text")) for role, cell in found),
        cluster=str(row.get("cluster") or name),
        tags={"task": "pair"} | {key: str(row[key]) for key in TAGS if row.get(key)},
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise ValueError(f"'{name}' is missing or empty.")
    return str(value)


dataset = Dataset(
    title="Pairs",
    summary="Your own pairs of sentences: id, language, category, and stereotype and anti_stereotype or two candidates.",
    licence="that of the file",
    citation="The file's own.",
    url="docs/data-formats.md",
    recognise=recognise,
    parse=parse,
)
