"""Expansion: sentences that agree, nothing left over, what is refused, and every bundled language as it was reviewed."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import isogloss
from isogloss.errors import IsoglossError
from isogloss.templates.checks import check_templates, expand_sets, sets_path
from isogloss.templates.expansion import chosen_terms, expand, fillings, realise
from isogloss.templates.grammar import BadTemplate, parse_template
from isogloss.templates.items import make_frames, make_items
from isogloss.templates.lexicon import FOLDER, bundled_languages, read_lexicon
from isogloss.templates.resolution import resolve_template
from isogloss.templates.sets import read_sets

GOLDEN = Path(__file__).parent / "golden" / "templates"
LANGUAGES = [tag for tag in bundled_languages() if (FOLDER / tag / "sets.toml").exists()]

GENDER = """
category = "gender"
language = "el"
inflects = ["Number", "Case"]
columns = ["sg nom", "sg acc", "pl nom"]
[terms]
man = { gloss = "man", lemma = "άντρας", features = "masc", forms = ["άντρας", "άντρα", "άντρες"] }
woman = { gloss = "woman", lemma = "γυναίκα", features = "fem", forms = ["γυναίκα", "γυναίκα", "γυναίκες"] }
"""
ADJECTIVE = """
category = "adjective"
language = "el"
columns = ["masc sg nom", "fem sg nom", "masc pl nom", "fem pl nom"]
[terms]
late = { gloss = "late", lemma = "αργός", forms = ["αργός", "αργή", "αργοί", "αργές"] }
"""
WORDS = """
category = "words"
language = "el"
columns = ["masc sg nom", "fem sg nom", "masc sg acc", "fem sg acc", "pl nom"]
[terms]
"ο" = { gloss = "the", lemma = "ο", forms = ["ο", "η", "τον", "την", "οι"] }
zero = { gloss = "nothing", lemma = "-", forms = { masc = "", fem = "μη" } }
"""
RULES = "[sounds]\nsoft = ['γ']\n[[join]]\nwords = 'σε τον'\nbecomes = 'στον'\n[[join]]\nwords = 'την'\nbefore = 'soft'\nbecomes = 'τη'"


@pytest.fixture(scope="module")
def greek(tmp_path_factory):
    folder = tmp_path_factory.mktemp("el")
    for name, text in {"gender": GENDER, "adjective": ADJECTIVE, "words": WORDS, "rules": RULES}.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return read_lexicon("el", folder)


def texts(template: str, lexicon, **more):
    return [one.text for one in expand(parse_template(template), lexicon, **more)]


AGREE = {
    "{ο~gender} {gender:pl nom} είναι {adjective~gender}.": ["Οι άντρες είναι αργοί.", "Οι γυναίκες είναι αργές."],
    "Βλέπω {ο~gender} {gender:acc}.": ["Βλέπω τον άντρα.", "Βλέπω τη γυναίκα."],
    "Σε {ο~gender:masc} {gender:acc}": ["Στον άντρα", "Στον γυναίκα"],
    "[masc: ένας | fem: μία ~gender] {gender}": ["Ένας άντρας", "Μία γυναίκα"],
    "Είναι {zero~gender} {gender}, {zero~gender}.": ["Είναι άντρας,.", "Είναι μη γυναίκα, μη."],
    "{gender:fem}": ["Γυναίκα"],
    "{ο~gender} {gender} με {ο~gender} {gender:acc}": ["Ο άντρας με τον άντρα", "Η γυναίκα με τη γυναίκα"],
    "{gender_1} ({ο~gender_2} x|y) {gender_2:acc}": [
        "Άντρας την x γυναίκα",
        "Γυναίκα τον x άντρα",
        "Άντρας y γυναίκα",
        "Γυναίκα y άντρα",
    ],
}


@pytest.mark.parametrize("template", AGREE)
def test_words_agree_with_their_slot(greek, template):
    assert texts(template, greek) == AGREE[template]


MISTAKES = {
    "{ο~gender}": "line 1, column 1: nothing is named 'gender', to agree with. The template has: ο.",
    "{gendr}": "line 1, column 1: there is no category or word 'gendr'. Did you mean 'gender'? Known: ",
    "{gender~adjective} {adjective~gender}": "line 1, column 1: agreement goes in a circle: gender ~ adjective ~ gender.",
    "{gender:neut}": "line 1, column 1: no term of 'gender' has the features that its slot asks for.",
    "{gender} [pl: a | sg: a ~gender] [neut: b ~gender]": "column 34: no form, or more than one, of this word fits",
    "Same [a|b ]  {zero:masc}": None,
    "(x|x) {gender}": "'man' and 'man' give the same sentence: 'X άντρας'.",
}


@pytest.mark.parametrize("template", [name for name, text in MISTAKES.items() if text])
def test_a_bad_template_is_refused_with_its_place(greek, template):
    with pytest.raises(IsoglossError) as caught:
        texts(template, greek)
    assert MISTAKES[template].replace("'X ", "'x ") in str(caught.value)


def test_too_many_sentences_are_refused_with_their_count(greek):
    with pytest.raises(IsoglossError) as caught:
        texts("{gender_1} {gender_2:acc} {adjective:masc}", greek, limit=1)
    assert str(caught.value) == (
        "The template '{gender_1} {gender_2:acc} {adjective:masc}' has 2 sentences, more than 1. "
        "Use `limit=2` to have them all, or use fewer terms."
    )


def test_only_some_terms_in_the_given_order_and_an_unknown_one_is_refused(greek):
    assert texts("{gender}", greek, only={"gender": ["woman", "man"]}) == ["Γυναίκα", "Άντρας"]
    with pytest.raises(IsoglossError, match="'only' names 'child', which the category 'gender' does not have"):
        texts("{gender}", greek, only={"gender": ["child"]})


def test_turkish_capitals_zero_width_non_joiners_and_scripts_without_spaces_are_kept():
    assert texts("[iyi|ince] x", read_lexicon("tr")) == ["İyi x", "İnce x"]
    assert texts("او [دانش\u200cآموز|معلم] است", read_lexicon("fa"))[0] == "او دانش\u200cآموز است"
    assert texts("他是[医生|护士]。", read_lexicon("zh")) == ["他是医生。", "他是护士。"]


pieces = st.sampled_from(
    [
        "{gender}",
        "{gender:pl nom}",
        "{ο~gender}",
        "{zero~gender}",
        "{adjective~gender}",
        " ",
        "  ",
        "x",
        ".",
        "(a|b)",
        ",",
    ]
)


@given(st.lists(pieces, max_size=8))
@settings(max_examples=150)
def test_expansions_are_the_same_each_time_without_double_spaces_or_leftovers(greek, parts):
    template = parse_template("{gender:sg nom} " + "".join(parts))
    try:
        found = expand(template, greek)
    except BadTemplate as error:  # wordings at the end that leave no trace
        assume("give the same sentence" in error.problem)
        return
    assert expand(template, greek) == found
    for one in found:
        assert "  " not in one.text
        assert one.text == one.text.strip(" ")
        assert not set(one.text) & set("{}[]~|")


# ---- what ships


@pytest.mark.slow
@pytest.mark.parametrize("tag", LANGUAGES)
def test_every_sentence_of_a_bundled_language_can_be_made(tag):
    found = checked(tag)
    assert found.problems == ()
    assert all(one.sentences >= 2 * one.templates for one in found.sets)


@cache
def checked(tag: str):
    return check_templates(tag)


@cache
def items_of(tag: str):
    return isogloss.read("templates", language=tag)


def sample(tag: str) -> str:
    """The sizes of a language's sets, and of each template the sentences of two concepts and six terms."""
    lexicon = read_lexicon(tag)
    lines = [f"# {name}\t{len(one.terms)}" for name, one in sorted(lexicon.vocabularies.items())]
    lines += [f"# {one.set}\t{one.templates}\t{one.sentences}" for one in checked(tag).sets]
    for one in read_sets(sets_path(tag)):
        for frame in make_frames(one):
            for plan in resolve_template(frame.template, lexicon, position=frame.wording.position):
                chosen = chosen_terms(plan, one.only)
                few = {key: terms[: 6 if key == one.terms else 2] for key, terms in chosen.items()}
                made = [realise(plan, lexicon, filling=filling) for filling in fillings(few)]
                lines += ["\t".join([frame.name, frame.variant or "-", sentence.text]) for sentence in made]
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("tag", LANGUAGES)
def test_the_sentences_are_those_that_were_reviewed(tag):
    path = GOLDEN / f"{tag}.tsv"
    if os.environ.get("ISOGLOSS_WRITE_GOLDEN"):
        path.write_text(sample(tag), encoding="utf-8")
    assert sample(tag) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("tag", ["en", "el", "fa"])
