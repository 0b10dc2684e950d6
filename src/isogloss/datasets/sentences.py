"""Single sentences of two groups, as `isogloss data build split` writes them: one candidate per item, its role the group."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.rows import OnBadRow
from ..files.sources import Dataset, parse_rows, row_language, row_text
from ..items import Candidate, Item

TAGS = ("groups", "corpus", "english")
GROUPS = ("group", "gender")  # what the columns are called here, and in other people's files
TEXTS = ("text", "text_detokenised")


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has a text and the group it belongs to."""
    return bool(columns & set(GROUPS)) and bool(columns & set(TEXTS)) and not columns & {"context", "candidates"}


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """The sentences of a file; `language` is used where the rows do not name one."""
    return parse_rows(path, lambda row: _item(row, language), bad=bad)


def _item(row: Mapping[str, Any], language: str | None) -> Item:
    group = row_text(row, _column(row, GROUPS))
    name = row_text(row, "id") if "i" not in row else f"{group}-{row['i']}"
    return Item(
        id=name,
        dataset=str(row.get("dataset") or "sentences"),
        language=row_language(row, language),
        category=str(row.get("category") or "gender"),
        candidates=(Candidate(f"{name}-{group}", group, row_text(row, _column(row, TEXTS))),),
        cluster=name,
        tags={"task": "sentence"} | {key: str(row[key]) for key in TAGS if row.get(key)},
    )


def _column(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if row.get(name)), names[0])


dataset = Dataset(
    title="Sentences of two groups",
    summary="Single sentences of two groups (female, male), as `isogloss data build split` writes them.",
    licence="that of the corpus",
    citation="Kaneko et al. (2022), Gender Bias in Masked Language Models for Multiple Languages.",
    url="docs/how-to/pairs.md",
    recognise=recognise,
    parse=parse,
    columns=("group", "text"),
)
