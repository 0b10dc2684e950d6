"""Single sentences of two groups, as `isogloss data split` writes them: one candidate per item, its role the group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import BadData, IsoglossError
from ..items import Candidate, Item
from ..languages import standard_tag
from ..rows import Bad, read_rows
from ..sources import Dataset

TAGS = ("groups", "corpus", "english")


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has a text and the group it belongs to."""
    return {"id", "group", "text"} <= columns


def parse(path: Path, language: str | None, *, bad: Bad) -> Iterator[Item]:
    """The sentences of a file; `language` is used where the rows do not name one."""
    for line, row in read_rows(path, bad):
        try:
            yield _item(row, language)
        except ValueError as error:
            bad(BadData(path, line, str(error)))


def _item(row: Mapping[str, Any], language: str | None) -> Item:
    name, group = _text(row, "id"), _text(row, "group")
    tag = row.get("language") or language
    if not isinstance(tag, str):
        raise ValueError("the row names no language; add a 'language' column or say --language.")
    try:
        tag = standard_tag(tag)
    except IsoglossError as error:
        raise ValueError(str(error)) from error
    return Item(
        id=name,
        dataset=str(row.get("dataset") or "sentences"),
        language=tag,
        category=str(row.get("category") or "gender"),
        candidates=(Candidate(f"{name}-{group}", group, _text(row, "text")),),
        cluster=name,
        tags={"task": "sentence"} | {key: str(row[key]) for key in TAGS if row.get(key)},
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise ValueError(f"'{name}' is missing or empty.")
    return str(value)


dataset = Dataset(
    title="Sentences of two groups",
    summary="Single sentences, each of one of two groups (female, male): what isogloss data split writes.",
    licence="that of the corpus",
    citation="Kaneko et al. (2022), Gender Bias in Masked Language Models for Multiple Languages.",
    url="docs/pairs.md",
    recognise=recognise,
    parse=parse,
)
