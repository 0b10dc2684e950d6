"""Repairs: each repairs what it says, changes nothing else, is recorded, and can be undone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isogloss import languages
from isogloss.annotation.item_changes import Change, fields_of, undo, with_fields
from isogloss.errors import IsoglossError, list_known
from isogloss.items import Candidate, Item
from isogloss.translate.repairs import REPAIRS, find_repairs, repair
from isogloss.translate.steps import RepairStep, steps_as_text, take_step, untranslated, untranslated_words
from support.builders import triple
from support.offenders import for_every

KNOWN = {one.name: one for one in REPAIRS}
ROLES = ("stereotype", "anti-stereotype", "unrelated")


def item(context: str, *words: str, language: str = "es", term: str = "enfermera") -> Item:
    found = words or ("amable", "grosera", "pez")
    candidates = tuple(
        Candidate(f"c{n}", role, context.replace("BLANK", word), word)
        for n, (role, word) in enumerate(zip(ROLES, found, strict=True))
    )
    tags = {"task": "intrasentence", "target": "nurse", "target_term": term}
    return replace(triple("a"), context=context, candidates=candidates, language=language, tags=tags)


def repaired(name: str, before: Item, source: Item | None = None) -> dict[str, str]:
    (after,), _ = repair([before], KNOWN[name], sources={"a": source} if source else {})
    return fields_of(after)


@pytest.mark.parametrize(
    ("name", "language", "before", "after"),
    [
        ("characters", "es", "La\u200b enfermera es BLANK.", "La enfermera es BLANK."),
        ("characters", "fa", "می\u200cخواهد BLANK", "می\u200cخواهد BLANK"),
        ("spaces", "es", " La  enfermera es BLANK .", "La enfermera es BLANK."),
        ("spaces", "fr", "Est-elle BLANK ?", "Est-elle BLANK ?"),
        ("quotes", "tr", 'Bursa"da BLANK"a', "Bursa'da BLANK'a"),
        ("quotes", "es", 'Dijo "hola" y BLANK.', 'Dijo "hola" y BLANK.'),
        ("blank", "de", "Er ist der BLANKSTEN.", "Er ist der BLANK."),
        ("blank", "de", "Ein BLANK-Mann und -BLANK.", "Ein BLANK Mann und BLANK."),
        ("blank", "de", "Ein Nicht-BLANK.", "Ein Nicht BLANK."),
        ("blank", "en", "Sometimes.BLANK", "Sometimes. BLANK"),
        ("blank", "tr", "BLANK'a gitti.", "BLANK'a gitti."),
        ("contractions", "es", "Vi a el hijo de el BLANK en El Salvador.", "Vi al hijo del BLANK en El Salvador."),
        ("contractions", "pt", "Ele mora em o BLANK.", "Ele mora no BLANK."),
        ("case", "es", "¿la enfermera es BLANK?", "¿La enfermera es BLANK?"),
        ("case", "es", "BLANK es la enfermera.", "BLANK es la enfermera."),
    ],
)
def test_a_repair_mends_the_context(name, language, before, after):
    assert repaired(name, item(before, language=language))["context"] == after


def test_marks_around_words_are_taken_off_and_those_inside_stay():
    found = repaired("punctuation", item("Es BLANK.", "«amable».", "d'accord", "bien-être"))
    assert [found[name] for name in ("c0", "c1", "c2")] == ["amable", "d'accord", "bien-être"]


def test_words_are_written_small_as_in_the_source_but_not_in_german():
    source = item("She is BLANK.", "kind", "Rude", "fish", language="en")
    spanish = repaired("case", item("Es BLANK.", "Amable", "Grosera", "EEUU"), source)
    assert [spanish[name] for name in ("c0", "c1", "c2")] == ["amable", "Grosera", "EEUU"]
    german = repaired("case", item("Es ist BLANK.", "Hund", "Katze", "Fisch", language="de"), source)
    assert german["c0"] == "Hund"


def test_replacements_are_made_for_the_phrases_of_the_source_only():
    source = item("The football players are BLANK.", "a", "b", "c", language="en")
    before = item("Die Fußballspieler sind BLANK.", language="de", term="Fußballspieler")
    assert repaired("replacements", before, source)["context"] == "Die Footballspieler sind BLANK."
    assert repaired("replacements", before, source)["target"] == "Footballspieler"
    assert repaired("replacements", before)["context"] == "Die Fußballspieler sind BLANK."


def test_a_replacement_is_not_made_twice():
    source = item("The football player is BLANK.", "a", "b", "c", language="en")
    once = item("El jugador de fútbol es BLANK.", term="jugador de fútbol")
    (first,), _ = repair([once], KNOWN["replacements"], sources={"a": source})
    (second,), changes = repair([first], KNOWN["replacements"], sources={"a": source})
    assert (second.context, changes) == ("El jugador de fútbol americano es BLANK.", ())


@pytest.mark.parametrize(
    ("context", "term", "found"),
    [
        ("Las enfermeras son BLANK.", "enfermero", "enfermeras"),  # ratio 0.84
        ("Los médicos son BLANK.", "médico", "médico"),  # stands in the text
        ("Ella es BLANK.", "jugador de ajedrez", "jugador de ajedrez"),  # several words
        ("Tú y yo BLANK.", "xxxxxxxxx", "xxxxxxxxx"),  # nothing is near
        ("Die Damen waren BLANK.", "Herren", "Herren"),  # near by letters alone: ratio 0.55, a verb
        ("Der Russe ist BLANK.", "Russisch", "Russe"),
    ],
)
def test_the_target_becomes_the_closest_word(context, term, found):
    assert repaired("target", item(context, term=term))["target"] == found


def test_the_sentence_follows_the_context_and_the_word():
    (after,), _ = repair([item("la enfermera es  BLANK .")], KNOWN["spaces"], sources={})
    assert after.candidates[0].text == "la enfermera es amable."


def test_a_sentence_that_differs_from_its_context_is_left_alone():
    odd = replace(item("Es  BLANK."), candidates=tuple(replace(c, text="Otra.") for c in item("Es BLANK.").candidates))
    (after,), _ = repair([odd], KNOWN["spaces"], sources={})
    assert (after.context, after.candidates[0].text) == ("Es BLANK.", "Otra.")


def test_every_change_is_recorded_and_all_of_them_can_be_undone():
    before = item("la  enfermera de el hospital es BLANKER .", "Amable.", "grosera", "pez", term="enfermero")
    source = item("the nurse is BLANK.", "kind", "rude", "fish", language="en")
    items: tuple[Item, ...] = (before,)
    changes: tuple[Change, ...] = ()
    for step in REPAIRS:
        items, made = repair(items, step, sources={"a": source})
        changes += made
    assert items[0].context == "La enfermera del hospital es BLANK."
    assert items[0].candidates[0].text == "La enfermera del hospital es amable."
    assert changes[0] == Change(
        "spaces", "a", "context", before.context or "", "la enfermera de el hospital es BLANKER."
    )
    assert [change.step for change in changes] == [
        "spaces",
        "blank",
        "punctuation",
        "contractions",
        "case",
        "case",
        "target",
    ]
    assert undo(items, changes) == (before,)


def test_repairing_twice_changes_nothing_more():
    items: tuple[Item, ...] = (item("la  enfermera de el hospital es BLANK-.", "Amable.", "grosera", "pez"),)
    for step in REPAIRS:
        items, _ = repair(items, step, sources={})
    for step in REPAIRS:
        assert repair(items, step, sources={})[1] == ()


def test_repairs_are_found_by_name_in_their_own_order():
    assert [one.name for one in find_repairs(["target", "spaces"])] == ["spaces", "target"]
    with pytest.raises(IsoglossError) as caught:
        find_repairs(["space"])
    known = list_known("space", sorted(KNOWN))
    assert str(caught.value) == f"No repair named 'space'. Did you mean 'spaces'? Known: {known}."


def test_what_was_left_untranslated_is_found():
    source = with_fields(item("The nurse is BLANK.", "nerdy", "rude", "fish", language="en"), {})
    check = untranslated({"a": source})
    assert list(check.search([item("Es BLANK.", "Nerdy", "grosera", "pez")])) == [
        (0, "'Nerdy' is the same as in the source")
    ]
    assert list(check.search([item("Es BLANK.", "pedante", "grosera", "pez")])) == []


def test_single_words_of_the_source_are_found_within_a_translation():
    source = with_fields(item("The finnish hiker is BLANK.", "nerdy", "rude", "fish", language="en"), {})
    check = untranslated_words({"a": source})
    assert list(check.search([item("El hiker finlandés es BLANK.", "pedante", "grosera", "pez")])) == [
        (0, "words of the source: hiker")
    ]
    assert list(check.search([item("El excursionista es BLANK.", "pedante", "grosera", "pez")])) == []


def test_steps_are_counted_by_task_check_and_target():
    bad = replace(item("Es  BLANK.", "a", "a", "c", term="nada"), cluster="nurse")
    step = take_step("translated", [bad, replace(item("La enfermera es BLANK."), id="b")], sources={})
    assert (step.items, step.problems, step.tasks) == (2, 1, {"intrasentence": 1})
    assert step.targets == {"nurse": 1}
    assert {name: step.checks[name] for name in ("equal_words", "spaces")} == {"equal_words": 1, "spaces": 1}


def test_steps_are_shown_as_a_table_with_bars():
    first = RepairStep("translated", 4, 0, {"intrasentence": 4}, {"spaces": 4}, {"nurse": 3, "poet": 1})
    last = RepairStep("spaces", 4, 3, {"intrasentence": 1}, {"spaces": 1}, {"nurse": 1})
    lines = steps_as_text([first, last]).splitlines()
    assert lines[1] == f"translated          4        0              4  {'█' * 40} 4"
    assert lines[2] == f"spaces              4        3              1  {'█' * 10} 1"
    assert "spaces                      4      1" in lines
    assert f"nurse                       3      1  {'█' * 13}{'░' * 27}" in lines


@for_every(tag=languages.tags())
def test_the_rules_in_every_language_file_are_well_formed(tag):
    sections = languages.get(tag).sections
    articles, fixes = sections.get("articles", {}), sections.get("fixes", {})
    assert set(articles) <= {"genders", "endings", "exceptions", "contractions", "sounds"}
    assert set(articles.get("endings", {})) <= {*articles.get("genders", {}), "any"}
    assert set(articles.get("exceptions", {})) <= {*articles.get("genders", {}), "any"}
    assert set(articles.get("sounds", {})) <= {"vowels", "consonant", "vowel", "exceptions"}
    assert set(fixes) <= {"always", "source", "target"}
    tables = [
        fixes.get("always", {}),
        fixes.get("target", {}),
        articles.get("contractions", {}),
        *fixes.get("source", {}).values(),
    ]
    assert all(isinstance(text, str) and text.strip() for table in tables for pair in table.items() for text in pair)
