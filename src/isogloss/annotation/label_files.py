"""Files of labels of any kind: filled sheets, our long table and published layouts, several of them as one table."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from ..errors import IsoglossError
from ..files.layout import write_atomically
from .data_statement import write_statement
from .label_sheets import FilledSheets, hide_names, read_label_sheets
from .labels import join_labels, read_labels, write_labels
from .sheets import FORMATS, read_sheet

SHEET = {"item", "question", "label", "comment", "annotator"}  # what tells a filled sheet from a table of labels


def read_label_files(paths: Sequence[Path], *, language: str | None = None) -> FilledSheets:
    """The labels of all files, with numbers for annotators' names; the layout of each is recognized."""
    if not paths:
        raise IsoglossError("No file of labels was given.")
    sheets = [path for path in paths if _is_sheet(path)]
    others = [read_labels(path, language=language) for path in paths if path not in sheets]
    if not others:
        return read_label_sheets(sheets)
    if not sheets:
        return hide_names(join_labels(others))
    filled = read_label_sheets(sheets)
    named = hide_names(join_labels([filled.labels, *others]))
    return FilledSheets(named.labels, named.annotators, filled.comments)


def _is_sheet(path: Path) -> bool:
    if path.suffix.lower() not in FORMATS:
        return False
    return any(row.keys() >= SHEET for _, row in islice(read_sheet(path), 1))


def write_label_files(filled: FilledSheets, out: Path) -> list[Path]:
    """Write labels, annotators without names and the data statement, next to each other; gives their paths."""
    stem = out.with_suffix("")
    paths = [write_labels(filled.labels, out)]
    people, statement = stem.with_name(f"{stem.name}.annotators.csv"), stem.with_name(f"{stem.name}.statement.md")
    paths.append(write_atomically(people, filled.annotators.write_csv()))
    paths.append(write_atomically(statement, write_statement(filled.labels, annotators=filled.annotators)))
    if filled.comments:
        rows = "".join(f"* {item}: {' '.join(text.split())}\n" for item, text in filled.comments)
        paths.append(write_atomically(stem.with_name(f"{stem.name}.comments.md"), rows))
    return paths
