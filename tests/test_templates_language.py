"""The template language: what is parsed is printed back, errors name line and column, SHADES is read and written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.errors import IsoglossError
from isogloss.templates.features import SHORT, make_features, parse_features, show_features
from isogloss.templates.grammar import (
    BadTemplate,
    Slot,
    SourcePosition,
    Template,
    TermChoice,
    Text,
    Wordings,
    Written,
    parse_template,
)
from isogloss.templates.shades import read_shades

PLURAL = ("Number", "Plur")

# any elements: names as people write them, text with every character that means something
names = st.sampled_from(["gender", "ο", "der", "nationality_1", "profession", "die", "adjective_negative"])
features = st.lists(st.sampled_from(sorted(set(SHORT.values()))), max_size=3).map(
    lambda pairs: make_features(dict(pairs))
)
some = features.filter(bool)
signs = st.text("ab é是ب\u200c{}[]()|~:\\.,", min_size=1, max_size=8)
words = signs.map(str.strip).filter(bool)
slots = st.builds(Slot, names, st.none() | names, features)
written = st.builds(
    Written, st.lists(st.tuples(some, st.just("") | words), min_size=1, max_size=3).map(tuple), agrees=names
)
choices = st.builds(TermChoice, st.lists(words, min_size=1, max_size=3).map(tuple))
plain = st.one_of(st.builds(Text, signs), slots, written, choices)


def joined(row: list[object]) -> tuple[object, ...]:
    """The row as a parser gives it: texts that touch are one."""
    found: list[object] = []
    for one in row:
        if isinstance(one, Text) and found and isinstance(found[-1], Text):
            found[-1] = Text(found[-1].text + one.text)
        else:
            found.append(one)
    return tuple(found)


rows = st.lists(plain, max_size=4).map(joined)
wordings = st.builds(Wordings, st.lists(rows, min_size=2, max_size=3).map(tuple))
templates = st.lists(st.one_of(plain, wordings), max_size=6).map(lambda row: Template(joined(row)))


@given(templates)
@settings(max_examples=200)
def test_any_template_prints_back_what_was_parsed(template):
    assert parse_template(str(template)) == template


@given(st.text("ab{}[]()|~:\\ 是", max_size=15))
@settings(max_examples=200)
def test_any_text_is_a_template_or_an_error_with_a_column(text):
    problems: list[BadTemplate] = []
    try:
        found = parse_template(text)
    except BadTemplate as error:
        problems.append(error)
    else:
        assert parse_template(str(found)) == found
    assert all(1 <= error.column <= len(text) + 1 for error in problems)


def test_a_slot_has_a_name_something_to_agree_with_and_features_in_any_notation():
    wanted = Slot("adjective", "gender", (("Gender", "Fem"), PLURAL))
    for text in ("{adjective~gender:fem pl}", "{ adjective : pl, fem ~ gender }", "{adjective~gender:Number=Plur;fem}"):
        assert parse_template(text).elements == (wanted,)


def test_words_written_out_choices_and_wordings_have_their_own_brackets():
    found = parse_template("[masc: ein | fem: eine ~gender] [nurse|doctor] (is|was) (here)").elements
    assert found[0] == Written((((("Gender", "Masc"),), "ein"), ((("Gender", "Fem"),), "eine")), "gender")
    assert found[2] == TermChoice(("nurse", "doctor"))
    assert found[4] == Wordings(((Text("is"),), (Text("was"),)))
    assert found[5] == Text(" (here)")


MISTAKES = {
    "a {gender": "column 10: the template ends before its '{' is closed.",
    "a gender}": "column 9: '}' stands alone here; write '\\}' if you mean the character itself.",
    "{gender:plr}": "column 9: 'plr' is not a feature. Did you mean 'pl'? Use short forms such as 'pl' or 'nom', or Name=Value.",
    "{gender:sg pl}": "column 9: Number is given twice: 'Sing' and 'Plur'.",
    "{a b}": "column 4: 'b' cannot stand here. A slot is {name}, {name:features} or {name~slot:features}.",
    "[ein|eine ~gender]": "column 2: say which form this is, as in [masc: … | fem: … ~slot].",
    "[a| ]": "column 4: a term is empty.",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_named_with_line_and_column(text):
    with pytest.raises(BadTemplate) as caught:
        parse_template(text, SourcePosition("sets.toml", 7))
    assert str(caught.value) == f"sets.toml, line 7, {MISTAKES[text]}"


def test_features_are_shown_short_and_in_one_order():
    assert show_features(parse_features("Case=Nom,Number=Plur Foo=Bar fem")) == "fem pl nom Foo=Bar"


SHADES = {
    "GENDER-PL are kind.": "{gender:pl} are kind.",
    "NATIONALITY_1:MASC met NATIONALITY_2:FEM.": "{nationality_1:masc} met {nationality_2:fem}.",
    "An OCCUPATION-ADJ matter": "An {profession:adj} matter",
    "mit NATIONALITY-DATIVE-PL": "mit {nationality:pl dat}",
    "POLITICAL_IDENTITY-STATE:NEUT": "{political_identity:state neut}",
    "Locul GENDER-DEF-GENITIVE": "Locul {gender:gen def}",
    "AGE-ADJ-STRONG-PL Menschen": "{age:adj pl strong} Menschen",
}


@pytest.mark.parametrize("text", SHADES)
def test_the_notation_of_shades_is_read(text):
    assert str(read_shades(text)) == SHADES[text]


def test_shades_in_brackets_and_with_a_number_at_the_end_are_read():
    assert str(read_shades("<GENDER> met [GENDER_PL]")) == "{gender} met {gender:pl}"
    assert str(read_shades("GENDER-PL_2 sing")) == "{gender_2:pl} sing"
    assert (
        str(read_shades("GENDER in the USA, NATO and <TEAM>, TEAM-PL"))
        == "{gender} in the USA, NATO and {team}, {team:pl}"
    )


def test_a_template_of_shades_needs_a_slot():
    with pytest.raises(IsoglossError, match="there is no slot in capitals"):
        read_shades("no slot here")
