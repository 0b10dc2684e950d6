"""Checks that know something of the language: the target's name, the language itself, and articles that clash."""

import importlib.util
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from .. import languages
from ..chat.text_normalisation import script_of
from ..errors import require
from ..items import BLANK, Item, Problem
from ..languages import Language
from .check import fold, is_cloze, texts

ENOUGH_LETTERS = 40
SURE = 0.99  # a lower probability names too many short sentences of close languages
SCRIPTS = {  # by ISO 15924 code, the first words of the Unicode names of its letters
    "Arab": ("ARABIC",), "Armn": ("ARMENIAN",), "Beng": ("BENGALI",), "Cyrl": ("CYRILLIC",), "Deva": ("DEVANAGARI",),
    "Ethi": ("ETHIOPIC",), "Geor": ("GEORGIAN",), "Grek": ("GREEK",), "Gujr": ("GUJARATI",), "Guru": ("GURMUKHI",),
    "Hans": ("CJK", "BOPOMOFO"), "Hant": ("CJK", "BOPOMOFO"), "Hebr": ("HEBREW",),
    "Jpan": ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"), "Khmr": ("KHMER",), "Knda": ("KANNADA",),
    "Kore": ("HANGUL", "CJK"), "Laoo": ("LAO",), "Latn": ("LATIN",), "Mlym": ("MALAYALAM",), "Mymr": ("MYANMAR",),
    "Orya": ("ORIYA",), "Sinh": ("SINHALA",), "Taml": ("TAMIL",), "Telu": ("TELUGU",), "Thai": ("THAI",),
}  # fmt: skip
SEVERAL_SCRIPTS = frozenset(
    ["az", "bs", "kk", "ku", "ky", "mn", "ms", "pa", "sd", "sr", "sh", "tg", "tk", "tt", "ug", "uz"]
)
"""Languages that are written in more than one script; a tag such as sr-Latn says which."""
SOME = 0.1  # of a sample; of the 21,142 items of StereoSet and its four translations, none looks like another language
NOTICED = 100  # items of a language that are looked at before they are scored


def target_missing(item: Item) -> str | None:
    """A sentence when the target term, as written in this language, does not occur in the item."""
    term = item.tags.get("target_term") or item.tags.get("target")
    if not isinstance(term, str) or not item.context:
        return None
    where = " ".join([item.context or "", *(candidate.text for candidate in item.candidates)])
    missing = fold(term, item.language) not in fold(where, item.language)
    return f"'{term}' is not in the text" if missing else None


def wrong_script(item: Item, language: Language) -> str | None:
    """A sentence when most letters are of other scripts than the language is written in."""
    pattern = SCRIPTS.get(language.script)
    if pattern is None or item.language in SEVERAL_SCRIPTS:
        return None
    text = " ".join(texts(item)).replace(BLANK, " ")
    if "LATIN" in pattern and text.isascii():
        return None
    counts = Counter(script_of(letter) for letter in text if letter.isalpha())
    others = Counter({name: count for name, count in counts.items() if name not in pattern})
    if 2 * others.total() <= counts.total():
        return None
    return f"is written in {others.most_common(1)[0][0].capitalize()} letters, not in those of '{item.language}'"


