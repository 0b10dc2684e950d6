"""Template sentences against tools that were not used to write them: spelling dictionaries and morphological analysers."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from isogloss.templates.checks import expand_sets, sets_path
from isogloss.templates.lexicon import read_lexicon
from isogloss.templates.sets import read_sets

HERE = Path(__file__).parent
SHARES = HERE / "golden" / "dictionaries.json"  # shown in docs/dev/language-reading.md
ALLOWED = tomllib.loads((HERE / "data" / "unknown_words.toml").read_text(encoding="utf-8"))
HUNSPELL = {
    "ar": "ar", "bn": "bn_BD", "de": "de_DE", "el": "el_GR", "en": "en_GB", "es": "es_ES", "fa": "fa_IR", "fr": "fr_FR",
    "he": "he_IL", "hi": "hi_IN", "id": "id_ID", "it": "it_IT", "ko": "ko_KR", "nl": "nl_NL", "pl": "pl_PL", "pt": "pt_PT",
    "pt-BR": "pt_BR", "ro": "ro_RO", "ru": "ru_RU", "sw": "sw_TZ", "tr": "tr_TR", "vi": "vi_VN",
}  # fmt: skip
ASPELL = ("bn", "fa", "hi", "mr")  # word lists that know what the dictionaries do not
WORDFREQ = ("bn", "fa", "he", "hi", "id", "ko", "vi")  # words found in large corpora
TESSERACT = {"ko": "kor", "mr": "mar", "sw": "swa"}  # the word lists of a text recogniser (tesseract-ocr-mar …)
CLDR = (*WORDFREQ, "mr", "sw")  # names of countries and languages
TOOLS = {"fi": "voikkospell", "ja": "unidic", "zh": "jieba", "zh-Hant": "jieba", "mr": "aspell", **dict.fromkeys(HUNSPELL, "hunspell")}  # fmt: skip
ENDINGS = {  # what a regular ending or prefix is replaced by to get the word that a list has
    "bn": {"(?:এরা|েরা|রা|টি|ই|ের|র|য়ের|কে)$": ("",), "ীয়(?:ই|রা)?$": ("", "া", "িয়া")},
    "fa": {"ایی‌ها$": ("", "ا"), "(?:‌?ای|ی)?‌ها$": ("",)},
    "hi": {"ाई$": ("ा",), "(?:ियाई|ी|एँ|ें)$": ("",), "़": ("",)},  # many write no dot
    "ko": {"(?:인|교도)?(?:은|는|이|가|이다|이고|으로|로|이지)?$": ("",)},
    "mr": {"(?:मधील|ातील|ेतील)$": ("", "ा"), "(?:चा|ची|चे|च्या)$": ("",)},
    "sw": {"^[Ww]a": ("", "U", "m"), "^[Mm]": ("",)},
}
FOLDER = Path("/usr/share/hunspell")
TESSDATA = Path("/usr/share/tesseract-ocr")
APERTIUM = Path("/usr/share/apertium")
WORD = re.compile(r"[^\s.,!?;:()«»“”—।،。，]+")
PARTS = re.compile("['’\u200c-]")  # dall'Italia, مسلمان‌ها, mal-educado
NUKTA = {"\u09af\u09bc": "\u09df", "\u09a1\u09bc": "\u09dc", "\u09a2\u09bc": "\u09dd", "\u091c\u093c": "\u095b", "\u092b\u093c": "\u095e", "\u0921\u093c": "\u095c", "\u0922\u093c": "\u095d", "\u0916\u093c": "\u0959", "\u0917\u093c": "\u095a"}  # fmt: skip

pytestmark = pytest.mark.slow


@cache
def sentences(tag: str) -> list[str]:
    made = expand_sets(read_sets(sets_path(tag)), read_lexicon(tag), limit=10**6)
    return [sentence.text for _, sentence in made]


def run(command: list[str], lines: list[str]) -> list[str]:
    text = "".join(f"{line}\n" for line in lines)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()


# ---- spelling


def open_hunspell(name: str) -> Callable[[str], bool]:
    """Whether hunspell's library knows a word; its program cuts words of Indian scripts at every vowel sign."""
    library = ctypes.util.find_library("hunspell-1.7") or "libhunspell-1.7.so.0"
    try:
        spelling = ctypes.CDLL(library)
    except OSError:
        pytest.skip("hunspell's library is not installed")
    if not (FOLDER / f"{name}.dic").exists():
        pytest.skip(f"hunspell's dictionary '{name}' is not installed")
    spelling.Hunspell_create.restype = ctypes.c_void_p
    spelling.Hunspell_get_dic_encoding.restype = ctypes.c_char_p
    handle = ctypes.c_void_p(
        spelling.Hunspell_create(*(str(FOLDER / f"{name}{end}").encode() for end in (".aff", ".dic")))
    )
    encoding = spelling.Hunspell_get_dic_encoding(handle).decode()
    return lambda word: bool(spelling.Hunspell_spell(handle, word.encode(encoding, "replace")))


