"""Checks of BLANK: it stands once, by itself, and filling it gives the stored sentence."""

import re

from ..items import BLANK, Item
from .check import is_cloze

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
