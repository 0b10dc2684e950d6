"""Sheets for labels: what is written is read back in every language, several people may return the same sheet, names stay hidden."""

from __future__ import annotations

import numpy as np
import openpyxl
import pytest

import isogloss as ig
from isogloss.analysis.intervals import IntervalSettings
from isogloss.annotation.agreement import measure_agreement
from isogloss.annotation.data_statement import write_statement
from isogloss.annotation.label_files import read_label_files, write_label_files
from isogloss.annotation.label_sheets import (
    QUESTIONS,
    guide_of,
    item_rows,
    known_words,
    read_label_sheets,
    write_label_sheet,
)
from isogloss.annotation.labels import make_labels
from isogloss.annotation.sheets import SheetForm, read_sheet, write_sheet
from isogloss.errors import BadData, IsoglossError

LANGUAGES = ("ar-AE", "bn-IN", "de-DE", "en", "es-MX", "fr", "hi-IN", "ja-JP", "pt-BR", "tr", "fi")


def rows(language: str, *, count: int = 3, question: str = "stereotype") -> list[dict[str, str]]:
    return [{"text": f"text {n}", "item": f"i{n}", "question": question, "language": language} for n in range(count)]


def fill(path, labels, **cells):
    """The sheet with labels in its first rows."""
    lines = [row for _, row in read_sheet(path)]
    for row, label in zip(lines, labels, strict=False):
        row |= {"label": label, **cells}
    return write_sheet(path, lines, form=SheetForm(list(lines[0])))


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
@pytest.mark.parametrize("tag", LANGUAGES)
def test_a_sheet_in_any_language_is_filled_with_its_own_words_and_read_back(tmp_path, tag, kind):
    for question, labels in QUESTIONS.items():
        path = write_label_sheet(tmp_path / f"{question}.{kind}", rows(tag, count=4, question=question))
        fill(path, list(guide_of(tag, question)[1].values()))
        table = read_label_sheets([path]).labels.table
        assert table["label"].to_list() == list(labels)
        assert table["language"].unique().to_list() == [tag]


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_a_sheet_that_somebody_filled_in_is_never_replaced(tmp_path, kind):
    path = write_label_sheet(tmp_path / f"ana.{kind}", rows("en"))
    assert write_label_sheet(path, rows("en", count=2)) == path  # nobody has filled it in
    fill(path, ["yes"])
    with pytest.raises(IsoglossError) as error:
        write_label_sheet(path, rows("en"))
    assert str(error.value) == f"{path} exists already and is filled in. Give another name, or delete it first."
    assert next(read_sheet(path))[1]["label"] == "yes"
    other = tmp_path / "pairs.csv"
    other.write_text("stereotype,anti_stereotype\na,b\n", encoding="utf-8")
    with pytest.raises(IsoglossError, match="exists already and is not a sheet of these columns"):
        write_label_sheet(other, rows("en"))


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_word_of_a_drop_down_means_two_labels(question):
    for tag in LANGUAGES:
        for label, word in guide_of(tag, question)[1].items():
            assert known_words(question)[word.casefold()] == label
            assert "," not in word, "a drop-down is cut at commas"


def test_a_workbook_has_a_drop_down_and_instructions_in_the_language(tmp_path):
    path = write_label_sheet(tmp_path / "x.xlsx", rows("ar-AE"))
    book = openpyxl.load_workbook(path)
    assert "صورة نمطية" in book.worksheets[0].data_validations.dataValidation[0].formula1
    assert book.worksheets[1]["A1"].value.startswith("كل صف")


def test_two_people_return_the_same_sheet_and_nothing_is_lost(tmp_path):
    paths = []
    for who, labels in (("ana", ["stereotype", "unsure"]), ("luis", ["no stereotype", "unsure", "stereotype"])):
        (tmp_path / who).mkdir()
        path = write_label_sheet(tmp_path / who / "sheet.csv", rows("es-MX"))
        paths.append(fill(path, labels))
    filled = read_label_sheets(paths)
    assert len(filled.labels) == 5
    assert filled.annotators["labels"].to_list() == [2, 3]


def test_names_are_hidden_and_backgrounds_kept(tmp_path):
    path = write_label_sheet(tmp_path / "sheet.csv", rows("es-MX"))
    fill(path, ["stereotype"] * 3, annotator="Ana", background="Puebla", comment="hm")
    out = write_label_files(read_label_files([path]), tmp_path / "labels.csv")
    text = "".join(file.read_text(encoding="utf-8") for file in out)
    assert "Ana" not in text
    assert "annotator 1" in text
    assert "Puebla" in text
    assert "i0: hm" in text


def test_a_label_that_is_not_offered_is_named_with_its_line(tmp_path):
    path = fill(write_label_sheet(tmp_path / "x.csv", rows("en")), ["perhaps"])
    with pytest.raises(BadData, match=r"line 2: the label is 'perhaps'"):
        read_label_sheets([path])


def test_an_empty_sheet_says_so(tmp_path):
    path = write_label_sheet(tmp_path / "x.csv", rows("en"))
    with pytest.raises(IsoglossError, match="No row of the sheets has a label"):
        read_label_sheets([path])


def test_items_become_rows_about_their_stereotypes():
    items = ig.read("demo", language="en")
    made = item_rows(items)
    assert len(made) == len(items)
    assert made[0]["item"] == items[0].id


def test_a_data_statement_counts_labels_people_and_agreement():
    labels = make_labels(
        {
            "item": str(n),
            "question": "stereotype",
            "label": "yes" if n % 3 else "no",
            "annotator": who,
            "language": "es-MX",
        }
        for n in range(12)
        for who in ("x", "y")
    )
    text = write_statement(labels)
    assert "24 labels of 12 units, 2.0 each: yes 16, no 8" in text
    assert "2 annotators, whose names are not published" in text
    assert "| stereotype | es-MX | 1.000" in text


# ---- intervals over annotators


def crowd(*, people: int = 15, items: int = 60, named: bool = True):
    """People of whom some say yes more often than others, so that drawing other people matters."""
    rng = np.random.default_rng(0)
    habits = rng.uniform(0.2, 0.95, people)
    return make_labels(
        {
            "item": str(item),
            "question": "q",
            "annotator": f"p{who}" if named else None,
            "label": "yes" if rng.random() < habits[who] else "no",
        }
        for item in range(items)
        for who in rng.permutation(people)[:5]
    )


def test_intervals_over_both_are_wider_than_over_items():
    settings = IntervalSettings(resamples=400)
    widths = {}
    for over in ("items", "annotators", "both"):
        row = measure_agreement(crowd(), over=over, settings=settings)[0]
        assert row.alpha_low < row.alpha < row.alpha_high
        widths[over] = row.ac1_high - row.ac1_low
    assert widths["both"] > widths["items"]
    assert widths["both"] > widths["annotators"]


@pytest.mark.parametrize("labels", [crowd(people=6), crowd(named=False)])
def test_few_or_unnamed_annotators_cannot_be_drawn(labels):
    result = measure_agreement(labels, over="annotators", settings=IntervalSettings(resamples=100))
    assert (result[0].alpha_low, len(result.notes)) == (None, 1)