def spellings(word: str, tag: str) -> set[str]:
    """A word as dictionaries may have it: small, with letters and their dot in one, without a regular ending."""
    stems = {re.sub(end, stem, word) for end, forms in ENDINGS.get(tag, {}).items() for stem in forms}
    small = {form[:1].lower() + form[1:] for form in (word, *stems)}
    joined = set()
    for form in (word, *stems):
        for pair, letter in NUKTA.items():
            form = form.replace(pair, letter)
        joined.add(form)
    return {word} | stems | small | joined


def unknown_words(tag: str, words: list[str]) -> set[str]:
    """The words that no spelling dictionary of the language knows, neither whole nor part by part."""
    if tag == "fi":
        return {line[3:] for line in run(["voikkospell"], words) if line.startswith("W: ")}
    asked = {one for word in words for part in (word, *PARTS.split(word)) for one in spellings(part, tag) if one}
    known = {one for one in asked if one.casefold() in listed_words(tag)}
    if tag in HUNSPELL:
        knows = open_hunspell(HUNSPELL[tag])
        known |= {one for one in asked if knows(one)}
    if tag in ASPELL:
        known |= asked - set(run(["aspell", "-l", tag, "--encoding=utf-8", "list"], sorted(asked)))
    return {word for word in words if not spellings(word, tag) & known and not is_known_by_parts(word, tag, known)}


def is_known_by_parts(word: str, tag: str, known: set[str]) -> bool:
    parts = [part for part in PARTS.split(word) if part]
    return len(parts) > 1 and all(spellings(part, tag) & known or len(part) < 5 for part in parts)


@cache
def listed_words(tag: str) -> frozenset[str]:
    """The words of lists that were made from corpora, and the names of countries and languages."""
    words: set[str] = set()
    if tag in WORDFREQ:
        words |= set(pytest.importorskip("wordfreq").get_frequency_dict(tag, wordlist="best"))
    if tag in TESSERACT:
        words |= set(tesseract_words(TESSERACT[tag]))
    if tag in CLDR:
        locale = pytest.importorskip("babel").Locale.parse(tag)
        names = [*locale.territories.values(), *locale.languages.values()]
        words |= {part for name in names for part in (name, *re.split(r"[\s()\u200c,،-]+", name))}
    return frozenset(unicodedata.normalize("NFC", word).casefold() for word in words)


def tesseract_words(name: str) -> list[str]:
    """The word list of Tesseract's model of a language, by its own tools."""
    models = sorted(TESSDATA.glob(f"*/tessdata/{name}.traineddata"))
    if not models or shutil.which("dawg2wordlist") is None:
        pytest.skip(f"Tesseract's model '{name}' is not installed")
    with tempfile.TemporaryDirectory() as folder:
        start = f"{folder}/{name}."
        run(["combine_tessdata", "-u", str(models[-1]), start], [])
        run(["dawg2wordlist", f"{start}lstm-unicharset", f"{start}lstm-word-dawg", f"{start}txt"], [])
        return Path(f"{start}txt").read_text(encoding="utf-8").splitlines()


