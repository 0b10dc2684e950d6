"""Checks that know something of the language: the target's name, the language itself, and articles that clash."""

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ..errors import require
from ..items import BLANK, Item, Problem
from ..languages import Language
from .check import fold, is_cloze

SURE = 0.99
ENOUGH_LETTERS = 40
NOTICED = 100  # items of a language that are looked at before they are scored
IDENTIFIED = 20_000  # items of a language whose text is identified before more are


def target_missing(item: Item) -> str | None:
    """A sentence when the target term, as written in this language, stands nowhere in the item."""
    term = item.tags.get("target_term") or item.tags.get("target")
    if not isinstance(term, str) or not item.context:
        return None
    where = " ".join([item.context or "", *(candidate.text for candidate in item.candidates)])
    missing = fold(term, item.language) not in fold(where, item.language)
    return f"'{term}' is not in the text" if missing else None


def wrong_language(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
    """The items that are surely in another language than they say.

    Of very many items in a language some are looked at, spread over all, and the rest only where one of these is wrong.
    """
    places: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        places.setdefault(item.language, []).append(index)
    for chosen in places.values():
        step = max(1, len(chosen) // IDENTIFIED)
        wrong = list(_identified(items, chosen[::step]))
        yield from _identified(items, chosen) if wrong and step > 1 else wrong


def _identified(items: Sequence[Item], places: Sequence[int]) -> Iterator[tuple[int, str]]:
    classify, supported = _identifier()
    for index in places:
        item = items[index]
        own = item.language.split("-")[0]
        text = " ".join(dict.fromkeys([(item.context or "").replace(BLANK, " "), *(c.text for c in item.candidates)]))
        if own not in supported or len(text) < ENOUGH_LETTERS:
            continue
        guess, sure = classify(text)
        if guess != own and sure >= SURE:
            yield index, f"looks like '{guess}', not '{item.language}'"


def notice_language(items: Sequence[Item]) -> tuple[Problem, ...]:
    """A problem for each item of a sample that is surely in another language, where that is most of a language's sample."""
    if no_identifier() is not None:
        return ()
    problems: list[Problem] = []
    for tag in dict.fromkeys(item.language for item in items):
        rows = [item for item in items if item.language == tag]
        rows = rows[:: max(1, len(rows) // NOTICED)]
        wrong = [Problem("wrong_language", "warning", rows[at].id, said, tag) for at, said in wrong_language(rows)]
        problems += wrong if 2 * len(wrong) > len(rows) else []
    return tuple(problems)


def no_identifier() -> str | None:
    """Why the language of a text cannot be told here, or nothing."""
    spec = importlib.util.find_spec("py3langid")
    return None if spec else "not checked: the library 'py3langid' is missing: pip install \"isogloss[translate]\""


@cache
def _identifier() -> tuple[Callable[[str], tuple[str, float]], frozenset[str]]:
    langid = require("py3langid.langid", extra="translate")
    one = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    return one.classify, frozenset(one.labels)


def article_clash(item: Item, language: Language) -> str | None:
    """A sentence when the article in front of BLANK does not fit one of the words.

    The language file's [articles] say which genders an article goes with (`genders`), which endings tell a gender
    (`endings`, with `exceptions`), and which articles stand before vowels or consonants only (`sounds`).
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
