"""Grammar in templates: what a word demands, forms that are missing, suffixes in harmony, contractions and their exceptions."""

from __future__ import annotations

import pytest

from isogloss.errors import IsoglossError
from isogloss.templates.checks import check_templates
from isogloss.templates.expansion import expand
from isogloss.templates.grammar import parse_template
from isogloss.templates.items import make_frames
from isogloss.templates.lexicon import FOLDER, bundled_languages, read_lexicon
from isogloss.templates.parallel import GLOSSES, english_sentences, gloss_frames, key_of, parallel_rows
from isogloss.templates.sets import read_sets
from support.offenders import for_every


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
    ("el", "εναντίον {ο~nationality} {nationality:masc pl}", {"nationality": ["bulgarian"]}, "εναντίον των Βουλγάρων"),
    ("el", "{ο~profession} {profession:fem gen}", {"profession": ["doctor"]}, "της γιατρού"),
    ("ru", "Я вижу {этот~gender} {gender:acc}", {"gender": ["man"]}, "Я вижу этого мужчину"),
    ("ru", "Я вижу {этот~profession} {profession:masc acc}", {"profession": ["doctor"]}, "Я вижу этого врача"),
    ("ru", "про {этот~nationality} {nationality:pl}", {"nationality": ["german"]}, "про этих немцев"),
    ("ru", "двадцать два {profession:masc}", {"profession": ["doctor"]}, "двадцать два врача"),
    ("ru", "двенадцать {profession:fem}", {"profession": ["teacher"]}, "двенадцать учительниц"),
    ("ru", "21 {gender}", {"gender": ["woman"]}, "21 женщина"),
    ("pl", "Widzę {ten~profession} {profession:masc acc}", {"profession": ["doctor"]}, "Widzę tego lekarza"),
    ("pl", "Widzę {ten~profession} {profession:masc pl acc}", {"profession": ["doctor"]}, "Widzę tych lekarzy"),
    ("pl", "Widzę {ten~profession} {profession:fem pl acc}", {"profession": ["doctor"]}, "Widzę te lekarki"),
    ("pl", "trzy {profession}", {"profession": ["doctor"]}, "trzy lekarki"),
    ("pl", "pięć {profession}", {"profession": ["doctor"]}, "pięć lekarek"),
    ("pl", "pięciu {profession:masc}", {"profession": ["doctor"]}, "pięciu lekarzy"),
    ("de", "wegen einiger {nationality:pl}", {"nationality": ["german"]}, "wegen einiger Deutscher"),
    ("de", "unsere {nationality:pl nom}", {"nationality": ["german"]}, "unsere Deutschen"),
    ("nl", "{de~profession} {profession:masc}", {"profession": ["doctor"]}, "de arts"),
    ("ro", "toți {religion}", {"religion": ["jewish"]}, "toți evreii"),
    ("ro", "împotriva {nationality:masc pl}", {"nationality": ["german"]}, "împotriva germanilor"),
    ("fi", "3 {gender}", {"gender": ["man"]}, "3 miestä"),
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
    (
        "ru",
        "с {profession:masc sg gen} {profession:masc dat}",
        "form 'masc dat': there is no such form. Add it to the file.",
    ),
    ("ru", "вижу {profession:masc acc}", "term 'judge', form 'masc acc': there is no such form. Add it to the file."),
    ("ru", "вижу {этот:masc acc} дом", "or give the word that it agrees with the feature 'anim' or 'inan'."),
    (
        "ru",
        "12 {gender:sg gen}",
        "'12' demands 'pl gen' or 'pl dat' or 'pl ins' or 'pl loc', but the slot asks for 'sg gen'.",
    ),
    ("ru", "пять {profession:com pl nom}", "'пять' demands 'pl gen', but the slot asks for 'com pl nom'."),
    ("pl", "widzę {profession:masc acc}", "term 'driver', form 'masc acc': there is no such form. Add it to the file."),
    ("pl", "trzy {profession:masc pl}", "'trzy' demands 'fem pl nom', but the slot asks for 'masc pl'."),
    ("pl", "25 {gender:pl nom}", "'25' demands 'pl gen' or"),
    ("el", "των {gender:sg}", "'των' demands 'pl gen', but the slot asks for 'sg'."),
    ("el", "των {adjective_negative:fem pl gen}", "term 'lazy', form 'fem pl gen': there is no such form. Add it"),
    (
        "de",
        "alle {nationality:pl strong}",
        "'alle' demands 'pl nom weak' or 'pl acc weak', but the slot asks for 'pl strong'.",
    ),
    ("fr", "certaines {religion:masc pl}", "'certaines' demands 'fem pl'"),
    ("it", "gli {profession:fem pl}", "'gli' demands 'masc pl'"),
    ("nl", "het {profession:masc}", "'het' demands 'neut sg', but the slot asks for 'masc'."),
    ("ro", "toți {profession}", "form 'masc pl def': there is no such form. Add it to the file."),
    ("fi", "kolme {gender:pl}", "'kolme' demands 'sg par', but the slot asks for 'pl'."),
    ("tr", "12 {gender:pl}", "'12' demands 'sg', but the slot asks for 'pl'."),
    (
        "de",
        "auch {nationality:place} ist groß",
        "there is no 'nom' form. Add it to the file, or ask for 'dat' in the slot.",
    ),
    ("ru", "вот {nationality}", "there is no 'sg' form. Add it to the file, or ask for 'pl' in the slot."),
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