def test_full_languages_have_the_published_sizes(tag):
    found = checked(tag)
    sizes = found.vocabularies
    assert (sizes["profession"], sizes["adjective_negative"], sizes["adjective_gendered"]) == (23, 14, 22)
    assert (sizes["religion"], sizes["ethnicity"]) == (6, 17)
    assert sizes["nationality"] >= 110
    sets = read_sets(sets_path(tag))
    kinds = [one.category for one in sets]
    assert (kinds.count("gender"), kinds.count("religion"), kinds.count("ethnicity")) == (4, 3, 4)
    assert all(len(one.wordings) >= 4 for one in sets)


def test_in_greek_men_and_women_differ_in_two_words_or_more_in_every_adjective_template():
    items = [i for i in items_of("el") if i.tags["terms"] == "gender"]
    both = ("rude",)  # αγενής has one form for both
    chosen = [i for i in items if "profession" not in str(i.tags["set"]) and i.tags["concept"] not in both]
    assert chosen
    for item in chosen:
        first, second = (candidate.text.split() for candidate in item.candidates)
        assert len(first) == len(second)
        assert sum(a != b for a, b in zip(first, second, strict=True)) >= 2, item.id


def test_items_have_one_candidate_per_term_and_derived_items_point_to_their_source():
    items = items_of("en")
    by_id = {item.id: item for item in items}
    one = by_id["gender-profession-w2-nurse"]
    assert [candidate.role for candidate in one.candidates] == ["man", "woman"]
    assert (one.cluster, one.category, one.tags["concept"]) == ("gender-profession-w2", "gender", "nurse")
    control = by_id["gender-profession-w2-nurse-negated"]
    assert (control.derived_from, control.variant, control.cluster) == (one.id, "negated", one.cluster)
    assert all(
        item.context.replace("BLANK", c.word) == c.text for item in items for c in item.candidates if item.context
    )


