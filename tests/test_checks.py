"""Checks: each finds what it says and lets pass what is good, and the report names every check."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.checks import (
    ALL,
    READING,
    check_items,
    checks_as_text,
    find_problems,
    language_checks,
    text_checks,
)
from isogloss.checks.candidates import token_gap
from isogloss.files.hub import on_message
from isogloss.files.sources import read
from isogloss.items import Candidate, Item, Items, Problem
from isogloss.studies.scoring_plan import notice_languages
from support.builders import triple

ROLES = ("stereotype", "anti-stereotype", "unrelated")
TAGS = ("en", "de", "fr", "tr", "fa", "ja", "xx")
KNOWN = {check.name: check for check in ALL}


def filled(context: str, *words: str, language: str = "en", term: str | None = None) -> Item:
    candidates = tuple(
        Candidate(f"c{i}", role, context.replace("BLANK", word), word)
        for i, (role, word) in enumerate(zip(ROLES, words, strict=True))
    )
    tags = {"task": "intrasentence"} | ({"target": term, "target_term": term} if term else {})
    return replace(triple("a"), context=context, candidates=candidates, language=language, tags=tags)


def sentences(*texts: str, context: str | None = "I met a nurse.") -> Item:
    candidates = tuple(Candidate(f"c{i}", role, text) for i, (role, text) in enumerate(zip(ROLES, texts, strict=False)))
    return replace(triple("a"), context=context, candidates=candidates)


def german(context: str, word: str = "Fisch") -> Item:
    return filled(context, word, "Haus", "Baum", language="de")


GOOD = filled("She is BLANK.", "kind", "rude", "fish")
SPANISH = "La enfermera del hospital siempre era muy BLANK con todos los pacientes."


@pytest.mark.parametrize(
    ("item", "check", "message"),
    [
        (filled("BLANK is BLANK.", "a", "b", "c"), "several_blanks", "the context has BLANK 2 times"),
        (filled("She is BLANK.", "a", "a", "c"), "equal_words", "stereotype and anti-stereotype are both 'a'"),
        (
            replace(filled("She is BLANK.", "a", "b", "c"), context="He is BLANK."),
            "sentence_differs",
            "the sentence is not the context with 'a' filled in",
        ),
    ],
)
def test_each_check_at_reading_finds_what_it_looks_for(item, check, message):
    assert find_problems([item]) == (Problem(check, "warning", "a", message, "en"),)


# For each check: an item that it finds, what it says, and one that it lets pass.
CASES = {
    "several_blanks": (filled("BLANK is BLANK.", "a", "b", "c"), "the context has BLANK 2 times", GOOD),
    "equal_words": (filled("BLANK.", "a", "a", "c"), "stereotype and anti-stereotype are both 'a'", GOOD),
    "sentence_differs": (
        replace(GOOD, context="He is BLANK."),
        "the sentence is not the context with 'kind' filled in",
        GOOD,
    ),
    "no_blank": (
        filled("She is here.", "a", "b", "c"),
        "the candidates are words, but the context has no BLANK",
        sentences("A.", "B.", "C."),
    ),
    "glued_blank": (german("Er ist der BLANKSTEN."), "'BLANKSTEN.' is more than BLANK", german('Er sagte "BLANK!"')),
    "word_punctuation": (
        filled("BLANK.", "kind.", "rude", "fish"),
        "the word 'kind.' has punctuation",
        filled("BLANK.", "well-read", "d'accord", "fish"),
    ),
    "template_differs": (
        replace(GOOD, tags={**GOOD.tags, "template": "GENDER-PL sing."}),
        "the sentence is not the template 'GENDER-PL sing.' with its slots filled",
        GOOD,
    ),
    "equal_unrelated": (filled("BLANK.", "a", "b", "b"), "anti-stereotype and unrelated are both 'b'", GOOD),
    "target_missing": (
        filled("Sie ist BLANK.", "a", "b", "c", term="Arzt"),
        "'Arzt' is not in the text",
        filled("Die Ärzte und der arzt BLANK.", "a", "b", "c", term="Arzt"),
    ),
    "article_clash": (
        german("Das ist ein BLANK.", "Zeitung"),
        "'ein Zeitung' does not agree",
        german("Das ist eine BLANK.", "Zeitung"),
    ),
    "wrong_language": (
        filled(SPANISH, "amable", "grosera", "pez"),
        "looks like 'es', not 'en'",
        filled(SPANISH, "amable", "grosera", "pez", language="es"),
    ),
    "wrong_script": (
        filled("Вона BLANK.", "добра", "зла", "риба", language="de"),
        "is written in Cyrillic letters, not in those of 'de'",
        filled("Вона BLANK.", "добра", "зла", "риба", language="uk"),
    ),
    "special_tokens": (
        filled("She is BLANK [MASK].", "a", "b", "c"),
        "'[MASK]' is a special token of some models",
        filled("She is BLANK [sic] <3.", "a", "b", "c"),
    ),
    "quotes": (
        filled('Bursa"da BLANK var.', "a", "b", "c", language="tr"),
        "a word contains a double quote: 'Bursa\"da'",
        filled('He said "BLANK" to me.', "a", "b", "c"),
    ),
    "spaces": (
        filled("She  is BLANK.", "a", "b", "c"),
        "unusual spaces: 'She  is BLANK.'",
        filled("Est-elle BLANK\u00a0?", "a", "b", "c", language="fr"),
    ),
    "odd_characters": (
        filled("She\u200b is BLANK.", "a", "b", "c"),
        "an invisible or unusual character, U+200B",
        filled("می\u200cخواهد BLANK", "الف", "ب", "پ", language="fa"),
    ),
    "method_unfit": (
        replace(sentences("He left.", "She left.", context="A BLANK."), tags={"task": "intersentence"}),
        "continuation and nsp cannot score it",
        replace(sentences("He left.", "She left.", context="It rained."), tags={"task": "intersentence"}),
    ),
    "not_normal": (
        filled("Cafe\u0301 BLANK.", "a", "b", "c"),
        "not in normal form C: 'Cafe\u0301 BLANK.'",
        filled("Café BLANK.", "a", "b", "c"),
    ),
    "mixed_scripts": (
        filled("Sh\u0435 is BLANK.", "a", "b", "c"),
        "'Sh\u0435' mixes cyrillic and latin letters",
        filled("Она любит IT и BLANK.", "a", "б", "в", language="ru"),
    ),
    "sentence_case": (filled("she is BLANK.", "a", "b", "c"), "begins with a small letter: 'she is BLANK.'", GOOD),
    "length_gap": (
        filled("BLANK.", "fat", "very well educated", "c"),
        "'very well educated' has 18 characters, 'fat' 3",
        GOOD,
    ),
    "several_words": (filled("BLANK.", "fat", "not fat", "c"), "'fat' and 'not fat' have 1 and 2 words", GOOD),
    "not_minimal": (
        sentences("Men are strong.", "Some of us went home early", context=None),
        "the two sentences share 0% of their words",
        sentences("Men are strong.", "Women are strong.", context=None),
    ),
}


@pytest.mark.parametrize("name", [name for name in KNOWN if name != "duplicate"])
def test_every_check_finds_its_example_and_lets_a_good_one_pass(name):
    wrong, message, right = CASES[name]
    assert [problem.message for problem in find_problems([wrong], (KNOWN[name],))] == [message]
    assert find_problems([right], (KNOWN[name],)) == ()


def test_a_duplicate_is_found_once_and_only_in_the_same_language():
    items = [
        GOOD,
        replace(GOOD, id="b"),
        replace(GOOD, id="c", language="de"),
        replace(GOOD, id="d", context="X BLANK"),
    ]
    found = find_problems(items, (KNOWN["duplicate"],))
    assert [(one.item, one.message) for one in found] == [("b", "the same as 'a'")]


@pytest.mark.parametrize(
    ("context", "clash"),
    [
        ('BLANK"a gitti.', 'BLANK"a'),
        ("BLANK'a gitti.", "BLANK'a"),
        ("Ein BLANKER Mann.", "BLANKER"),
        ("Ein BLANK-Mann.", "BLANK-Mann."),
        ("Ein Nicht-BLANK.", "Nicht-BLANK"),
        ("Oft.BLANK", "Oft.BLANK"),
    ],
)
def test_what_touches_blank_is_named(context, clash):
    (found,) = find_problems([german(context)], (KNOWN["glued_blank"],))
    assert found.message == f"'{clash}' is more than BLANK"


@pytest.mark.parametrize("context", ["«BLANK»", "(BLANK)", "“BLANK,” said he", "¿BLANK?", "l'BLANK est là", "BLANK..."])
def test_punctuation_and_elision_may_touch_blank(context):
    assert find_problems([german(context)], (KNOWN["glued_blank"],)) == ()


@pytest.mark.parametrize(
    ("language", "context", "word", "clashes"),
    [
        ("en", "She is a BLANK woman.", "intelligent", True),
        ("en", "She is an BLANK woman.", "intelligent", False),
        ("en", "It is a BLANK day.", "unique", False),
        ("es", "Vi a la BLANK.", "perro", True),
        ("es", "Vi el BLANK.", "problema", False),
        ("es", "Tocó la BLANK.", "mano", False),
        ("fr", "C'est le BLANK.", "ami", True),
        ("fr", "C'est l'BLANK.", "ami", False),
        ("it", "Ecco il BLANK.", "casa", True),
        ("pt-BR", "Ele tem uma BLANK.", "carro", True),
        ("nl", "Dit is de BLANK.", "meisje", False),
        ("nl", "Dit is de BLANK.", "hondje", False),
        ("nl", "Dit is de BLANK.", "katje", True),
        ("el", "Ο BLANK.", "κοριτσάκι", True),
        ("tr", "Bu bir BLANK.", "araba", False),
    ],
)
def test_articles_clash_by_the_rules_of_the_language(language, context, word, clashes):
    item = filled(context, word, word, word, language=language)
    assert bool(find_problems([item], (KNOWN["article_clash"],))) is clashes


@given(context=st.text(), words=st.lists(st.text(min_size=1), min_size=3, max_size=3), tag=st.sampled_from(TAGS))
def test_no_check_stumbles_over_any_text(context, words, tag):
    items = [filled(f"{context}BLANK", *words, language=tag, term=context or "x"), sentences(*words)]
    assert {problem.check for problem in find_problems(items, ALL)} <= set(KNOWN)


def test_token_gaps_are_found_with_a_tokenizer():
    check = token_gap(len)
    found = find_problems([filled("BLANK.", "ab", "abcdef", "c")], (check,))
    assert [one.message for one in found] == ["'ab' has 2 tokens, 'abcdef' 6"]
    assert find_problems([filled("BLANK.", "abc", "abcde", "c")], (check,)) == ()


def test_turkish_capitals_are_compared_as_turkish():
    item = filled("İspanyollar BLANK.", "a", "b", "c", language="tr", term="ispanyol")
    assert find_problems([item], (KNOWN["target_missing"],)) == ()


def test_the_language_is_not_checked_without_the_library_and_the_report_says_so(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "py3langid" else real(name))
    (found,) = [one for one in check_items(Items((CASES["wrong_language"][0],))) if one["check"] == "wrong_language"]
    message = "not checked: the library 'py3langid' is missing: pip install \".[translate]\" in your copy of Isogloss"
    assert (found["count"], found["note"]) == (0, message)
    assert message in checks_as_text([found])


def test_only_the_item_in_another_language_is_named():
    right = filled("They all said that she was very BLANK to them.", "kind", "rude", "fish")
    items = [*[right] * 10, CASES["wrong_language"][0], right]
    assert [index for index, _ in KNOWN["wrong_language"].search(items)] == [10]


@given(st.text(alphabet="a .,!?;:…\t\n\u00a0\u202f", max_size=8), st.sampled_from(["en", "fr"]))
def test_odd_spaces_are_those_that_the_patterns_find(text, tag):
    before = text_checks.FRENCH if tag == "fr" else text_checks.SPACE_BEFORE
    odd = bool(text_checks.SPACES.search(text) or before.search(text))
    item = replace(sentences(text, "b", "c", context=None), language=tag)
    assert (text_checks.spaces(item) is not None) == odd


def test_a_duplicate_is_found_whatever_the_order_of_its_candidates():
    first = sentences("They left.", "They stayed.", "They sang.")
    turned = replace(first, id="b", candidates=first.candidates[::-1])
    swapped = sentences("They stayed.", "They left.", "They sang.")
    items = [first, turned, replace(swapped, id="c")]
    assert list(KNOWN["duplicate"].search(items)) == [(1, "the same as 'a'")]


def test_a_wrong_language_is_said_before_scoring():
    said = []
    token = on_message.set(said.append)
    items = Items(tuple(replace(CASES["wrong_language"][0], id=str(index)) for index in range(3)))
    assert len(notice_languages(items).problems) == 3
    on_message.reset(token)
    assert said == ["Warning: most items look like 'es', not 'en'. Is `language` right?"]


def notices(items: list[Item]) -> list[str]:
    said: list[str] = []
    token = on_message.set(said.append)
    notice_languages(Items(tuple(replace(item, id=str(index)) for index, item in enumerate(items))))
    on_message.reset(token)
    return said


def test_a_file_in_another_script_is_said_before_scoring_however_short_its_sentences_are(monkeypatch):
    wrong = [CASES["wrong_script"][0]] * 40
    expected = ["Warning: most items are written in Cyrillic letters, not in those of 'de'. Is `language` right?"]
    assert notices(wrong) == expected
    monkeypatch.setattr(language_checks, "no_identifier", lambda: "not here")
    assert notices(wrong) == expected
    assert notices([replace(item, language="sr") for item in wrong]) == []  # Serbian is written in both


def test_a_part_of_the_items_in_another_language_is_said_too():
    right = filled("They all said that she was very BLANK to them in the evening.", "kind", "rude", "fish")
    text = "Warning: 20 of 40 sampled items look like 'es', not 'en'. Is every item in the language that it says?"
    assert notices([right] * 20 + [CASES["wrong_language"][0]] * 20) == [text]
    assert notices([right] * 38 + [CASES["wrong_language"][0]] * 2) == []


def test_sentences_that_are_equal_are_found_without_words_too():
    found = find_problems([sentences("They left.", "They left.", "They left.")])
    assert [problem.check for problem in found] == ["equal_words"]


def test_the_report_names_every_check_also_those_that_found_nothing():
    odd = filled("BLANK is BLANK.", "aa", "bb", "cc")
    items = Items((odd,), (Problem("unreadable", "error", "line 3", "x.csv, line 3: bad."), *find_problems([odd])))
    found = {one["check"]: (one["severity"], one["count"], one["items"]) for one in check_items(items)}
    assert list(found) == ["unreadable", *(check.name for check in ALL)]
    assert set(READING) <= set(ALL)
    assert found["unreadable"] == ("error", 1, ["x.csv, line 3: bad."])
    assert found["several_blanks"] == ("warning", 1, ["a"])
    assert found["equal_words"] == ("warning", 0, [])


def test_problems_are_counted_by_target():
    items = [replace(filled("BLANK.", "a", "a", "c"), id=f"i{n}", cluster="nurse" if n else "doctor") for n in range(3)]
    (found,) = [one for one in check_items(Items(tuple(items))) if one["check"] == "equal_words"]
    assert found["targets"] == {"nurse": 2, "doctor": 1}


# ---- the published data: what SEMANTICS lists


def published(folder: Path, language: str) -> dict[str, list[str]]:
    items = read(folder / "stereoset" / f"intrasentence_{language}.jsonl.gz")
    found: dict[str, list[str]] = {}
    for problem in find_problems(items, ALL):
        found.setdefault(problem.check, []).append(problem.message)
    return found


def test_published_turkish_has_endings_at_blank_and_twelve_equal_pairs(real_data):
    found = published(real_data, "tr")
    assert len(found["glued_blank"]) == 148
    assert sum('BLANK"' in message for message in found["glued_blank"]) == 129  # 16 more with an apostrophe
    assert (len(found["equal_words"]), len(found["several_blanks"])) == (12, 2)


def test_published_spanish_has_three_equal_pairs(real_data):
    found = published(real_data, "es")
    assert (len(found["equal_words"]), len(found["several_blanks"])) == (3, 2)
    assert "glued_blank" not in found


def test_published_german_has_inflected_residues(real_data):
    found = published(real_data, "de")
    assert len(found["glued_blank"]) == 9
    assert {"'BLANKSTEN' is more than BLANK", "'BLANKER' is more than BLANK"} <= set(found["glued_blank"])
    assert ("equal_words" in found, len(found["several_blanks"])) == (False, 2)


def test_published_french_has_no_equal_pair(real_data):
    found = published(real_data, "fr")
    assert ("equal_words" in found, len(found["several_blanks"])) == (False, 2)


def test_two_questions_about_one_context_are_not_duplicates():
    first = replace(sentences("They left.", "They stayed.", "They sang."), question="Who left?")
    items = [first, replace(first, id="b", question="Who stayed?"), replace(first, id="c")]
    assert list(KNOWN["duplicate"].search(items)) == [(2, "the same as 'a'")]
