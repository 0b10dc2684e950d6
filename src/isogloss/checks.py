"""Checks of the data itself: what each looks for, how grave it is, and which items it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .items import ANTI_STEREOTYPE, BLANK, STEREOTYPE, Item, Items, Problem

SEVERITIES = ("error", "warning")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that may be wrong with an item; `find` gives a sentence, or nothing when all is well."""

    name: str
    severity: str
    explanation: str
    find: Callable[[Item], str | None]


def _several_blanks(item: Item) -> str | None:
    count = (item.context or "").count(BLANK)
    return f"the context has BLANK {count} times" if count > 1 else None


def _equal_words(item: Item) -> str | None:
    texts = {candidate.role: candidate.word or candidate.text for candidate in item.candidates}
    same = STEREOTYPE in texts and texts.get(STEREOTYPE) == texts.get(ANTI_STEREOTYPE)
    return f"stereotype and anti-stereotype are both '{texts[STEREOTYPE]}'" if same else None


def _sentence_differs(item: Item) -> str | None:
    for candidate in item.candidates:
        if candidate.word is None or BLANK not in (item.context or ""):
            continue
        if candidate.text != (item.context or "").replace(BLANK, candidate.word):
            return f"the sentence is not the context with '{candidate.word}' filled in"
    return None


READING = (
    Check(
        "several_blanks",
        "warning",
        "BLANK stands more than once; the first is scored, the others are filled.",
        _several_blanks,
    ),
    Check(
        "equal_words", "warning", "Stereotype and anti-stereotype are the same, so the item can only tie.", _equal_words
    ),
    Check(
        "sentence_differs",
        "warning",
        "The stored sentence differs from the context with the word filled in; methods may see different text.",
        _sentence_differs,
    ),
)


def find_problems(items: Iterable[Item], checks: tuple[Check, ...] = READING) -> tuple[Problem, ...]:
    """Everything the checks find, item by item."""
    found = ((check, item, check.find(item)) for item in items for check in checks)
    return tuple(
        Problem(check.name, check.severity, item.id, message, item.language)
        for check, item, message in found
        if message
    )


def check_items(items: Items) -> list[dict[str, Any]]:
    """Every check with its severity, explanation, count and the items it found (bad rows are those of `unreadable`)."""
    known = [Check("unreadable", "error", "The row cannot be read as an item.", lambda item: None), *READING]
    found: dict[str, list[str]] = {check.name: [] for check in known}
    for problem in items.problems:
        found[problem.check].append(f"{problem.item}" if problem.check != "unreadable" else problem.message)
    return [
        {
            "check": check.name,
            "severity": check.severity,
            "count": len(found[check.name]),
            "items": found[check.name],
            "explanation": check.explanation,
        }
        for check in known
    ]
