"""Our own long table of labels: one row per item, question and annotator."""

from pathlib import Path

from ...errors import BadData, IsoglossError
from ...files.rows import read_rows
from ..labels import NEEDED, SCHEMA, LabelLayout, LabelTable, make_labels, place_tag


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has the columns of our own long table."""
    return columns >= set(NEEDED)


def parse(path: Path, language: str | None) -> LabelTable:
    """A file in our own layout; a row that names no language has the one that is given."""
    rows = []
    for _, row in read_rows(path):
        values = {name: None if row.get(name) is None else str(row[name]) for name in SCHEMA}
        tag = values["language"] or language
        rows.append({**values, "language": place_tag(tag) if tag else None})
    try:
        return make_labels(rows)
    except IsoglossError as error:
        raise BadData(path, None, str(error)) from error


label_layout = LabelLayout(recognise, parse)
