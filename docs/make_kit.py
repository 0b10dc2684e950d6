"""Write the speaker's kits: python docs/make_kit.py. Each is a spreadsheet of ten sentences with instructions on a second tab."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from isogloss.annotation.sheets import SheetForm, write_sheet
from isogloss.annotation.speaker_rows import review_rows
from isogloss.annotation.template_review import REVIEW, guide_lines

FOLDER = Path(__file__).parent / "speakers" / "kit"
LANGUAGES = ("de", "es", "fr", "tr")  # those of the demonstration set, beside English
COUNT = 10


def choose_rows(language: str) -> list[Mapping[str, str]]:
    """Ten sentences of the demonstration set, spread over its targets."""
    rows = review_rows(language, kinds=("item",))
    return [rows[number * len(rows) // COUNT] for number in range(COUNT)]


def main() -> int:
    """Write all kits."""
    FOLDER.mkdir(exist_ok=True)
    for language in LANGUAGES:
        form = SheetForm(REVIEW, False, guide_lines(language))
        print(write_sheet(FOLDER / f"{language}.xlsx", choose_rows(language), form=form))
    return 0


if __name__ == "__main__":
    sys.exit(main())
