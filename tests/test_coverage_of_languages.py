"""Coverage of languages: what there is, what is missing, and sheets for reviewers."""

from __future__ import annotations

import pytest

from isogloss.corpora.pronoun_preservation import has_pronoun
from isogloss.corpora.wordlists import load_toml
from isogloss.coverage import count_templates, cover_language
from isogloss.templates.checks import REVIEW, review_rows
from isogloss.translate.sheets import read_sheet, write_sheet


def test_a_language_says_what_it_has_and_what_is_missing():
    found = cover_language("sw")
    assert (found.templates, found.prompts, found.words, found.names) == (True, True, True, True)
    sizes = {"adjective_gendered": 22, "adjective_negative": 14, "gender": 2}
    assert found.vocabularies == sizes | {"nationality": 30, "profession": 23, "religion": 6}
    assert (found.missing, found.reviewed) == (("data",), ())
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
