"""Reading labels from a file: the layout is recognised by its columns."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ..errors import BadData, IsoglossError, UnknownName
from ..files.rows import read_rows
from . import gest, kobbq, seegull
from .labels import NEEDED, SCHEMA, LabelTable, make_labels, place_tag


@dataclass(frozen=True, slots=True)
class LabelLayout:
    """A layout of files with labels: whether columns are its own, and how a file is read."""

    recognise: Callable[[frozenset[str]], bool]
    parse: Callable[[Path, str | None], LabelTable]


def is_long_table(columns: frozenset[str]) -> bool:
    """Whether a file has the columns of our own long table."""
    return columns >= set(NEEDED)


def parse_long_table(path: Path, language: str | None) -> LabelTable:
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


LAYOUTS = {
    "seegull": LabelLayout(seegull.recognise, seegull.parse),
    "kobbq": LabelLayout(kobbq.recognise, kobbq.parse),
    "gest": LabelLayout(gest.recognise, gest.parse),
    "labels": LabelLayout(is_long_table, parse_long_table),
}


def read_labels(path: Path | str, *, layout: str | None = None, language: str | None = None) -> LabelTable:
    """The labels of a CSV, TSV, XLSX, JSON, JSON lines or Parquet file; the layout is recognised unless it is named."""
    file = Path(path)
    if layout is not None and layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    columns = frozenset(name for _, row in islice(read_rows(file), 1) for name in row)
    fitting = [name for name, known in LAYOUTS.items() if known.recognise(columns) and layout in (None, name)]
    if not fitting:
        named = f"the layout '{layout}'" if layout else f"any of the layouts {', '.join(LAYOUTS)}"
        raise BadData(file, 1, f"the columns {', '.join(sorted(columns)) or '(none)'} do not fit {named}.")
    return LAYOUTS[fitting[0]].parse(file, language)
