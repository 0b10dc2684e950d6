"""Coverage of languages: what there is, what is missing, and sheets for reviewers."""

from __future__ import annotations

import shutil
import unicodedata
from pathlib import Path

import pytest

from isogloss.annotation.sheets import SheetForm, read_sheet, write_sheet
from isogloss.annotation.speaker_rows import KINDS_CHECKED, review_rows
from isogloss.annotation.template_review import REVIEW, apply_review, guide_lines, read_review, review_as_text
from isogloss.corpora.pronoun_preservation import has_pronoun
from isogloss.coverage import count_templates, cover_language
from isogloss.errors import IsoglossError
from isogloss.templates.lexicon import FOLDER, bundled_languages, read_lexicon
from isogloss.word_lists import load_toml
from support.offenders import for_every


def test_a_language_says_what_it_has_and_what_is_missing():
    found = cover_language("sw")
    assert (found.templates, found.prompts, found.words, found.names) == (True, True, True, True)
    sizes = {"adjective_gendered": 22, "adjective_negative": 14, "gender": 2}
    assert found.vocabularies == sizes | {"nationality": 30, "profession": 23, "religion": 6}
    assert (found.missing, found.reviewed) == ((), ())
    assert cover_language("ig").missing == ("template sets", "prompts", "gender words", "given names", "data")
    assert count_templates("sw") == (11, 11428)


def test_no_vocabulary_claims_a_review_that_it_did_not_have():
    assert {tag: cover_language(tag).reviewed for tag in bundled_languages() if cover_language(tag).reviewed} == {}


@pytest.mark.slow
def test_a_review_sheet_has_every_form_and_sentences_of_each_template(tmp_path):
    rows = review_rows("he")
    forms = [row for row in rows if row["kind"] == "form"]
    assert {"gender", "profession", "nationality", "religion"} < {row["where"] for row in forms}
    assert {"id": "doctor", "text": "רופאה", "features": "fem sg ind"}.items() <= next(
        row for row in forms if row["text"] == "רופאה"
    ).items()
    assert len({row["id"] for row in rows if row["kind"] == "sentence"}) == 50
    path = write_sheet(tmp_path / "he.csv", rows, form=SheetForm(REVIEW, rtl=True))
    assert [row["text"] for _, row in read_sheet(path)] == [row["text"] for row in rows]


@pytest.mark.parametrize(
    ("language", "text", "pronoun"),
    [
        ("hi", "मैंने उसने कहा।", "he"),
        ("mr", "तिने सांगितले.", "she"),
        ("bn", "তিনি এসেছেন।", "she"),
        ("vi", "Cô ấy đến rồi.", "she"),
    ],
)
def test_pronouns_with_vowel_signs_are_found(language, text, pronoun):
    assert has_pronoun(text, pronoun, forms=load_toml("pronouns.toml")[language])


@pytest.mark.parametrize("text", ["Anh nhanh tay lên.", "Một cử chỉ thanh tao.", "Cô tan làm lúc sáu giờ."])
def test_vietnamese_pronouns_are_whole_syllables(text):
    forms = load_toml("pronouns.toml")["vi"]
    assert not any(has_pronoun(text, pronoun, forms=forms) for pronoun in ("he", "she"))


def test_a_filled_sheet_corrects_a_folder_and_records_who_reviewed_what(tmp_path):
    folder = Path(shutil.copytree(FOLDER / "fi", tmp_path / "fi"))
    rows = [row for row in review_rows("fi", folder=folder, kinds=("form",)) if row["where"] == "religion"]
    rows[0] |= {"text fix": "kristillinen", "reviewer": "Aino"}
    rows[1] |= {"verdict": "good", "reviewer": "Aino", "stands for": "often members of the state church"}
    path = write_sheet(tmp_path / "fi.csv", rows, form=SheetForm(REVIEW))
    review = read_review(path, review_rows("fi", folder=folder, kinds=("form",)))
    assert apply_review(review, read_lexicon("fi", folder), folder=folder) == 1
    corrected = read_lexicon("fi", folder).vocabularies["religion"]
    assert corrected.terms["christian"].lemma == "kristillinen"
    assert corrected.reviewed == "Aino (2 of 12 forms)"
    assert review_as_text(review, applied=True).splitlines()[:2] == [
        "religion: Aino reviewed 2 forms",
        "corrected: religion, christian, sg nom: kristitty → kristillinen",
    ]


def test_a_sheet_never_changes_what_ships(tmp_path):
    shipped = {path: path.read_bytes() for path in (FOLDER / "fi").glob("*.toml")}
    folder = tmp_path / "own"
    folder.mkdir()
    shutil.copy(FOLDER / "fi" / "sets.toml", folder)
    rows = [row for row in review_rows("fi", folder=folder, kinds=("form",)) if row["where"] == "religion"]
    rows[0] |= {"text fix": "kristillinen", "verdict": "fixed", "reviewer": "Aino"}
    path = write_sheet(tmp_path / "fi.csv", rows, form=SheetForm(REVIEW))
    lexicon = read_lexicon("fi", folder)
    try:
        assert apply_review(read_review(path, review_rows("fi", kinds=("form",))), lexicon, folder=folder) == 1
        assert {path: path.read_bytes() for path in shipped} == shipped
    finally:
        for path, content in shipped.items():
            path.write_bytes(content)
    assert read_lexicon("fi", folder).vocabularies["religion"].terms["christian"].lemma == "kristillinen"


