"""Languages: the laws of every language file, looking one up, and starting a new one."""

from __future__ import annotations

import tomllib
import unicodedata
from importlib.metadata import EntryPoint
from pathlib import Path

import langcodes
import pytest

from isogloss import languages
from isogloss.chat.prompt_words import prompt_words_of
from isogloss.errors import IsoglossError
from support.offenders import for_every

FOLDER = Path(languages.__file__).parent / "data" / "languages"
ASKED_FOR = [
    "en",
    "de",
    "es",
    "fr",
    "tr",
    "el",
    "fa",
    "ar",
    "bn",
    "zh",
    "zh-Hant",
    "nl",
    "hi",
    "it",
    "mr",
    "pl",
    "pt-BR",
    "pt",
    "ro",
    "ru",
    "ja",
    "id",
    "sw",
    "fi",
    "ko",
    "he",
    "vi",
]
FILES = sorted(FOLDER.glob("*.toml"))
each = for_every(path=FILES)
VALID = 'tag = "{tag}"\nname = "Test"\nautonym = "test"\ndirection = "ltr"\nscript = "Latn"\nspaces = true\n'


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    """A folder for the user's own languages, forgotten afterwards."""
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path))
    folder = tmp_path / "languages"
    folder.mkdir()
    yield folder
    languages.clear_cache()


def test_every_language_that_was_asked_for_has_a_file():
    assert set(ASKED_FOR) <= set(languages.tags())


@each
def test_the_tag_is_the_file_name_and_standard_bcp_47(path):
    assert languages.get(path.stem).tag == path.stem
    assert langcodes.tag_is_valid(path.stem)
    assert langcodes.standardize_tag(path.stem) == path.stem


@for_every(tag=ASKED_FOR)
def test_every_language_that_was_asked_for_has_prompts_and_templates(tag):
    from isogloss.templates.lexicon import FOLDER as TEMPLATES

    assert "ask" in languages.get(tag).sections
    assert {path.stem for path in (TEMPLATES / tag).glob("*.toml")} >= {
        "gender",
        "profession",
        "nationality",
        "sets",
        "rules",
    }


@each
def test_a_file_is_nfc_and_has_no_empty_text(path):
    text = path.read_text(encoding="utf-8")
    assert unicodedata.is_normalized("NFC", text)
    facts = tomllib.loads(text)
    assert all(facts[name].strip() for name in ("tag", "name", "autonym", "direction", "script"))


@each
def test_the_script_is_one_that_the_language_is_written_in(path):
    language = languages.get(path.stem)
    assert langcodes.Language.make(script=language.script).is_valid()
    assert language.script == langcodes.Language.get(path.stem).maximize().script


@each
def test_the_direction_follows_from_the_script(path):
    language = languages.get(path.stem)
    assert language.direction == ("rtl" if language.script in ("Arab", "Hebr") else "ltr")


@each
def test_only_chinese_japanese_and_thai_do_without_spaces(path):
    language = languages.get(path.stem)
    assert language.spaces is (language.tag.split("-")[0] not in ("zh", "ja", "th"))


def test_no_two_languages_share_a_name():
    found = [languages.get(tag) for tag in languages.tags()]
    names = [name.casefold() for one in found for name in {one.name, one.autonym}]
    assert len(names) == len(set(names))


@each
def test_a_language_is_found_by_tag_name_and_own_name_in_any_case(path):
    language = languages.get(path.stem)
    for name in (language.tag, language.tag.lower(), language.name, language.name.upper(), language.autonym):
        assert languages.resolve(name) == language.tag
        assert languages.get(name) is language


def test_a_well_formed_tag_needs_no_file():
    assert languages.resolve("ig") == "ig"
    assert languages.resolve("sr-latn") == "sr-Latn"
    assert (languages.describe("ig").name, languages.describe("ig").autonym) == ("Igbo", "Igbo")


@pytest.mark.parametrize(
    ("name", "tag"),
    [("pl_PL", "pl"), ("pl-PL", "pl"), ("pol", "pl"), ("pl_PL.UTF-8", "pl"), ("de_AT", "de-AT"), ("zh_TW", "zh-Hant")],
)
def test_every_usual_form_of_a_code_is_understood(name, tag):
    assert languages.resolve(name) == languages.standard_tag(name) == tag


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("Ukrainian", "uk"),
        ("українська", "uk"),
        ("Catalan", "ca"),
        ("català", "ca"),
        ("ucraniano", "uk"),
        ("Igbo", "ig"),
    ],
)
def test_a_language_without_a_file_is_found_by_its_name_in_any_language(name, tag):
    assert languages.resolve(name) == tag


def test_a_language_without_a_file_is_shown_by_its_name():
    language = languages.describe("uk")
    assert (language.name, language.autonym, language.script) == ("Ukrainian", "українська", "Cyrl")
    assert languages.describe("de-AT").name == "German (Austria)"
    assert languages.describe("qaa").name == "qaa"  # a private tag has no name


