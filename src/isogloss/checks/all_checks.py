"""The table of all checks, and those that are made whenever data is read."""

from collections.abc import Iterable, Iterator, Sequence

from .. import registry
from ..items import Item, Problem
from ..templates.contrasts import template_differs
from . import candidates, language_checks, text_checks
from .check import ERROR, NOTE, SEVERITIES, Check, each, each_in, each_text

__all__ = ["ALL", "READING", "SEVERITIES", "Check", "find_changed", "find_problems"]


def unfit_items(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
    """The items that a usual method of their task does not fit, with its name."""
    methods = registry.load_all("method")
    tasks = {task for method in methods.values() for task in method.auto}
    usual = {task: [name for name, plugin in methods.items() if task in plugin.auto] for task in tasks}
    for index, item in enumerate(items):
        unfit = [name for name in usual.get(str(item.tags.get("task") or ""), ()) if not methods[name].suits(item)]
        if unfit:
            yield index, f"{' and '.join(unfit)} cannot score it"


NOT_NORMAL = each_text(
    text_checks.not_normal, "Text is not in Unicode normal form C; reading a file changes it, and with it the tokens."
)
READING = (
    each(candidates.several_blanks, "BLANK occurs more than once; the first is scored, the others are filled."),
    each(candidates.equal_words, "Stereotype and anti-stereotype are the same, so the item can only tie."),
    each(
        candidates.sentence_differs,
        "The stored sentence differs from the context with the word filled in; methods may see different text.",
    ),
    each_text(text_checks.odd_characters, "There are invisible, control or replacement characters."),
    each(text_checks.mixed_scripts, "A word has letters of two alphabets."),
    each_text(
        text_checks.special_tokens,
        "A text contains a special token, such as [MASK], which some models do not read as text.",
    ),
)
ALL = (
    *READING,
    each(candidates.no_blank, "There are words to fill in, but no BLANK for them.", severity=ERROR),
    Check(
        "method_unfit",
        "error",
        "A method that is usual for the item's task cannot score it, so the item is left out; check its context and its BLANK.",
        unfit_items,
    ),
    each(candidates.glued_blank, 'A hyphen, an ending or another word touches BLANK, as in BLANK"a or BLANKER.'),
    each(text_checks.word_punctuation, "A word that fills BLANK has punctuation that is not part of it."),
    each(candidates.equal_unrelated, "The unrelated candidate is the same as another candidate."),
    each(template_differs, "The sentence is not its template with the slots filled."),
    each(language_checks.target_missing, "The target term does not occur verbatim in the text."),
    each_in(
        language_checks.article_clash,
        "The article before BLANK does not fit a word, by the rules in the language file.",
    ),
    each_in(language_checks.wrong_script, "The text is not written in the language's script."),
    Check(
        "wrong_language",
        "warning",
        "The text is clearly not in the stated language.",
        language_checks.wrong_language,
        language_checks.no_identifier,
    ),
    Check("duplicate", "warning", "The item has exactly the same text as an earlier one.", candidates.duplicates),
    each_text(text_checks.quotes, "A word contains a double quote, or quotes and brackets do not pair up."),
    each(text_checks.spaces, "Spaces are doubled, at an end, or before a period or comma."),
    NOT_NORMAL,
    each_in(text_checks.sentence_case, "A context or sentence begins with a lower-case letter.", severity=NOTE),
    each(
        candidates.length_gap,
        "The stereotype is more than three times as long as the anti-stereotype, or the reverse.",
        severity=NOTE,
    ),
    each(candidates.several_words, "Stereotype and anti-stereotype have different numbers of words.", severity=NOTE),
    each_in(candidates.not_minimal, "The two sentences of a pair share fewer than half of their words.", severity=NOTE),
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
    """All the item's texts as a file may contain them."""
    return [
        item.context or "",
        *(text for candidate in item.candidates for text in (candidate.text, candidate.word or "")),
    ]


def find_problems(items: Iterable[Item], checks: tuple[Check, ...] = READING) -> tuple[Problem, ...]:
    """Everything the checks find, item by item; a check that cannot be made here finds nothing."""
    rows = list(items)
    problems = [
        (index, order, Problem(check.name, check.severity, rows[index].id, message, rows[index].language))
        for order, check in enumerate(checks)
        if check.missing() is None
        for index, message in check.search(rows)
    ]
    return tuple(problem for _, _, problem in sorted(problems, key=lambda row: row[:2]))
