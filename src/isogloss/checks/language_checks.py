"""Checks that know something of the language: the target's name, the language itself, and articles that clash."""

import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..items import BLANK, Item, Problem
from ..languages import Language
from .check import fold, is_cloze
from .identification import find_foreign, supported

ENOUGH_LETTERS = 40
NOTICED = 100  # items of a language that are looked at before they are scored


def target_missing(item: Item) -> str | None:
    """A sentence when the target term, as written in this language, does not occur in the item."""
    term = item.tags.get("target_term") or item.tags.get("target")
    if not isinstance(term, str) or not item.context:
        return None
    where = " ".join([item.context or "", *(candidate.text for candidate in item.candidates)])
    missing = fold(term, item.language) not in fold(where, item.language)
    return f"'{term}' is not in the text" if missing else None


def wrong_language(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
    """The items that are surely in another language than they say."""
    known: dict[str, tuple[str, bool]] = {}
    indexes, long_texts, expected = [], [], []
    for index, item in enumerate(items):
        if item.language not in known:
            own = item.language.split("-")[0]  # without region or script
            known[item.language] = own, own in supported()
        own, reliable = known[item.language]
        context = item.context.replace(BLANK, " ") if item.context else ""
        text = " ".join(dict.fromkeys([context, *[candidate.text for candidate in item.candidates]]))
        if reliable and len(text) >= ENOUGH_LETTERS:
            indexes.append(index)
            long_texts.append(text)
            expected.append(own)
    for position, guess in find_foreign(long_texts, expected):
        yield indexes[position], f"looks like '{guess}', not '{items[indexes[position]].language}'"


def notice_language(items: Sequence[Item]) -> tuple[Problem, ...]:
    """A problem for each item of a sample that is surely in another language, where that is most of a language's sample."""
    if no_identifier() is not None:
        return ()
    problems: list[Problem] = []
    for tag in dict.fromkeys(item.language for item in items):
        rows = [item for item in items if item.language == tag]
        rows = rows[:: max(1, len(rows) // NOTICED)]
        wrong = [
            Problem("wrong_language", "warning", rows[at].id, message, tag) for at, message in wrong_language(rows)
        ]
        problems += wrong if 2 * len(wrong) > len(rows) else []
    return tuple(problems)


def no_identifier() -> str | None:
    """Why the language of a text cannot be told here, or nothing."""
    spec = importlib.util.find_spec("py3langid")
    return None if spec else "not checked: the library 'py3langid' is missing: pip install \"isogloss[translate]\""


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
