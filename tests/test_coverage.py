"""Coverage of languages: what there is, what is missing, and sheets for reviewers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from isogloss.corpora.pronoun_preservation import has_pronoun
from isogloss.corpora.wordlists import load_toml
from isogloss.coverage import count_templates, cover_language
from isogloss.errors import IsoglossError
from isogloss.templates.lexicon import FOLDER, read_lexicon
from isogloss.translate.sheets import read_sheet, write_sheet
from isogloss.translate.template_review import REVIEW, apply_review, read_review, review_as_text, review_rows


def test_a_language_says_what_it_has_and_what_is_missing():
    found = cover_language("sw")
    assert (found.templates, found.prompts, found.words, found.names) == (True, True, True, True)
    sizes = {"adjective_gendered": 22, "adjective_negative": 14, "gender": 2}
    assert found.vocabularies == sizes | {"nationality": 30, "profession": 23, "religion": 6}
    assert (found.missing, found.reviewed) == ((), ())
    assert cover_language("ig").missing == ("template sets", "prompts", "gender words", "given names", "data")
    assert count_templates("sw") == (11, 11428)


def test_no_vocabulary_claims_a_review_that_it_did_not_have():
    from isogloss.templates.lexicon import bundled_languages

    assert {tag: cover_language(tag).reviewed for tag in bundled_languages() if cover_language(tag).reviewed} == {}


def test_a_review_sheet_has_every_form_and_sentences_of_each_template(tmp_path):
    rows = review_rows("he")
    forms = [row for row in rows if row["kind"] == "form"]
    assert {"gender", "profession", "nationality", "religion"} < {row["where"] for row in forms}
    assert {"id": "doctor", "text": "רופאה", "features": "fem sg ind"}.items() <= next(
        row for row in forms if row["text"] == "רופאה"
    ).items()
    assert len({row["id"] for row in rows if row["kind"] == "sentence"}) == 50
    path = write_sheet(tmp_path / "he.csv", rows, columns=REVIEW, rtl=True)
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
    rows = [row for row in review_rows("fi", folder=folder) if row["where"] == "religion"]
    rows[0] |= {"text fix": "kristillinen", "reviewer": "Aino"}
    rows[1] |= {"verdict": "good", "reviewer": "Aino", "stands for": "often members of the state church"}
    path = write_sheet(tmp_path / "fi.csv", rows, columns=REVIEW)
    review = read_review(path, read_lexicon("fi", folder))
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
    rows = [row for row in review_rows("fi", folder=folder) if row["where"] == "religion"]
    rows[0] |= {"text fix": "kristillinen", "verdict": "fixed", "reviewer": "Aino"}
    path = write_sheet(tmp_path / "fi.csv", rows, columns=REVIEW)
    lexicon = read_lexicon("fi", folder)
    try:
        assert apply_review(read_review(path, lexicon), lexicon, folder=folder) == 1
        assert {path: path.read_bytes() for path in shipped} == shipped
    finally:
        for path, content in shipped.items():
            path.write_bytes(content)
    assert read_lexicon("fi", folder).vocabularies["religion"].terms["christian"].lemma == "kristillinen"


def test_a_sheet_of_other_forms_or_without_verdicts_is_refused(tmp_path):
    row = {"kind": "form", "where": "religion", "id": "hindu", "text": "hindulainen", "verdict": "good"}
    path = write_sheet(tmp_path / "fi.csv", [row], columns=REVIEW)
    with pytest.raises(
        IsoglossError, match=r"line 2: 'hindulainen' is no form of 'hindu' in religion. Write a new sheet."
    ):
        read_review(path, read_lexicon("fi"))
    path = write_sheet(tmp_path / "empty.csv", review_rows("fi")[:2], columns=REVIEW)
    with pytest.raises(IsoglossError, match=r"No row of .*empty.csv has a verdict. Fill in the column 'verdict'"):
        read_review(path, read_lexicon("fi"))
