"""Grammar in templates: what a word demands, forms that are missing, suffixes in harmony, contractions and their exceptions."""

from __future__ import annotations

import pytest

from isogloss.errors import IsoglossError
from isogloss.templates.checks import check_templates
from isogloss.templates.expansion import expand
from isogloss.templates.grammar import parse_template
from isogloss.templates.lexicon import FOLDER, bundled_languages, read_lexicon
from isogloss.templates.sets import read_sets


def texts(language: str, template: str, **only: list[str]) -> list[str]:
    return [one.text for one in expand(parse_template(template), read_lexicon(language), only=only)]


GOVERNED = [
    ("de", "mit {der~profession} {profession:masc pl}", {"profession": ["doctor"]}, "mit den Ärzten"),
    ("de", "mit {der~profession} {profession:masc}", {"profession": ["soldier"]}, "mit dem Soldaten"),
    ("de", "{der~nationality} {nationality:pl}", {"nationality": ["german"]}, "die Deutschen"),
    ("de", "mit {nationality:pl strong}", {"nationality": ["german"]}, "mit Deutschen"),
    ("de", "mit {nationality:pl}", {"nationality": ["italian"]}, "mit Italienern"),
    ("de", "Viele {nationality:pl}", {"nationality": ["german"]}, "Viele Deutsche"),
    ("de", "Die meisten {nationality:pl}", {"nationality": ["german"]}, "Die meisten Deutschen"),
    ("de", "mit den {profession:masc pl}", {"profession": ["doctor"]}, "mit den Ärzten"),
    ("de", "in {der~profession} {profession:masc dat}", {"profession": ["cook"]}, "im Koch"),
    ("ar", "{profession:masc def nom}", {"profession": ["doctor"]}, "الطبيب"),
    ("ar", "{هذا~profession} {profession:masc}", {"profession": ["lawyer"]}, "هذا المحامي"),
    ("ar", "عشرون {profession:masc}", {"profession": ["teacher"]}, "عشرون معلمًا"),
    ("ar", "خمسة {profession:masc}", {"profession": ["teacher"]}, "خمسة معلمين"),
    ("el", "σε {ο~gender} {gender:pl}", {"gender": ["man"]}, "στους άντρες"),
    ("el", "σε {ο~gender} {gender:pl}", {"gender": ["woman"]}, "στις γυναίκες"),
    ("el", "σε {ο~gender} {gender}", {"gender": ["woman"]}, "στη γυναίκα"),
    ("el", "με {ο~nationality} {nationality:masc pl}", {"nationality": ["afghan"]}, "με τους Αφγανούς"),
    ("ru", "пять {gender}", {"gender": ["woman"]}, "пять женщин"),
    ("ru", "три {gender}", {"gender": ["woman"]}, "три женщины"),
    ("ru", "Я вижу {этот~gender} {gender:acc}", {"gender": ["man"]}, "Я вижу этого мужчину"),
    ("tr", "iki {gender}", {"gender": ["woman"]}, "iki kadın"),
]


@pytest.mark.parametrize(("language", "template", "only", "wanted"), GOVERNED)
def test_a_word_gives_the_slot_after_it_the_features_that_it_demands(language, template, only, wanted):
    assert texts(language, "x " + template, **only) == ["x " + wanted]


CLASHES = [
    ("de", "mit {profession:masc pl nom}", "'mit' demands 'dat', but the slot asks for 'masc pl nom'."),
    ("de", "in {profession:masc}", "'in' demands 'dat' or 'acc', but 'Krankenpfleger' is 'masc sg nom'."),
    ("de", "die {gender}", "but 'Mann' is 'masc sg nom weak'."),
    ("de", "{gender:loc}", "the language 'de' has no Case 'loc'; it has nom, gen, dat, acc."),
    ("de", "{nationality:pl nom}", "several forms fit: pl nom strong 'Deutsche', pl weak 'Deutschen'"),
    ("es", "los {profession:fem pl}", "'los' demands 'masc pl'"),
    ("en", "many {profession:sg}", "'many' demands 'pl'"),
    ("ru", "с {profession:masc sg gen}", "form 'masc sg gen': there is no such form. Add it to the file."),
]


@pytest.mark.parametrize(("language", "template", "message"), CLASHES)
def test_grammar_that_does_not_hold_is_refused_with_its_place(language, template, message):
    with pytest.raises(IsoglossError) as caught:
        texts(language, template)
    assert message in str(caught.value)
    assert "column " in str(caught.value)


