"""Checks of the text itself: punctuation in words, quotes, spaces, normal form, odd characters and mixed scripts."""

import re
import unicodedata
from functools import lru_cache

from ..chat.text_normalisation import script_of
from ..items import BLANK, Item
from ..languages import Language
from .check import is_cloze, texts

SPECIAL = (  # what tokenizers read as one token of their own, wherever it stands in a text
    r"\[(?:MASK|CLS|SEP|PAD|UNK)\]|<(?:mask|s|/s|pad|unk|bos|eos|cls|sep|extra_id_\d+)>|<\|\w+\|>"
)
JOINERS = "\u200c\u200d"  # Persian and the scripts of India need them
INNER = "-'’.,/&\u2010\u2011·" + JOINERS
QUOTE_IN_WORD = re.compile(r"[^\W\d_]\"[^\W\d_]|BLANK\"[^\W\d_]")
SPACES = re.compile(r"  +|^\s|\s$|[\t\n\r\f\v]")
SPACE_BEFORE = re.compile(r"\s[.,!?;:…](?=\s|$)")
FRENCH = re.compile(r"[\s\u00a0\u202f][.,…](?=\s|$)")
MARKS = frozenset(".,!?;:…")
PAIRS = {"(": ")", "¿": "?", "¡": "!"}
SPACED = "ARABIC ARMENIAN BENGALI CYRILLIC DEVANAGARI GEORGIAN GREEK HEBREW LATIN TAMIL TELUGU"
ALPHABETS = frozenset(SPACED.split())
SCRIPTS = {"Latn": "LATIN", "Cyrl": "CYRILLIC", "Grek": "GREEK"}


def word_punctuation(item: Item) -> str | None:
    """A sentence when a word has punctuation that does not belong to it."""
    if not is_cloze(item):
        return None
    for candidate in item.candidates:
        word = candidate.word or ""
        outer = [word[:1], word[-1:]]
        inner = [letter for letter in word if _is_mark(letter) and letter not in INNER]
        if inner or any(_is_mark(letter) for letter in outer):
            return f"the word '{word}' has punctuation"
    return None


def quotes(text: str) -> str | None:
    """A sentence when a word contains a double quote, or quotes or brackets do not pair up."""
    inside = QUOTE_IN_WORD.search(text) if '"' in text else None
    if inside:
        return f"a word contains a double quote: '{_around(text, inside.start())}'"
    if text.count('"') % 2:
        return f"an unpaired double quote: '{text}'"
    for left, right in PAIRS.items():
        if left in text and text.count(left) > text.count(right):
            return f"'{left}' is not closed by '{right}': '{text}'"
    return None


def spaces(item: Item) -> str | None:
    """A sentence when spaces are doubled, at an end, or before punctuation where the language has none."""
    before = FRENCH if item.language.split("-")[0] == "fr" else SPACE_BEFORE
    for text in texts(item):
        pieces = text.split()
        if " ".join(pieces) == text and MARKS.isdisjoint(pieces):
            continue
        if SPACES.search(text) or before.search(text):
            return f"unusual spaces: '{text}'"
    return None


def odd_characters(text: str) -> str | None:
    """A sentence when there are control, invisible or replacement characters."""
    if text.isprintable() and (text.isascii() or "\ufffd" not in text):
        return None
    for letter in text:
        kind = unicodedata.category(letter)
        if letter == "\ufffd" or (kind in ("Cc", "Cf", "Co", "Cn") and letter not in JOINERS + "\t\n\r\u200e\u200f"):
            return f"an invisible or unusual character, U+{ord(letter):04X}"
    return None


def special_tokens(text: str) -> str | None:
    """A sentence when the text contains what tokenizers take for a special token."""
    match = re.search(SPECIAL, text) if "[" in text or "<" in text else None
    return f"'{match[0]}' is a special token of some models" if match else None


def not_normal(text: str) -> str | None:
    """A sentence when the text is not in normal form C."""
    return f"not in normal form C: '{text}'" if not unicodedata.is_normalized("NFC", text) else None


def mixed_scripts(item: Item) -> str | None:
    """A sentence when one word has letters of two alphabets that look alike."""
    for text in texts(item):
        if text.isascii():
            continue
        for word in re.findall(r"[^\W\d_]+", text.replace(BLANK, " ")):
            problem = mixed_word(word)
            if problem:
                return problem
    return None


@lru_cache(maxsize=100_000)
def mixed_word(word: str) -> str | None:
    """A sentence when a word has letters of two scripts; unspaced scripts may hold Latin words."""
    scripts = {script_of(letter) for letter in word if letter.isalpha()} & ALPHABETS
    return f"'{word}' mixes {' and '.join(sorted(scripts)).lower()} letters" if len(scripts) > 1 else None


def sentence_case(item: Item, language: Language) -> str | None:
    """A sentence when a context or a whole sentence begins with a small letter, in scripts that have capitals."""
    if language.script not in SCRIPTS:
        return None
    whole = [item.context or "", *(c.text for c in item.candidates if c.word is None)]
    for text in whole:
        if text[:1].isupper():
            continue
        first = next((letter for letter in text if letter.isalnum()), "")
        if first.islower():
            return f"begins with a small letter: '{text}'"
    return None


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter)[:1] in ("P", "S") and letter not in "%€$£+#°"


def _around(text: str, index: int) -> str:
    start = text.rfind(" ", 0, index) + 1
    end = text.find(" ", index)
    return text[start : end if end > 0 else len(text)]
