"""Sheets: tables for people, as XLSX with drop-downs and right-to-left cells or as CSV, and back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..atomic_files import make_folder, write_csv
from ..errors import IsoglossError, require
from ..files.cell_values import guard_formula, legal_text, unguard_formula
from ..files.rows import read_rows
from ..files.workbooks import read_workbook

FORMATS = (".xlsx", ".csv")
VERDICTS = ("good", "fixed", "drop", "unsure")
ELICITED = ("template", "valid", "saying", "regions")  # asked of speakers about stereotypes with contrasts
VERDICT_COLUMNS = ("verdict", "comment", "reviewer")
ANSWERS = (*VERDICT_COLUMNS, "annotator", "background", "stands for", *ELICITED)  # and the columns that end in `fix`
MOST = 20  # problems of a sheet that are listed; more of them are one mistake made everywhere
WIDTH = 32
WIDTHS = {  # of a sheet for speakers: what they read and fill in is 180 wide, which a laptop shows without scrolling
    "id": 14, "kind": 10, "english": 32, "features": 12, "text": 38, "text fix": 36, "verdict": 10, "comment": 18,
    "stands for": 12, "reviewer": 12, "where": 14, "label": 16, "annotator": 14, "answer": 70, "background": 20,
}  # fmt: skip
LEFT = (
    "id",
    "task",
    "verdict",
    "problem",
    "kind",
    "english",
    "features",
    "where",
    "reviewer",
    "annotator",
)  # never right to left
GUIDE = (
    "One row is one item. Fill in the yellow columns and nothing else.",
    "verdict: good (nothing to change), fixed (you wrote a fix), drop (cannot be used), unsure (somebody else should look at it).",
    "fix columns: the whole text as it should be; leave them empty where nothing changes.",
    "A context keeps the word BLANK, in capitals, exactly once. Every word for BLANK must fit there.",
    "template: the sentence with a slot such as GENDER-PL for the group; see docs/how-to/templates.md.",
    "valid: yes if people know this stereotype where you live, else no; saying: yes if it is a fixed phrase; regions: where, by commas.",
    "background: what a reader should know about you (languages, region, age group); once is enough; it is published without your name.",
    "Content warning: the data contains stereotypes, some of them offensive.",
)


@dataclass(frozen=True, slots=True)
class SheetForm:
    """What a sheet looks like: its columns, whether its texts are written from right to left, and the instructions.

    `choices` are the columns with a drop-down and what it offers; a person fills in these, those of ANSWERS and fixes.
    """

    columns: Sequence[str]
    rtl: bool = False
    guide: Sequence[str] = GUIDE
    choices: Mapping[str, Sequence[str]] = field(default_factory=lambda: {"verdict": VERDICTS})

    def is_answer(self, name: str) -> bool:
        """Whether a person fills in the column."""
        return name in ANSWERS or name in self.choices or name.endswith("fix")


def write_sheet(path: Path, rows: Sequence[Mapping[str, str]], *, form: SheetForm) -> Path:
    """The path of the sheet, with these rows; in an XLSX file a reviewer's columns are yellow, and a tab has the guide."""
    if path.suffix.lower() not in FORMATS:
        raise IsoglossError(f"A sheet cannot be written as '{path.suffix}'. Use one of {', '.join(FORMATS)}.")
    make_folder(path.parent)
    if path.suffix.lower() == ".xlsx":
        book = _make_book(rows, form)
        _add_guide(book, form.guide, rtl=form.rtl)
        book.save(path)
        return path
    cells = [[guard_formula(legal_text(row.get(name, ""))) for name in form.columns] for row in rows]
    write_csv(path, [form.columns, *cells], encoding="utf-8-sig")
    return path


def check_not_filled_in(path: Path, form: SheetForm) -> None:
    """Refuse to replace a file that is not a sheet, or in which somebody has filled in a cell."""
    if not path.exists():
        return
    names = {name for name in form.columns if form.is_answer(name)}
    rows = list(read_sheet(path))
    is_sheet = all(names <= row.keys() for _, row in rows)
    filled = any(row[name].strip() for _, row in rows for name in names if is_sheet)
    if filled or not is_sheet:
        what = "is filled in" if filled else "is not a sheet of these columns"
        raise IsoglossError(f"{path} exists already and {what}. Give another name, or delete it first.")


def read_sheet(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a sheet with their line numbers, every cell as text."""
    if path.suffix.lower() == ".csv":
        for line, row in read_rows(path):
            yield line, {name: unguard_formula(str(value).strip()) for name, value in row.items()}
        return
    if path.suffix.lower() != ".xlsx":
        raise IsoglossError(f"A sheet cannot be read from '{path.suffix}'. Use one of {', '.join(FORMATS)}.")
    names, rows = read_workbook(path)
    for line, cells in rows:
        yield line, dict(zip(names, cells, strict=True))


def list_problems(problems: Sequence[tuple[int, str]]) -> str:
    """Rows of a sheet that cannot be used, by line, in one sentence."""
    listed = [f"line {line}: {problem}" for line, problem in problems[:MOST]]
    more = [f"and {len(problems) - MOST} more"] if len(problems) > MOST else []
    return "; ".join([*listed, *more]) + ". Correct these cells and read it again."


def _make_book(rows: Sequence[Mapping[str, str]], form: SheetForm) -> Any:
    openpyxl = require("openpyxl", extra="translate")
    styles = require("openpyxl.styles", extra="translate")
    validation = require("openpyxl.worksheet.datavalidation", extra="translate")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "review"
    sheet.append(list(form.columns))
    for row in rows:
        sheet.append([legal_text(row.get(name, "")) for name in form.columns])
    sheet.freeze_panes = "B2"
    yellow = styles.PatternFill("solid", start_color="FFF9C4")
    for index, name in enumerate(form.columns, 1):
        letter = openpyxl.utils.get_column_letter(index)
        sheet.column_dimensions[letter].width = WIDTHS.get(name, WIDTH)
        own = form.rtl and not name.startswith("source") and name not in LEFT
        look = styles.Alignment(
            wrap_text=True, vertical="top", readingOrder=2 if own else 1, horizontal="right" if own else None
        )
        for cell in sheet[letter]:
            cell.alignment = look
            cell.font = styles.Font(bold=cell.row == 1)
            if isinstance(cell.value, str) and cell.value.startswith("="):
                cell.data_type = "s"
            if form.is_answer(name):
                cell.fill = yellow
        if name in form.choices:
            listed = ",".join(form.choices[name])
            choice = validation.DataValidation(type="list", formula1=f'"{listed}"', allow_blank=True)
            choice.add(f"{letter}2:{letter}{max(len(rows) + 1, 2)}")
            sheet.add_data_validation(choice)
    return book


def _add_guide(book: Any, lines: Sequence[str], *, rtl: bool) -> None:
    """A second tab with the instructions; the first is the one that is read back."""
    styles = require("openpyxl.styles", extra="translate")
    guide = book.create_sheet("how to")
    for line in lines:
        guide.append([line])
    guide.column_dimensions["A"].width = 120
    for cell in guide["A"]:
        # 0: the direction follows from the first letter of the cell
        cell.alignment = styles.Alignment(wrap_text=True, vertical="top", readingOrder=0 if rtl else 1)