def test_parallel_languages_have_the_same_ids():
    ids = [{item.id for item in items_of(tag) if item.category == "gender"} for tag in ("en", "el")]
    assert ids[0] == ids[1]


def test_blanks_stand_for_the_concept():
    items = isogloss.read("template_blanks", language="en")
    one = next(item for item in items if item.id == "gender-profession-w1")
    assert [candidate.text for candidate in one.candidates] == [
        "The man works as a BLANK.",
        "The woman works as a BLANK.",
    ]


def test_very_many_wordings_are_counted_and_refused_before_they_are_made():
    from isogloss.errors import IsoglossError
    from isogloss.templates.grammar import parse_template
    from isogloss.templates.lexicon import read_lexicon
    from isogloss.templates.resolution import count_wordings, resolve_template

    text = "{gender} is " + "(a|b) " * 200 + "."
    assert count_wordings(parse_template(text).elements) == 2**200
    with pytest.raises(IsoglossError, match=r"make .* templates; at most 10,000"):
        resolve_template(parse_template(text), read_lexicon("en"))


@pytest.mark.parametrize("tag", ["de", "fr", "es"])
def test_a_set_without_contractions_is_shown_as_it_is_scored(tag):
    lexicon = read_lexicon(tag)
    sets = [replace(one, contractions=False, unique=False) for one in read_sets(sets_path(tag))[:3]]
    shown = {sentence.text for _, sentence in expand_sets(sets, lexicon, limit=10**6)}
    assert shown == {cell.text for item in make_items(sets, lexicon, limit=10**6) for cell in item.candidates}