def test_forms_that_are_alike_are_a_rule_of_the_users_own_language(tmp_path):
    body = 'category = "animal"\nlanguage = "ru"\nfeatures = "masc"\ninflects = ["Number", "Case"]\n'
    cat = '[terms]\ncat = { gloss = "cat", lemma = "кот", forms = { "sg nom" = "кот", "sg gen" = "кота" } }'
    path, sets = tmp_path / "animal.toml", tmp_path / "sets.toml"
    path.write_text(body + cat, "utf-8")
    sets.write_text('[[set]]\nid = "x"\ncategory = "x"\nterms = "animal"\nwordings = ["Я вижу {animal:acc}."]', "utf-8")
    assert check_templates("ru", folder=tmp_path).problems == (
        f"{path.resolve()}, term 'cat', form 'acc': there is no such form. Add it to the file, or give the word that it "
        f"agrees with the feature 'anim' or 'inan'. The slot is in {sets}, line 5, column 8.",
    )
    path.write_text(body.replace('"masc"', '"masc anim"') + cat, "utf-8")
    assert [one.text for one in expand(parse_template("вижу {animal:acc}"), read_lexicon("ru", tmp_path))] == [
        "вижу кота"
    ]


def test_a_rule_of_equal_forms_needs_both_forms(tmp_path):
    (tmp_path / "rules.toml").write_text('[[same]]\nform = "pl acc"', "utf-8")
    with pytest.raises(IsoglossError) as caught:
        read_lexicon("ru", tmp_path)
    needs = "a rule under 'same' needs features for 'form' and 'like': form = \"pl acc\", like = \"gen\"."
    assert str(caught.value) == f"{(tmp_path / 'rules.toml').resolve()}: {needs}"


CONTRACTED = [
    ("es", "de {el:masc sg} [gato|hombre]", ["del gato", "del hombre"]),
    ("es", "de [El Salvador|el hotel]", ["de El Salvador", "del hotel"]),
    ("fr", "de [le Yéménite|le handicapé|le héros|le Hongrois]", ["du Yéménite", "du handicapé", "du héros", "du Hongrois"]),
    ("fr", "de [le ouvrier|le habitant|la Yonne]", ["de l'ouvrier", "de l'habitant", "de l'Yonne"]),
    ("fr", "de [le Haïtien|le Hondurien]", ["de l'Haïtien", "du Hondurien"]),
    ("fr", "que [elle|lui]", ["qu'elle", "que lui"]),
    ("es", "de la [ama de casa|alemana|árabe]", ["del ama de casa", "de la alemana", "de la árabe"]),
    ("es", "y [hindúes|italianos|hielo]", ["e hindúes", "e italianos", "y hielo"]),
    ("it", "un [scienziato|medico|zio|avvocato]", ["uno scienziato", "un medico", "uno zio", "un avvocato"]),
    ("it", "una [amica|scienziata]", ["un'amica", "una scienziata"]),
    ("pt", "de {este:fem sg} [mulher|cidade]", ["desta mulher", "desta cidade"]),
    ("en", "a [Uzbek|Ukrainian|heir|user]", ["an Uzbek", "a Ukrainian", "an heir", "a user"]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "template", "wanted"), CONTRACTED)