def test_a_form_that_the_vocabulary_does_not_speak_of_is_an_error_with_what_to_add(tmp_path):
    body = (
        'category = "profession"\nlanguage = "de"\ninflects = ["Gender", "Number"]\ncolumns = ["masc sg", "masc pl"]\n'
    )
    path = tmp_path / "profession.toml"
    path.write_text(body + '[terms]\na = { gloss = "doctor", lemma = "Arzt", forms = ["Arzt", "Ärzte"] }', "utf-8")
    lexicon = read_lexicon("de", tmp_path)
    with pytest.raises(IsoglossError) as caught:
        expand(parse_template("mit {der~profession} {profession:masc pl}"), lexicon)
    assert str(caught.value) == (
        f"{path}, term 'a', form 'masc pl dat weak': the file does not say how words change for Case. Add it to "
        "'inflects', with the forms under 'columns' or in the term, or to 'invariable' if they do not change. "
        "The slot is in the template, line 1, column 22."
    )
    path.write_text(path.read_text("utf-8").replace("columns", 'invariable = ["Case"]\ncolumns'), "utf-8")
    assert expand(parse_template("mit {der~profession} {profession:masc}"), read_lexicon("de", tmp_path))


CONTRACTED = [
    ("es", "de {el:masc sg} [gato|hombre]", ["del gato", "del hombre"]),
    ("es", "de [El Salvador|el hotel]", ["de El Salvador", "del hotel"]),
    ("fr", "de [le Yéménite|le handicapé|le héros|le Hongrois]", ["du Yéménite", "du handicapé", "du héros", "du Hongrois"]),
    ("fr", "de [le ouvrier|le habitant|la Yonne]", ["de l'ouvrier", "de l'habitant", "de l'Yonne"]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "template", "wanted"), CONTRACTED)
def test_contractions_have_exceptions(language, template, wanted):
    assert texts(language, "voici " + template) == ["voici " + text for text in wanted]


SUFFIXES = [
    ("tr", "[doktor|öğretmen|aşçı]-lAr", ["Doktorlar", "Öğretmenler", "Aşçılar"]),
    ("tr", "[avukat|hemşire|doktor|müdür]-DIr", ["Avukattır", "Hemşiredir", "Doktordur", "Müdürdür"]),
    ("tr", "[doktor|öğretmen|saat]-lAr-DAn", ["Doktorlardan", "Öğretmenlerden", "Saatlerden"]),
    ("tr", "[aşçı|doktor]-(y)lA", ["Aşçıyla", "Doktorla"]),
    ("fa", "[خانه|آقا|مرد|گروه]-e", ["خانهٔ", "آقای", "مرد", "گروه"]),
]


@pytest.mark.parametrize(("language", "template", "wanted"), SUFFIXES)
def test_a_suffix_has_the_form_that_goes_with_the_word_before_it(language, template, wanted):
    assert texts(language, template) == wanted


def test_a_set_means_the_same_in_every_language():
    meanings: dict[str, set[tuple[str, str | None, str | None]]] = {}
    for tag in bundled_languages():
        for one in read_sets(FOLDER / tag / "sets.toml"):
            meanings.setdefault(one.id, set()).add((one.terms, one.concepts, one.periphrasis_of))
    assert {name: len(found) for name, found in meanings.items() if len(found) > 1} == {}


def test_a_check_names_equal_terms_foreign_letters_and_forms_that_no_wording_uses(tmp_path):
    body = """category = "nationality"
language = "fa"
inflects = ["Number"]
columns = ["sg", "pl"]
[terms]
egyptian = { gloss = "Egyptian", lemma = "مصری", forms = ["مصری", "مصری‌ها"], place = "مصر" }
english = { gloss = "English", lemma = "انگلیسی", forms = ["انگلیسی", "انگلیسی‌ها"], place = "مصر" }
greek = { gloss = "Greek", lemma = "یونانی", forms = ["یونانیa", "یونانی‌ها"], place = "یونان" }
"""
    (tmp_path / "nationality.toml").write_text(body, "utf-8")
    wordings = 'wordings = ["{nationality:pl} خوب هستند."]'
    (tmp_path / "sets.toml").write_text(
        f'[[set]]\nid = "x"\ncategory = "e"\nterms = "nationality"\n{wordings}', "utf-8"
    )
    found = check_templates("fa", folder=tmp_path)
    path = tmp_path.resolve() / "nationality.toml"
    assert found.problems == (
        f"{path}: 'egyptian' and 'english' have the same place forms: 'مصر'.",
        f"{path}, term 'greek', 'یونانیa': 'یونانیa' mixes arabic and latin letters.",
    )
    assert "nationality: no wording uses the forms place, sg" in found.notes
    assert any(note.startswith("no file for 1") and "disability" in note for note in found.notes)