@pytest.mark.slow
def test_a_sheet_of_other_forms_or_without_verdicts_is_refused(tmp_path):
    row = {"kind": "form", "where": "religion", "id": "hindu", "text": "hindulainen", "verdict": "good"}
    path = write_sheet(tmp_path / "fi.csv", [row], form=SheetForm(REVIEW))
    with pytest.raises(
        IsoglossError, match=r"line 2: 'hindulainen' is not the text of 'hindu' in religion any more; write a new sheet"
    ):
        read_review(path, review_rows("fi", kinds=("form",)))
    path = write_sheet(tmp_path / "empty.csv", review_rows("fi")[:2], form=SheetForm(REVIEW))
    with pytest.raises(IsoglossError, match=r"No row of .*empty.csv has a verdict. Fill in the column 'verdict'"):
        read_review(path, [])


@pytest.mark.slow
def test_a_sheet_says_what_every_text_should_mean():
    rows = review_rows("tr", per_template=1)
    assert {row["kind"] for row in rows} == {"form", "wording", "sentence", "prompt", "item", "name", "pronoun"}
    silent = {row["kind"] for row in rows if not row["english"]}
    assert silent == {"name"}
    sentence = next(row for row in rows if row["id"] == "gender-profession-w4")
    assert (sentence["text"][:2], sentence["english"].split()[0]) == ("O ", "The")


def test_all_bad_cells_of_a_sheet_are_named_at_once(tmp_path):
    rows = review_rows("fi", kinds=("form", "wording", "prompt"))
    first = {kind: next(row for row in rows if row["kind"] == kind) for kind in ("form", "wording", "prompt")}
    bad = [
        first["form"] | {"verdict": "fine"},
        first["form"] | {"verdict": "fixed"},
        first["prompt"] | {"text fix": "Onko tämä stereotypia?"},
        first["wording"] | {"text fix": "{gender} on {profession."},
        first["wording"] | {"verdict": "good"},
    ]
    path = write_sheet(tmp_path / "fi.xlsx", bad, form=SheetForm(REVIEW))
    with pytest.raises(IsoglossError) as caught:
        read_review(path, rows)
    assert str(caught.value) == (
        f"{path}: line 2: the verdict 'fine' is none of good, fixed, drop, unsure; "
        "line 3: the verdict is 'fixed', but 'text fix' is empty; "
        "line 4: the prompt must keep {statement}, {first}, {second}; "
        "line 5: '{gender} on {profession.' is no template (the template ends before its '{' is closed.)"
        ". Correct these cells and read it again."
    )


def test_a_corrected_wording_is_written_into_its_set_only(tmp_path):
    shutil.copy(FOLDER / "fi" / "sets.toml", tmp_path)
    rows = [
        row for row in review_rows("fi", kinds=("wording",)) if row["text"].startswith("Monet {gender:pl} ovat {adj")
    ]
    rows[0] |= {"text fix": "Monet {gender:pl} ovat hyvin {adjective_negative:pl par}."}
    path = write_sheet(tmp_path / "fi.xlsx", rows, form=SheetForm(REVIEW))
    review = read_review(path, review_rows("fi", folder=tmp_path, kinds=KINDS_CHECKED))
    assert apply_review(review, read_lexicon("fi", tmp_path), folder=tmp_path) == 1
    texts = [row["text"] for row in review_rows("fi", folder=tmp_path, kinds=("wording",))]
    assert sum("hyvin {adjective_negative:pl par}" in text for text in texts) == 1


@for_every(tag=bundled_languages())
def test_the_guide_is_in_the_language_and_names_every_verdict(tag):
    lines = "\n".join(guide_lines(tag))
    assert lines.endswith("a new issue in the project's repository.")
    assert all(lines.count(verdict) >= (1 if tag == "en" else 2) for verdict in ("good", "fixed", "drop", "unsure"))
    assert unicodedata.is_normalized("NFC", lines)


def test_what_a_speaker_fills_in_fits_the_screen(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    rows = review_rows("he", kinds=("prompt",))
    path = write_sheet(tmp_path / "he.xlsx", rows, form=SheetForm(REVIEW, rtl=True, guide=guide_lines("he")))
    book = openpyxl.load_workbook(path)
    sheet = book["review"]
    shown = REVIEW[: REVIEW.index("where")]
    assert sum(sheet.column_dimensions[chr(ord("A") + index)].width for index in range(len(shown))) <= 180
    assert sheet["D2"].alignment.readingOrder == 2  # the text is Hebrew
    assert sheet["B2"].alignment.readingOrder == 1  # its meaning is English
    assert book["how to"]["A1"].value == guide_lines("he")[0]


def test_a_folder_that_is_empty_begins_with_what_ships(tmp_path):
    rows = [row for row in review_rows("fi", kinds=("form",)) if row["where"] == "religion"][:1]
    rows[0] |= {"verdict": "Good ", "reviewer": "Aino"}
    path = write_sheet(tmp_path / "fi.csv", rows, form=SheetForm(REVIEW))
    review = read_review(path, review_rows("fi", kinds=("form",)))
    folder = tmp_path / "own"
    assert apply_review(review, read_lexicon("fi"), folder=folder) == 0
    assert sorted(entry.name for entry in folder.iterdir()) == ["religion.toml", "sets.toml"]