def segment(tag: str, texts: list[str]) -> tuple[list[set[str]], set[str]]:
    """The words of sentences without spaces, and those of them that the segmenter's dictionary lacks."""
    if tag == "ja":
        fugashi = pytest.importorskip("fugashi")
        pytest.importorskip("unidic_lite")
        tagger = fugashi.Tagger()
        cut = [[(token.surface, token.is_unk) for token in tagger(text)] for text in texts]
        return [{word for word, _ in tokens} for tokens in cut], {
            word for tokens in cut for word, unknown in tokens if unknown
        }
    jieba = pytest.importorskip("jieba")
    jieba.setLogLevel(60)
    jieba.initialize()
    if tag == "zh-Hant":  # the dictionary is in simplified letters
        texts = pytest.importorskip("opencc").OpenCC("tw2s").convert("\n".join(texts)).split("\n")
    cut = [{word for word in jieba.cut(text, HMM=True) if word[0].isalpha()} for text in texts]
    return cut, {word for words in cut for word in words if len(word) > 1 and not jieba.dt.FREQ.get(word)}


@pytest.mark.parametrize("tag", sorted(TOOLS))
def test_every_word_is_in_a_dictionary_or_on_the_list_with_a_reason(tag):
    tool = TOOLS[tag]
    if tool in ("voikkospell", "aspell") and shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    if tool in ("unidic", "jieba"):
        cut, unknown = segment(tag, sentences(tag))
    else:
        cut = [set(WORD.findall(sentence)) for sentence in sentences(tag)]
        unknown = unknown_words(tag, sorted(set().union(*cut)))
    allowed = {word for listed in ALLOWED.get(tag, {}).values() for word in listed}
    assert unknown - allowed == set()
    assert allowed - unknown == set()  # the list has no word that the dictionary knows
    passed = sum(not unknown & words for words in cut)
    words = len(set().union(*cut))
    lists = (("wordfreq", WORDFREQ), ("Tesseract", TESSERACT), ("CLDR", CLDR))
    tool = ", ".join([tool, *(name for name, tags in lists if tag in tags)])
    share = {"tool": tool, "words": words, "unknown": len(unknown), "passed": round(100 * passed / len(cut), 1)}
    shares = json.loads(SHARES.read_text(encoding="utf-8")) if SHARES.exists() else {}
    if os.environ.get("ISOGLOSS_WRITE_GOLDEN"):
        SHARES.write_text(json.dumps(dict(sorted({**shares, tag: share}.items())), indent=1) + "\n", encoding="utf-8")
        return
    assert shares[tag]["words"] == share["words"]
    assert share["passed"] == pytest.approx(shares[tag]["passed"], abs=2)  # dictionaries differ a little by version


def test_every_reason_of_the_list_is_a_sentence():
    words = [reason for tag, reasons in ALLOWED.items() if tag != "analysers" for reason in reasons]
    analysers = [reason for forms in ALLOWED["analysers"].values() for reason in forms.values()]
    assert all(len(reason.split()) >= 3 for reason in [*words, *analysers])


def test_traditional_chinese_has_the_letters_and_words_of_taiwan():
    opencc = pytest.importorskip("opencc")
    converter = opencc.OpenCC("s2twp")  # simplified letters and mainland words become those of Taiwan
    texts = sentences("zh-Hant")
    converted = converter.convert("\n".join(texts)).split("\n")
    assert [pair for pair in zip(texts, converted, strict=True) if pair[0] != pair[1]] == []


# ---- morphology

CASES = {"Nom": "nomn", "Gen": "gent", "Dat": "datv", "Acc": "accs", "Ins": "ablt", "Loc": "loct"}
NUMBERS = {"Sing": "sing", "Plur": "plur"}
GENDERS = {"Masc": "masc", "Fem": "femn"}


ADVERBS = {"расистски", "rasistowsko", "seksistowsko"}  # before a participle: расистски настроен


