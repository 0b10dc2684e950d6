"""Checks of BLANK and of the candidates: BLANK occurs once and by itself, and candidates differ, but not beyond reason."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from ..items import ANTI_STEREOTYPE, BLANK, STEREOTYPE, UNRELATED, Item
from ..languages import Language
from .check import NOTE, Check, each, is_cloze

LONGEST = 3.0
MORE_LETTERS = 10
MORE_TOKENS = 2
FEWEST_SHARED = 0.5


def equal_words(item: Item) -> str | None:
    """A sentence when stereotype and anti-stereotype are the same."""
    by_role = {candidate.role: candidate.word or candidate.text for candidate in item.candidates}
    same = STEREOTYPE in by_role and by_role.get(STEREOTYPE) == by_role.get(ANTI_STEREOTYPE)
    return f"stereotype and anti-stereotype are both '{by_role[STEREOTYPE]}'" if same else None


def equal_unrelated(item: Item) -> str | None:
    """A sentence when the unrelated candidate is the same as another one."""
    by_role = {candidate.role: candidate.word or candidate.text for candidate in item.candidates}
    same = [role for role in by_role if role != UNRELATED and by_role[role] == by_role.get(UNRELATED)]
    return f"{same[0]} and unrelated are both '{by_role[UNRELATED]}'" if same else None


def length_gap(item: Item) -> str | None:
    """A sentence when stereotype and anti-stereotype differ in length beyond reason."""
    pair = _pair(item)
    if pair is None:
        return None
    short, long = sorted(pair, key=len)
    far = len(long) > LONGEST * len(short) and len(long) - len(short) > MORE_LETTERS
    return f"'{long}' has {len(long)} characters, '{short}' {len(short)}" if far else None


def not_minimal(item: Item, language: Language) -> str | None:
    """A sentence when a pair of whole sentences without a context shares less than half of its words."""
    pair = _pair(item)
    if pair is None or is_cloze(item) or item.context:
        return None
    spaced = language.spaces
    first, second = (set(text.split() if spaced else text) for text in pair)
    both = len(first & second)
    shared = both / max(len(first) + len(second) - both, 1)
    return (
        f"the two sentences share {shared:.0%} of their {'words' if spaced else 'characters'}"
        if shared < FEWEST_SHARED
        else None
    )


def several_words(item: Item) -> str | None:
    """A sentence when one word of the pair is several words and the other is not."""
    pair = _pair(item)
    if pair is None or not is_cloze(item):
        return None
    first, second = (len(text.split()) for text in pair)
    return f"'{pair[0]}' and '{pair[1]}' have {first} and {second} words" if first != second else None


def duplicates(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
    """The items that say what an earlier item of the same language said."""
    sums = [sum([hash(candidate.text) for candidate in item.candidates]) for item in items]
    equal = {number for number, count in Counter(sums).items() if count > 1}
    seen: dict[tuple[str, str | None, str | None, tuple[tuple[str, str], ...]], str] = {}
    for index, item in enumerate(items) if equal else ():
        if sums[index] not in equal:
            continue
        texts = tuple(sorted((candidate.role, candidate.text) for candidate in item.candidates))
        first = seen.setdefault((item.language, item.context, item.question, texts), item.id)
        if first != item.id:
            yield index, f"the same as '{first}'"


def token_gap(count: Callable[[str], int]) -> Check:
    """A check that counts the tokens of stereotype and anti-stereotype with a tokenizer."""

    def token_gap(item: Item) -> str | None:
        pair = _pair(item)
        if pair is None:
            return None
        first, second = count(pair[0]), count(pair[1])
        far = abs(first - second) >= MORE_TOKENS and max(first, second) >= 2 * min(first, second)
        return f"'{pair[0]}' has {first} tokens, '{pair[1]}' {second}" if far else None

    return each(
        token_gap,
        "Stereotype and anti-stereotype differ by at least two tokens and by a factor of at least two.",
        severity=NOTE,
    )


def _pair(item: Item) -> tuple[str, str] | None:
    by_role = {candidate.role: candidate.word or candidate.text for candidate in item.candidates}
    if STEREOTYPE not in by_role or ANTI_STEREOTYPE not in by_role:
        return None
    return by_role[STEREOTYPE], by_role[ANTI_STEREOTYPE]


# What may touch BLANK: brackets, quotes and the marks that open or close a sentence.
OPENING = "([{«‹„“‚‘\"'¿¡"
CLOSING = ".,;:!?…)]}»›“”’\"'،؛؟。、！？"
GLUED = re.compile(
    rf"(?P<before>[^\s{re.escape(OPENING)}]+)?{BLANK}(?P<after>[^\s{re.escape(CLOSING)}][^\s]*|[\"'’”]\w[^\s]*)?"
)


def several_blanks(item: Item) -> str | None:
    """A sentence when BLANK occurs more than once."""
    count = (item.context or "").count(BLANK)
    return f"the context has BLANK {count} times" if count > 1 else None


def no_blank(item: Item) -> str | None:
    """A sentence when there are words and no BLANK for them."""
    missing = is_cloze(item) and BLANK not in (item.context or "")
    return "the candidates are words, but the context has no BLANK" if missing else None


def glued_blank(item: Item) -> str | None:
    """A sentence when a hyphen, an ending or another word touches BLANK."""
    for match in GLUED.finditer(item.context or ""):
        if match["before"] or match["after"]:
            return f"'{match[0]}' is more than BLANK"
    return None


def sentence_differs(item: Item) -> str | None:
    """A sentence when a stored sentence is not the context with its word filled in."""
    context = item.context or ""
    for candidate in item.candidates if BLANK in context else ():
        if candidate.word is not None and candidate.text != context.replace(BLANK, candidate.word):
            return f"the sentence is not the context with '{candidate.word}' filled in"
    return None