def wrong_language(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
    """The items that are surely in another language than they say; not those whose script says so already."""
    identified: dict[str, tuple[str, bool]] = {}
    indexes, long_texts, expected = [], [], []
    for index, item in enumerate(items):
        if item.language not in identified:
            tag = item.language.split("-")[0]  # without region or script
            identified[item.language] = tag, tag in supported()
        tag, reliable = identified[item.language]
        context = item.context.replace(BLANK, " ") if item.context else ""
        text = " ".join(dict.fromkeys([context, *[candidate.text for candidate in item.candidates]]))
        if reliable and len(text) >= ENOUGH_LETTERS and not wrong_script(item, languages.describe(item.language)):
            indexes.append(index)
            long_texts.append(text)
            expected.append(tag)
    for position, guess in find_foreign(long_texts, expected):
        yield indexes[position], f"looks like '{guess}', not '{items[indexes[position]].language}'"


def notice_language(items: Sequence[Item]) -> dict[str, tuple[int, tuple[Problem, ...]]]:
    """By language, the size of a sample, and a problem for each of its items that is surely in another language or script.

    A language is left out where these are fewer than a tenth of its sample.
    """
    noticed = {}
    for tag in dict.fromkeys(item.language for item in items):
        rows = [item for item in items if item.language == tag]
        rows, language = rows[:: max(1, len(rows) // NOTICED)], languages.describe(tag)
        scripts = ((row.id, message) for row in rows if (message := wrong_script(row, language)))
        wrong = [Problem("wrong_script", "warning", name, message, tag) for name, message in scripts]
        if no_identifier() is None:
            foreign = wrong_language(rows)
            wrong += [Problem("wrong_language", "warning", rows[at].id, message, tag) for at, message in foreign]
        if wrong and len(wrong) >= SOME * len(rows):
            noticed[tag] = len(rows), tuple(wrong)
    return noticed


def no_identifier() -> str | None:
    """Why the language of a text cannot be told here, or nothing."""
    spec = importlib.util.find_spec("py3langid")
    return (
        None
        if spec
        else "not checked: the library 'py3langid' is missing: pip install \".[translate]\" in your copy of Isogloss"
    )


def article_clash(item: Item, language: Language) -> str | None:
    """A sentence when the article in front of BLANK does not fit one of the words.

    The language file's [articles] say which genders an article goes with (`genders`), which endings tell a gender
    (`endings`, with `exceptions`), and which articles precede vowels or consonants only (`sounds`).
    """
    rules = language.sections.get("articles")
    match = re.search(rf"(?:^|[\s\"«“¿¡(])([^\W\d_]+['’]?)\s?{BLANK}(?!\w)", item.context or "")
    if not rules or not match or not is_cloze(item):
        return None
    article = match[1].casefold()
    for candidate in item.candidates:
        word = (candidate.word or "").casefold()
        if _gender_clash(article, word, rules=rules) or _sound_clash(article, word, rules=rules):
            return f"'{match[1]} {candidate.word}' does not agree"
    return None


def gender_of(word: str, rules: Mapping[str, Any]) -> str | None:
    """The gender that the language file's exceptions, or the longest fitting ending, give a word."""
    for gender, words in rules.get("exceptions", {}).items():
        if word in words:
            return None if gender == "any" else str(gender)
    fitting = [
        (len(ending), gender)
        for gender, endings in rules.get("endings", {}).items()
        for ending in endings
        if word.endswith(ending) and len(word) > len(ending)
    ]
    gender = max(fitting)[1] if fitting else None
    return None if gender == "any" else gender


def _gender_clash(article: str, word: str, *, rules: Mapping[str, Any]) -> bool:
    fits = {gender for gender, articles in rules.get("genders", {}).items() if article in articles}
    if not fits or not word or " " in word:
        return False
    gender = gender_of(word, rules)
    return gender is not None and gender not in fits


def _sound_clash(article: str, word: str, *, rules: Mapping[str, Any]) -> bool:
    sounds = rules.get("sounds", {})
    vowels = str(sounds.get("vowels", ""))
    if not vowels or not word[:1].isalpha() or word in sounds.get("exceptions", ()):
        return False
    is_vowel = word[0] in vowels
    return article in sounds.get("consonant" if is_vowel else "vowel", ())


@cache
def load_identifier() -> Any:
    """py3langid's identifier, with probabilities."""
    langid = require("py3langid.langid", extra="translate")
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)


@cache
def supported() -> frozenset[str]:
    """The languages that can be identified."""
    return frozenset(load_identifier().labels)


def find_foreign(texts: Sequence[str], expected: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The index of each text that is surely in another language than expected, and that language."""
    identifier = load_identifier()
    for index, (text, language) in enumerate(zip(texts, expected, strict=True)):
        guess, probability = identifier.classify(text)
        if guess != language and probability >= SURE:
            yield index, str(guess)