def cells(tag: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Every form with its category and features, a form of several words by its words or, of an adjective, by its first."""
    for vocabulary in read_lexicon(tag).vocabularies.values():
        for term in vocabulary.terms.values():
            for cell in term.uses[""]:
                heads = [word for word in cell.text.split() if word not in ADVERBS]
                words = heads[:1] if vocabulary.category.startswith("adj") else cell.text.split(" и ")
                yield from ((vocabulary.category, word, dict(cell.features)) for word in words)


def test_russian_forms_have_the_case_number_and_gender_that_their_cell_says():
    analyser = pytest.importorskip("pymorphy3").MorphAnalyzer()
    wrong = []
    for category, word, features in cells("ru"):
        adjective = category.startswith("adj")  # short forms, which have a gender and no case
        tables = (("Number", NUMBERS), ("Gender", GENDERS)) if adjective else (("Case", CASES), ("Number", NUMBERS))
        wanted = {table[features[name]] for name, table in tables if name in features}
        readings = [parse.tag.grammemes for parse in analyser.parse(word)]
        if not any(wanted <= tags and (not adjective or tags & {"ADJS", "PRTS"}) for tags in readings):
            wrong.append((word, sorted(wanted)))
    assert wrong == []


ANALYSERS = {
    "es": "apertium-spa-ita/spa-ita", "fr": "apertium-fra-cat/fra-cat", "hi": "apertium-hin/hin", "it": "apertium-spa-ita/ita-spa",
    "pl": "apertium-pol-szl/pol-szl", "pt": "apertium-por-cat/por-cat", "pt-BR": "apertium-por-cat/por-cat", "ro": "apertium-es-ro/ro-es",
}  # fmt: skip
TAGS = {
    ("Gender", "Masc"): {"m", "mf", "mp", "ma", "mi", "mn", "mfn", "GD"}, ("Gender", "Fem"): {"f", "mf", "fn", "mfn", "GD"},
    ("Number", "Sing"): {"sg", "sp", "ND"}, ("Number", "Plur"): {"pl", "sp", "ND"},
    ("Case", "Nom"): {"nom"}, ("Case", "Gen"): {"gen"}, ("Case", "Ins"): {"ins"},
}  # fmt: skip


def contradictions(tag: str, analysis: str) -> tuple[int, list[str]]:
    """How many forms an Apertium analyser knows, and those for which none of its analyses has what their cell says.

    A noun with one form for women and men (Polish *inżynier*) has the gender that its dictionary gives it.
    """
    rows = [(word, features) for _, word, features in cells(tag) if " " not in word]
    genders = {word: {features.get("Gender") for other, features in rows if other == word} for word, _ in rows}
    output = run(["lt-proc", analysis], [word for word, _ in rows])
    known, wrong = 0, []
    for (word, features), line in zip(rows, output, strict=True):
        readings = [
            set(re.findall("<(.*?)>", reading)) for reading in line.split("/")[1:] if not reading.startswith("*")
        ]
        readings = [tags for tags in readings if tags & {"n", "adj"}]
        cased = any("nom" in tags for tags in readings)
        told = (
            {"Number"}
            | ({"Gender"} if len(genders[word]) == 1 else set())
            | ({"Case"} if cased and tag == "pl" else set())
        )
        needs = [TAGS[pair] for pair in features.items() if pair in TAGS and pair[0] in told]
        known += bool(readings)
        if readings and not any(all(tags & need for need in needs) for tags in readings):
            wrong.append(f"{word} {features}: {line}")
    return known, wrong


@pytest.mark.parametrize("tag", sorted(ANALYSERS))
def test_forms_have_the_gender_and_number_that_an_apertium_analyser_reads(tag):
    analysis = APERTIUM / f"{ANALYSERS[tag]}.automorf.bin"
    if shutil.which("lt-proc") is None or not analysis.exists():
        pytest.skip(f"Apertium's analyser for '{tag}' is not installed")
    known, wrong = contradictions(tag, str(analysis))
    assert known > 80
    allowed = ALLOWED.get("analysers", {}).get(tag, {})
    assert [line for line in wrong if line.split()[0] not in allowed] == []
