"""The table of all checks, and those that are made whenever data is read."""

from collections.abc import Iterable

from ..items import Item, Problem
from .blanks import GLUED_BLANK, NO_BLANK, SENTENCE_DIFFERS, SEVERAL_BLANKS
from .candidates import (
    DUPLICATE,
    EQUAL_UNRELATED,
    EQUAL_WORDS,
    LENGTH_GAP,
    NOT_MINIMAL,
    SEVERAL_WORDS,
    TEMPLATE_DIFFERS,
)
from .check import SEVERITIES, Check
from .fitting import METHOD_UNFIT
from .language_checks import ARTICLE_CLASH, TARGET_MISSING, WRONG_LANGUAGE
from .text_checks import (
    MIXED_SCRIPTS,
    NOT_NORMAL,
    ODD_CHARACTERS,
    QUOTES,
    SENTENCE_CASE,
    SPACES_CHECK,
    WORD_PUNCTUATION,
)

__all__ = ["ALL", "READING", "SEVERITIES", "Check", "find_changed", "find_problems"]

READING = (SEVERAL_BLANKS, EQUAL_WORDS, SENTENCE_DIFFERS, ODD_CHARACTERS, MIXED_SCRIPTS)
ALL = (
    *READING,
    NO_BLANK,
    METHOD_UNFIT,
    GLUED_BLANK,
    WORD_PUNCTUATION,
    EQUAL_UNRELATED,
    TEMPLATE_DIFFERS,
    TARGET_MISSING,
    ARTICLE_CLASH,
    WRONG_LANGUAGE,
    DUPLICATE,
    QUOTES,
    SPACES_CHECK,
    NOT_NORMAL,
    SENTENCE_CASE,
    LENGTH_GAP,
    SEVERAL_WORDS,
    NOT_MINIMAL,
)


def find_changed(items: Iterable[Item], changed: set[str]) -> tuple[Problem, ...]:
    """The items with a text that was brought into normal form C when it was read."""
    return tuple(
        Problem(NOT_NORMAL.name, NOT_NORMAL.severity, item.id, f"was not in normal form C: '{text}'", item.language)
        for item in (items if changed else ())
        for text in [next((text for text in _whole_texts(item) if text.strip() in changed), None)]
        if text is not None
    )


def _whole_texts(item: Item) -> list[str]:
    """All the item's texts as they may stand in a file."""
    return [item.context or "", *(text for one in item.candidates for text in (one.text, one.word or ""))]


def find_problems(items: Iterable[Item], checks: tuple[Check, ...] = READING) -> tuple[Problem, ...]:
    """Everything the checks find, item by item; a check that cannot be made here finds nothing."""
    rows = list(items)
    found = [
        (index, order, Problem(check.name, check.severity, rows[index].id, message, rows[index].language))
        for order, check in enumerate(checks)
        if check.missing() is None
        for index, message in check.search(rows)
    ]
    return tuple(problem for _, _, problem in sorted(found, key=lambda one: one[:2]))
