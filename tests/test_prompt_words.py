"""Wording: every language that can ask has all its prompts and words, and what is missing is named."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pytest

from isogloss import languages
from isogloss.chat.prompt_words import LISTS, PROMPTS, prompt_words_of
from isogloss.errors import IsoglossError
from isogloss.methods.ask import fill_prompt
from support.offenders import for_every

SIXTEEN = ["ar", "bn", "zh", "zh-Hant", "nl", "en", "fr", "de", "hi", "it", "mr", "pl", "pt-BR", "ro", "ru", "es"]
ASKING = [tag for tag in languages.tags() if "ask" in languages.get(tag).sections]
each = for_every(tag=ASKING)
GOOD = """tag = "ig"
name = "Test"
autonym = "test"
direction = "ltr"
script = "Latn"
spaces = true
[ask.prompts]
stereotype = "{statement} S? {first} or {second}"
agree = "{statement} A? {first} or {second}"
disagree = "{statement} D? {first} or {second}"
[ask.answers]
""" + "\n".join(f'{name} = ["{name}"]' for name in LISTS)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Writes a language of the user's own, which is forgotten afterwards."""
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path))
    path = tmp_path / "languages" / "ig.toml"
    path.parent.mkdir()

    def write(text: str) -> str:
        path.write_text(text, encoding="utf-8")
        languages.clear_cache()
        return str(path)

    yield write
    languages.clear_cache()


def test_the_sixteen_languages_can_ask():
    assert set(SIXTEEN) <= set(ASKING)


@each
def test_a_language_has_three_different_prompts_and_all_lists(tag):
    wording = prompt_words_of(languages.get(tag))
    assert len(set(wording.prompts.values())) == len(PROMPTS) == len(wording.prompts)
    assert set(wording.answers) == set(LISTS)


@each
def test_a_word_stands_in_one_row_of_forms(tag):
    rows = prompt_words_of(languages.get(tag)).answers["forms"]
    words = [word for row in rows for word in row.split()]
    assert sorted(word for word, count in Counter(words).items() if count > 1) == []


@each
def test_words_are_nfc_lower_case_without_blanks_at_their_ends_and_each_once(tag):
    for words in prompt_words_of(languages.get(tag)).answers.values():
        assert all(word == word.strip() == word.lower() for word in words)
        assert all(unicodedata.is_normalized("NFC", word) for word in words)
        assert len(words) == len(set(words))


@each
def test_no_word_means_both_yes_and_no(tag):
    answers = prompt_words_of(languages.get(tag)).answers
    assert not set(answers["yes"]) & set(answers["no"])
    assert not set(answers["agree"]) & set(answers["disagree"])


@each
def test_a_prompt_names_both_answers_in_either_order(tag):
    wording = prompt_words_of(languages.get(tag))
    yes, no = wording.words
    for name in PROMPTS:
        texts = [fill_prompt(wording, name, order=order, statement="Xyz.") for order in ("yes-no", "no-yes")]
        assert texts[0] != texts[1]
        assert all("Xyz." in text and yes in text and no in text and "{" not in text for text in texts)


def test_a_language_with_everything_is_read(own):
    own(GOOD)
    assert prompt_words_of(languages.get("ig")).words == ("yes", "no")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "[ask.answers]",
            "[ask.words]",
            "the table [ask.answers] is missing.",
        ),
        (
            "[ask.answers]",
            "sterotype = 'x'\n[ask.words]",
            "the table [ask.answers] is missing; ask.prompts has no 'sterotype'; it has stereotype, agree, disagree.",
        ),
        (
            "{statement} A?",
            "A?",
            "the prompt ask.prompts.agree must hold {statement}, {first}, {second}, each once.",
        ),
        ('yes = ["yes"]', "yes = []", "ask.answers.yes must be a list of words, and not empty."),
        ('refusals = ["refusals"]', "", "ask.answers.refusals must be a list of words, and not empty."),
        (
            "disagree = ",
            "dissent = ",
            "ask.prompts has no 'dissent'; it has stereotype, agree, disagree; the prompt ask.prompts.disagree must hold {statement}, {first}, {second}, each once.",
        ),
    ],
)
def test_what_is_missing_is_named(own, old, new, problem):
    path = own(GOOD.replace(old, new, 1))
    with pytest.warns(UserWarning, match="A language file is skipped"), pytest.raises(IsoglossError) as caught:
        languages.get("ig")
    assert str(caught.value) == f"{path}: {problem}"
