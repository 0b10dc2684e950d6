"""The speaker's kits are fresh, and a filled one is read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from isogloss.annotation.sheets import SheetForm, read_sheet, write_sheet
from isogloss.annotation.speaker_rows import review_rows
from isogloss.annotation.template_review import REVIEW, read_review

DOCS = Path(__file__).parent.parent / "docs"
sys.path.insert(0, str(DOCS))
from make_kit import COUNT, FOLDER, LANGUAGES, choose_rows  # noqa: E402


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_kit_has_the_sentences_that_ship(language):
    cells = [
        {name: row.get(name, "") for name in ("text", "english", "id")}
        for _, row in read_sheet(FOLDER / f"{language}.xlsx")
    ]
    wanted = [{name: row.get(name, "") for name in ("text", "english", "id")} for row in choose_rows(language)]
    assert cells == wanted  # else: python docs/make_kit.py
    assert len(cells) == COUNT


def test_a_filled_kit_is_read(tmp_path):
    rows = [{**row, "verdict": "good", "reviewer": "Ana"} for row in choose_rows("de")]
    sheet = write_sheet(tmp_path / "de.xlsx", rows, form=SheetForm(REVIEW, False, []))
    assert len(read_review(sheet, review_rows("de", kinds=("item",))).rows) == COUNT
