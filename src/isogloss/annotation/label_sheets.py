"""Sheets for labels: rows for people to judge, with a drop-down and instructions in their language, and back as labels."""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import BadData, IsoglossError, UnknownName
from ..items import STEREOTYPE, Items
from ..languages import describe
from .labels import LabelTable, join_labels, make_labels, place_tag
from .sheets import SheetForm, check_not_filled_in, read_sheet, write_sheet

GUIDE = Path(__file__).parent.parent / "data" / "label_guide.toml"
QUESTIONS: Mapping[str, tuple[str, ...]] = {  # what is asked, and the labels that it may have
    "stereotype": ("stereotype", "no stereotype", "unsure"),
    "verdict": ("yes", "no", "refused", "unclear"),
}
SHOWN = ("text", "prompt", "answer")  # what a person reads
FILLED = ("label", "comment", "annotator", "background")
LAST = ("question", "language", "category", "target", "cluster", "candidate", "item")  # what only the program needs
NEEDED = ("item", "question", "label")


@dataclass(frozen=True, slots=True)
class FilledSheets:
    """What people wrote into sheets: labels, the annotators without their names, and comments by item."""

    labels: LabelTable
    annotators: pl.DataFrame
    comments: tuple[tuple[str, str], ...]


@cache
def _guides() -> Mapping[str, Any]:
    return tomllib.loads(GUIDE.read_text(encoding="utf-8"))


def guide_of(language: str, question: str) -> tuple[list[str], dict[str, str]]:
    """The instructions and the words of the drop-down in a language; in English where there are none in it."""
    guides = _guides()
    own = guides.get(language) or guides.get(language.split("-")[0]) or guides["en"]
    both = [own] if own is guides["en"] else [own, guides["en"]]
    lines = [text for part in both for text in (part["fill"], part[question], part["warning"], "")]
    return lines, {label: own["labels"][label] for label in QUESTIONS[question]}


def known_words(question: str) -> dict[str, str]:
    """The label behind each word of a drop-down, in all languages."""
    words = {label: label for label in QUESTIONS[question]}
    for guide in _guides().values():
        words |= {guide["labels"][label].casefold(): label for label in QUESTIONS[question]}
    return words


def item_rows(items: Items, *, role: str = STEREOTYPE) -> list[dict[str, str]]:
    """A row for each item: whether its candidate with this role is a stereotype where the reviewer lives."""
    rows = []
    for item in items:
        for candidate in (c for c in item.candidates if c.role == role):
            context = f"{item.context} " if item.context and "BLANK" not in item.context else ""
            facts = {"category": item.category or "", "target": str(item.tags.get("target", ""))}
            facts |= {"cluster": item.cluster or item.id, "language": item.language, "item": item.id}
            rows.append(facts | {"text": f"{context}{candidate.text}", "question": "stereotype"})
    return rows


def write_label_sheet(path: Path, rows: Sequence[Mapping[str, str]], *, language: str | None = None) -> Path:
    """Write rows with an empty label for one person; the drop-down and the instructions are in the language of the rows."""
    if not rows:
        raise IsoglossError("There is nothing to label.")
    questions = {row["question"] for row in rows}
    if len(questions) > 1 or not questions <= QUESTIONS.keys():
        raise UnknownName("question of a sheet", ", ".join(sorted(questions)), QUESTIONS)
    tags = {row["language"] for row in rows}
    tag = language or (tags.pop() if len(tags) == 1 else "en")
    question = questions.pop()
    guide, words = guide_of(tag, question)
    shown = [name for name in SHOWN if any(row.get(name) for row in rows)]
    last = [name for name in LAST if any(row.get(name) for row in rows)]
    rtl = describe(tag.split("-")[0]).direction == "rtl"
    form = SheetForm([*shown, *FILLED, *last], rtl, guide, {"label": list(words.values())})
    check_not_filled_in(path, form)
    return write_sheet(path, rows, form=form)


# ---- back


def read_label_sheets(paths: Sequence[Path]) -> FilledSheets:
    """The labels of filled sheets as one table; several people may return the same sheet, and nothing is left out.

    A row without a label was not read. An annotator without a name is called after the file; two files of the same name
    are two annotators. Names are replaced by numbers.
    """
    tables, comments, backgrounds = [], list[tuple[str, str]](), dict[str, str]()
    stems: Counter[str] = Counter()
    for path in paths:
        stems[path.stem] += 1
        default = path.stem if stems[path.stem] == 1 else f"{path.stem} ({stems[path.stem]})"
        rows = list(_read_rows(path, default=default))
        for row in rows:
            if row["comment"]:
                comments.append((row["item"], row["comment"]))
            if row["background"]:
                backgrounds[row["annotator"]] = row["background"]
        tables.append(make_labels([row for row in rows if row["label"]]))
    labels = join_labels(tables)
    if not len(labels):
        raise IsoglossError("No row of the sheets has a label. Fill in the column 'label'.")
    return hide_names(labels, backgrounds=backgrounds, comments=comments)


def _read_rows(path: Path, *, default: str) -> list[dict[str, str]]:
    rows, name = [], ""
    for line, cells in read_sheet(path):
        missing = [column for column in NEEDED if column not in cells]
        if missing:
            raise BadData(path, 1, f"a sheet of labels needs the column '{missing[0]}'. Write the sheet again.")
        name = cells.get("annotator", "") or name  # once is enough
        row = {column: cells.get(column, "") for column in (*NEEDED, "comment", "background", *LAST, "text")}
        row["language"] = place_tag(row["language"]) if row["language"] else ""
        row["annotator"] = name or default
        if row["label"]:
            row["label"] = _label(path, line, row=row)
        rows.append(row)
    return [row | {"annotator": row["annotator"] if row["annotator"] != default or not name else name} for row in rows]


def _label(path: Path, line: int, *, row: Mapping[str, str]) -> str:
    if row["question"] not in QUESTIONS:
        return row["label"]
    words = known_words(row["question"])
    label = words.get(row["label"].casefold())
    if label is None:
        listed = ", ".join(QUESTIONS[row["question"]])
        raise BadData(
            path, line, f"the label is '{row['label']}'. Use one of {listed}, or their words in the drop-down."
        )
    return label


def hide_names(
    labels: LabelTable, *, backgrounds: Mapping[str, str] | None = None, comments: Sequence[tuple[str, str]] = ()
) -> FilledSheets:
    """The labels with numbers for annotators' names, and a table of the annotators: languages, labels, background."""
    table, known = labels.table, backgrounds or {}
    names = table["annotator"].drop_nulls().unique(maintain_order=True).to_list()
    numbers = {name: f"annotator {number}" for number, name in enumerate(names, 1)}
    hidden = table.with_columns(pl.col("annotator").replace_strict(numbers, default=None, return_dtype=pl.String))
    counts = (
        hidden.filter(pl.col("annotator").is_not_null())
        .group_by("annotator", maintain_order=True)
        .agg(languages=pl.col("language").drop_nulls().unique(maintain_order=True).str.join(", "), labels=pl.len())
    )
    described = {numbers[name]: text for name, text in known.items() if name in numbers}
    column = pl.col("annotator").replace_strict(described, default="", return_dtype=pl.String).alias("background")
    return FilledSheets(LabelTable(hidden), counts.with_columns(column), tuple(comments))
