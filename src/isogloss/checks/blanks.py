"""Checks of BLANK: it stands once, by itself, and filling it gives the stored sentence."""

import re

from ..items import BLANK, Item
from .check import Check, each, is_cloze

# What may touch BLANK: brackets, quotes and the marks that open or close a sentence.
OPENING = "([{«‹„“‚‘\"'¿¡"
CLOSING = ".,;:!?…)]}»›“”’\"'،؛؟。、！？"
GLUED = re.compile(
    rf"(?P<before>[^\s{re.escape(OPENING)}]+)?{BLANK}(?P<after>[^\s{re.escape(CLOSING)}][^\s]*|[\"'’”]\w[^\s]*)?"
)


def several_blanks(item: Item) -> str | None:
    """A sentence when BLANK stands more than once."""
    count = (item.context or "").count(BLANK)
    return f"the context has BLANK {count} times" if count > 1 else None


def no_blank(item: Item) -> str | None:
    """A sentence when there are words and no BLANK for them."""
    missing = is_cloze(item) and BLANK not in (item.context or "")
    return "the candidates are words, but the context has no BLANK" if missing else None


def glued_blank(item: Item) -> str | None:
    """A sentence when a hyphen, an ending or another word touches BLANK."""
    for found in GLUED.finditer(item.context or ""):
        if found["before"] or found["after"]:
            return f"'{found[0]}' is more than BLANK"
    return None


def sentence_differs(item: Item) -> str | None:
    """A sentence when a stored sentence is not the context with its word filled in."""
    for candidate in item.candidates:
        if candidate.word is None or BLANK not in (item.context or ""):
            continue
        if candidate.text != (item.context or "").replace(BLANK, candidate.word):
            return f"the sentence is not the context with '{candidate.word}' filled in"
    return None


SEVERAL_BLANKS = Check(
    "several_blanks",
    "warning",
    "BLANK stands more than once; the first is scored, the others are filled.",
    each(several_blanks),
)
NO_BLANK = Check("no_blank", "error", "There are words to fill in, but no BLANK for them.", each(no_blank))
GLUED_BLANK = Check(
    "glued_blank",
    "warning",
    'A hyphen, an ending or another word touches BLANK, as in BLANK"a or BLANKER.',
    each(glued_blank),
)
SENTENCE_DIFFERS = Check(
    "sentence_differs",
    "warning",
    "The stored sentence differs from the context with the word filled in; methods may see different text.",
    each(sentence_differs),
)