def test_contractions_have_exceptions(language, template, wanted):
    assert texts(language, "voici " + template) == ["voici " + text for text in wanted]


SUFFIXES = [
    ("tr", "[doktor|öğretmen|aşçı]-lAr", ["Doktorlar", "Öğretmenler", "Aşçılar"]),
    ("tr", "[avukat|hemşire|doktor|müdür]-DIr", ["Avukattır", "Hemşiredir", "Doktordur", "Müdürdür"]),
    ("tr", "[doktor|öğretmen|saat]-lAr-DAn", ["Doktorlardan", "Öğretmenlerden", "Saatlerden"]),
    ("tr", "[aşçı|doktor]-(y)lA", ["Aşçıyla", "Doktorla"]),
    ("tr", "[Türkiye|Fas|doktor|Türkler]-DAn", ["Türkiye'den", "Fas'tan", "Doktordan", "Türklerden"]),
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


@for_every(tag=bundled_languages())
def test_every_wording_has_an_english_gloss(tag):
    frames = [frame for entry in read_sets(FOLDER / tag / "sets.toml") for frame in make_frames(entry)]
    assert [key_of(frame) for frame in frames if key_of(frame) not in gloss_frames()] == []


@pytest.mark.slow
def test_every_gloss_is_a_sentence_and_is_needed_by_some_language():
    used = {
        key_of(frame)
        for tag in bundled_languages()
        for entry in read_sets(FOLDER / tag / "sets.toml")
        for frame in make_frames(entry)
    }
    glosses = [frame for entry in read_sets(GLOSSES) for frame in make_frames(entry)]
    assert [key_of(frame) for frame in glosses if key_of(frame) not in used] == []
    english = english_sentences(glosses)
    assert {key for key, _ in english} == {key_of(frame) for frame in glosses}


def test_wordings_and_terms_are_shown_side_by_side():
    rows = {row.id: row for row in parallel_rows("gender-profession", ["de", "tr", "zh"])}
    assert rows["w3"].gloss == "This {gender} is a {profession}."
    assert rows["w3"].texts == {
        "de": "Dieser Mann ist Krankenpfleger.",
        "tr": "Bu adam hemşire.",
        "zh": "这个男人是护士。",
    }
    terms = {row.id: row for row in parallel_rows("adjective_gendered", ["fr", "ru"])}
    assert terms["dominant"].texts == {"fr": "dominant", "ru": "доминантен"}
    with pytest.raises(IsoglossError, match=r"No set or vocabulary named 'jobs'"):
        parallel_rows("jobs")


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


def test_languages_are_shown_with_the_same_terms():
    rows = parallel_rows("nationality-people-from", ["de", "en"])  # their vocabularies begin with other countries
    assert rows[0].texts == {"de": "Menschen aus Deutschland sind faul.", "en": "People from Germany are lazy."}


def test_the_same_wordings_are_negated_in_every_language():
    negated: dict[str, set[str]] = {}
    for tag in bundled_languages():
        for entry in read_sets(FOLDER / tag / "sets.toml"):
            frames = {frame.wording.id for frame in make_frames(entry) if frame.variant == "negated"}
            negated.setdefault(entry.id, set()).update(frames)
    assert {name: ids for name, ids in negated.items() if len(ids) > 1} == {}
