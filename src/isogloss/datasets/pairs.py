"""Our own layout of pairs: one row with two sentences, as JSON lines, CSV, TSV or Parquet."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.cell_values import several
from ..files.layout import LISTS, ORIGIN, PAIR_TAGS
from ..files.reading import remark
from ..files.rows import OnBadRow
from ..files.sources import Dataset, parse_rows, row_language, row_text
from ..items import ANTI_STEREOTYPE, STEREOTYPE, Candidate, Item

FLAT = {STEREOTYPE: "stereotype", ANTI_STEREOTYPE: "anti_stereotype"}
TAGS = (*PAIR_TAGS, *ORIGIN)


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has two sentences, or candidates of a category, and no context."""
    two = {"candidates", "category"} <= columns or set(FLAT.values()) <= columns
    return two and not columns & {"context", "unrelated"}


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """The pairs of a file; `language` is used where the rows do not name one."""
    return parse_rows(path, lambda row: _item(path, row, language=language), bad=bad, category="category")


def _item(path: Path, row: Mapping[str, Any], *, language: str | None) -> Item:
    name = row_text(row, "id")
    if row.get("target") and not row.get("cluster"):
        remark(path, "no column 'cluster', so every row is its own cluster, also rows with the same target")
    cells = row.get("candidates") or [{"role": role, "text": row_text(row, column)} for role, column in FLAT.items()]
    if not isinstance(cells, list) or len(cells) != 2 or not all(isinstance(cell, dict) for cell in cells):
        raise ValueError("'candidates' must be a list of two objects with 'role' and 'text'.")
    roles = [row_text(cell, "role") for cell in cells]
    if roles[0] == roles[1]:
        raise ValueError(f"both sentences have the role '{roles[0]}'.")
    pairs = zip(roles, cells, strict=True)
    return Item(
        id=name,
        dataset=str(row.get("dataset") or "pairs"),
        language=row_language(row, language),
        category=row_text(row, "category"),
        candidates=tuple([Candidate(f"{name}-{role}", role, row_text(cell, "text")) for role, cell in pairs]),
        cluster=str(row.get("cluster") or name),
        tags={"task": "pair"}
        | {key: several(row[key]) if key in LISTS else str(row[key]) for key in TAGS if row.get(key)},
    )


dataset = Dataset(
    title="Pairs",
    summary="Your own pairs of sentences.",
    licence="that of the user's own file",
    citation="The user's own file.",
    url="docs/reference/data-formats.md",
    recognise=recognise,
    parse=parse,
    columns=tuple(FLAT.values()),
)
