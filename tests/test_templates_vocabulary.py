"""Vocabularies, words and rules: what a file must hold, which form is taken, and what happens where words meet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from isogloss.errors import BadData, IsoglossError
from isogloss.templates.contractions import Piece, join
from isogloss.templates.expansion import expand
from isogloss.templates.forms import find_form
from isogloss.templates.grammar import parse_template
from isogloss.templates.lexicon import read_lexicon
from isogloss.templates.rules import read_rules
from isogloss.templates.sets import read_sets
from isogloss.templates.vocabulary import read_vocabulary

HEAD = 'category = "profession"\nlanguage = "xx"\n'


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def vocabulary(tmp_path: Path, body: str, head: str = HEAD):
    return read_vocabulary(write(tmp_path / "profession.toml", head + body))


MISTAKES = {
    "[terms]\n": "a vocabulary needs a table [terms] with at least one term.",
    "[terms]\na = 'b'": 'term \'a\': a term is a table: { gloss = "…", lemma = "…", forms = […] }.',
    "[terms]\na = { gloss = 'a' }": "term 'a': 'lemma' is missing or empty.",
    "columns = ['sg']\n[terms]\na = { gloss = 'a', lemma = 'a', forms = ['a', 'b'] }": (
        "term 'a': 'forms' has 2 forms for 1 columns."
    ),
    "inflects = ['Number']\n[terms]\na = { gloss = 'a', lemma = 'a' }": (
        "term 'a': no 'forms', although the category inflects for Number; or say invariable = true."
    ),
    "columns = ['sgg']\n[terms]\na = { gloss = 'a', lemma = 'a' }": (
        "'sgg' is not a feature. Did you mean 'sg'? Use short forms such as 'pl' or 'nom', or Name=Value."
    ),
    "[terms]\na = { gloss = 'a', lemma = 'a', forms = { sg = 'a', 'Number=Sing' = 'b' } }": (
        "term 'a': the form 'sg' is given twice."
    ),
    "[terms]\na = { gloss = 'a', lemma = 'a', forms = { sg = ' a' } }": (
        "term 'a': the form 'sg' must be a text without spaces around it."
    ),
    "aliases = { nation = 'land' }\n[terms]\na = { gloss = 'a', lemma = 'a' }": (
        "'aliases' names uses, such as { nation = \"place\" }; uses are adj, place, state, poss, art."
    ),
}


@pytest.mark.parametrize("body", MISTAKES)
def test_a_bad_vocabulary_is_an_error_with_file_and_term(tmp_path, body):
    with pytest.raises(BadData) as caught:
        vocabulary(tmp_path, body)
    assert str(caught.value) == f"{tmp_path / 'profession.toml'}: {MISTAKES[body]}"


FORMS = """
columns = ["masc sg nom", "masc sg", "masc pl", "masc pl dat", "fem"]
[terms]
a = { gloss = "a", lemma = "a", forms = ["mn", "m", "mp", "mpd", "f"], place = { gen = "pg", nom = "pn" } }
b = { gloss = "b", lemma = "b", features = "fem pl", forms = ["-", "m", "mp", "-", "f"] }
"""


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"Gender": "Masc"}, "mn"),  # number and case at their defaults
        ({"Gender": "Masc", "Case": "Acc"}, "m"),
        ({"Gender": "Masc", "Number": "Plur", "Case": "Acc"}, "mp"),
        ({"Gender": "Masc", "Number": "Plur", "Case": "Dat"}, "mpd"),  # the more exact cell
        ({"Gender": "Fem", "Number": "Plur", "Case": "Dat"}, "f"),  # a cell that mentions little covers all
        ({"Use": "Place"}, "pn"),
        ({"Use": "Place", "Case": "Gen"}, "pg"),
    ],
)
def test_the_form_with_the_asked_features_is_taken(tmp_path, asked, text):
    found = vocabulary(tmp_path, FORMS)
    assert find_form(found, found.terms["a"], asked=asked).text == text


def test_what_a_term_has_by_nature_counts_as_asked_and_is_handed_on(tmp_path):
    found = vocabulary(tmp_path, FORMS)
    form = find_form(found, found.terms["b"], asked={})
    assert (form.text, dict(form.features)) == ("f", {"Gender": "Fem", "Number": "Plur"})


def test_a_missing_form_names_file_term_and_cell(tmp_path):
    found = vocabulary(tmp_path, "[terms]\na = { gloss = 'a', lemma = 'a', forms = { 'pl nom' = 'as' } }")
    with pytest.raises(IsoglossError) as caught:
        find_form(found, found.terms["a"], asked={"Number": "Plur", "Case": "Gen"})
    path = tmp_path / "profession.toml"
    assert str(caught.value) == f"{path}, term 'a', form 'pl gen': there is no such form. Add it to the file."


def test_several_fitting_forms_and_unknown_uses_are_refused(tmp_path):
    found = vocabulary(tmp_path, FORMS)
    with pytest.raises(IsoglossError) as caught:
        find_form(found, found.terms["a"], asked={"Case": "Acc"})
    wanted = "term 'a', form 'acc': several forms fit: masc sg 'm', fem 'f'. Say more, or agree with a slot."
    assert str(caught.value).endswith(wanted)
    with pytest.raises(IsoglossError, match="the term has no 'state'"):
        find_form(found, found.terms["a"], asked={"Use": "State"})


RULES = """
[sounds]
vowel = ["a", "e", "o", "h"]
hard = ["ha"]
[exceptions]
hard = ["héros", "onze"]
[[join]]
words = "le"
before = "vowel"
becomes = "l'"
[[join]]
words = "de le"
becomes = "du"
[[join]]
letters = "lal"
becomes = "ll"
"""


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([("de ", None), ("le", "w"), (" ", None), ("chat", "s")], "du chat"),
        ([("de ", None), ("le", "w"), (" ", None), ("orme", "s")], "de l'orme"),
        ([("De ", None), ("le", "w"), (" ", None), ("héros", "s")], "Du héros"),
        ([("de ", None), ("le", "w"), (" ", None), ("haricot", "s")], "du haricot"),  # the longest beginning counts
        ([("il faut de le faire, ", None), ("Anne", "s")], "il faut de le faire, Anne"),  # what was written stays
        ([("l", None), ("alrajul", "s")], "llrajul"),
        ([("lalo ", None), ("x", "s")], "lalo x"),
    ],
)
def test_rules_hold_where_a_slot_is_touched(tmp_path, pieces, text):
    rules = read_rules(write(tmp_path / "rules.toml", RULES))
    assert "".join(piece.text for piece in join([Piece(*one) for one in pieces], rules)) == text


def test_bad_rules_are_refused(tmp_path):
    path = write(tmp_path / "rules.toml", "[[join]]\nwords = 'a'\nbecomes = 'an'\nbefore = 'vowel'")
    with pytest.raises(BadData) as caught:
        read_rules(path)
    assert str(caught.value) == f"{path}: a join is 'before' a sound that is not defined: 'vowel'. Known: ."


def test_a_folder_of_ones_own_comes_before_the_files_here(tmp_path):
    own = 'category = "gender"\nlanguage = "en"\n[terms]\nqueen = { gloss = "queen", lemma = "queen" }'
    write(tmp_path / "gender.toml", own)
    lexicon = read_lexicon("English", tmp_path)
    assert list(lexicon.vocabularies["gender"].terms) == ["queen"]
    assert "profession" in lexicon.vocabularies


def test_a_vocabulary_in_the_wrong_folder_and_a_name_used_twice_are_refused(tmp_path):
    other = 'category = "gender"\nlanguage = "de"\n[terms]\na = { gloss = "a", lemma = "a" }'
    path = write(tmp_path / "gender.toml", other)
    with pytest.raises(BadData, match="the language is 'de', but the folder's is 'en'"):
        read_lexicon("en", tmp_path)
    path.write_text(other.replace('"de"', '"en"'), encoding="utf-8")
    words = 'category = "words"\nlanguage = "en"\n[terms]\ngender = { gloss = "a", lemma = "a" }'
    write(tmp_path / "words.toml", words)
    with pytest.raises(BadData, match=r"'gender' is a name in gender\.toml already"):
        read_lexicon("en", tmp_path)


DOCS = Path(__file__).parent.parent / "docs" / "reference" / "template-language.md"
SHOWN = {
    "el": {"{ο~gender} {gender:pl nom} είναι {adjective_negative~gender}.": ["Οι άντρες είναι τεμπέληδες.", "Οι γυναίκες είναι τεμπέλες."]},
    "de": {"Wir gehen zu {der~profession} {profession:fem dat}.": ["Wir gehen zur Krankenpflegerin."]},
    "fr": {"Ils viennent {nation:abl}.": ["Ils viennent du Japon."]},
    "en": {"She is a {profession}.": ["She is a nurse.", "She is an engineer.", "She is a police officer."]},
}  # fmt: skip


@pytest.mark.parametrize("tag", SHOWN)
def test_the_examples_in_the_docs_are_right(tmp_path, tag):
    text = DOCS.read_text(encoding="utf-8")
    blocks = re.findall(rf"```toml\n# {tag}/(\w+)\.toml.*?\n(.*?)```", text, re.DOTALL)
    for name, block in blocks:
        write(tmp_path / f"{name}.toml", block)
    lexicon = read_lexicon(tag, tmp_path)
    for template, wanted in SHOWN[tag].items():
        assert [one.text for one in expand(parse_template(template), lexicon)] == wanted
    if tag == "en":
        write(
            tmp_path / "both.toml",
            text.partition("# en/sets.toml")[2].partition("```")[0].replace("ethnicity-plain", "gender-profession"),
        )
        assert [one.id for one in read_sets(tmp_path / "both.toml")] == ["gender-profession", "ethnicity-people-from"]