def test_an_unknown_name_says_what_to_use():
    use = (
        "Use a tag such as 'pl', 'sw' or 'pt-BR', or a name such as 'Polish' or 'polski'. "
        "Languages with a file: isogloss list languages"
    )
    for name, near in (("xx", ""), ("Polsh", " Did you mean 'polish'?")):
        with pytest.raises(IsoglossError) as caught:
            languages.resolve(name)
        assert str(caught.value) == f"No language named '{name}'.{near} {use}"


def test_a_tag_that_is_none_is_refused():
    with pytest.raises(IsoglossError) as caught:
        languages.standard_tag("de_DE!")
    assert str(caught.value) == "'de_DE!' is not a language tag. Use BCP 47, such as 'de', 'pt-BR' or 'zh-Hant'."


def test_a_new_language_is_a_valid_file_in_the_home_folder(own_home):
    path = languages.new("pt-ao")
    assert path == own_home / "pt-AO.toml"
    assert languages.get("pt-AO").path == path
    assert "pt-AO" in languages.tags()


def test_an_existing_language_is_never_overwritten(own_home, tmp_path):
    first = languages.new("ig", folder=tmp_path / "mine")
    with pytest.raises(IsoglossError) as caught:
        languages.new("ig", folder=tmp_path / "mine")
    assert str(caught.value) == f"'ig' has a file already: {first}. Edit that one."
    with pytest.raises(IsoglossError, match=r"^'de' has a file already: "):
        languages.new("de", folder=tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(IsoglossError) as caught:
        languages.new("ig", folder=tmp_path / "file" / "x")
    path = tmp_path / "file" / "x" / "ig.toml"
    assert str(caught.value) == f"Cannot write {path} (Not a directory). Is the folder writable, and the disk not full?"


def test_an_own_file_goes_before_the_one_that_ships(own_home):
    (own_home / "de.toml").write_text(VALID.format(tag="de"))
    assert languages.get("de").name == "Test"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tag = ", "not a TOML file: Invalid value (at end of document)."),
        (VALID.format(tag="qaa").replace("script", "skript"), "a language file needs 'script', a text."),
        (VALID.format(tag="qaa").replace("true", '"yes"'), "a language file needs 'spaces', true or false."),
        (VALID.format(tag="qaa").replace("ltr", "up"), "direction is 'up'; use 'ltr' or 'rtl'."),
        (VALID.format(tag="yy"), "the tag 'yy' differs from the file's name."),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(own_home, text, problem):
    path = own_home / "qaa.toml"
    path.write_text(text)
    with pytest.warns(UserWarning, match="A language file is skipped"), pytest.raises(IsoglossError) as caught:
        languages.get("qaa")
    assert str(caught.value) == f"{path}: {problem}"


def test_all_that_a_file_lacks_is_named_at_once(own_home):
    (own_home / "qaa.toml").write_text(
        'tag = "qaa"\nspaces = 1\n[ask.prompts]\nagree = "no slot"\n[ask.answers]\nyes = ["yes"]\n'
    )
    with pytest.warns(UserWarning, match="A language file is skipped"), pytest.raises(IsoglossError) as caught:
        languages.get("qaa")
    assert str(caught.value).removeprefix(f"{own_home / 'qaa.toml'}: ") == (
        "a language file needs 'name', 'autonym', 'direction', 'script', texts; "
        "a language file needs 'spaces', true or false; "
        "the prompts ask.prompts.stereotype, ask.prompts.agree, ask.prompts.disagree must hold "
        "{statement}, {first}, {second}, each once; "
        "ask.answers.no, ask.answers.agree, ask.answers.disagree, ask.answers.stereotype, ask.answers.negations, "
        "ask.answers.refusals, ask.answers.joiners, ask.answers.openers, ask.answers.conditions "
        "must be lists of words, and not empty."
    )


def test_a_broken_file_of_one_language_breaks_no_other(own_home):
    (own_home / "de.toml").write_text("tag = ")
    with pytest.warns(UserWarning, match=r"A language file is skipped. .*de\.toml: not a TOML file"):
        assert languages.resolve("Polish") == "pl"
    assert languages.get("de").name == "German"  # the one that ships
    assert languages.describe("de").autonym == "Deutsch"


def test_the_skeleton_becomes_a_language_that_can_be_asked(own_home):
    path = languages.new("Ukrainian")
    assert (path.name, languages.get("uk").autonym) == ("uk.toml", "українська")
    text = path.read_text()
    start = text.index("# [ask.prompts]")
    filled = [line.removeprefix("# ") for line in text[start:].splitlines() if "=" in line or line.startswith("# [")]
    path.write_text(text[:start] + "\n".join(filled))
    languages.clear_cache()
    assert prompt_words_of(languages.get("uk")).words == ("…", "…")


def test_a_broken_package_of_languages_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path))  # nothing was looked up there before
    point = EntryPoint("martian", "no_such_package.languages", "isogloss.languages")
    monkeypatch.setattr(languages, "entry_points", lambda group: [point])
    with pytest.raises(IsoglossError) as caught:
        languages.tags()
    assert str(caught.value) == (
        "The languages 'martian' of another package (no_such_package.languages) cannot be imported: "
        "ModuleNotFoundError: No module named 'no_such_package'. Fix or uninstall that package."
    )
