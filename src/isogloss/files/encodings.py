"""Wrong encodings: which one a file is in that is not UTF-8, and text that was read in the wrong one."""

from __future__ import annotations

import unicodedata

ENCODINGS = {"cp1252": "Windows-1252", "mac_roman": "MacRoman", "latin-1": "Latin-1"}
MANY = 4  # letters of another script that are no accident
QUOTES = frozenset("’‘“”«»…–—")


def guess_encoding(raw: bytes) -> str | None:
    """The encoding in which bytes that are not UTF-8 look most like text; nothing when none does."""
    if (wide := wide_encoding(raw[:64])) is not None:
        return wide
    scores = {}
    for codec, name in ENCODINGS.items():
        try:
            text = raw.decode(codec)
        except UnicodeDecodeError:
            continue
        odd = [letter for letter in text if letter > "\x7f"]
        scores[name] = sum(_is_likely(letter) for letter in odd) / len(odd) if odd else 0.0
    best = max(scores, key=lambda name: scores[name], default=None)
    return best if best is not None and scores[best] > 0.7 else None


def wide_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32, when a file begins with their mark or as their Latin text does; else nothing."""
    if head[:4] in (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"):
        return "UTF-32"
    marked = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    return "UTF-16" if marked or (len(head) >= 4 and 3 * head.count(0) >= len(head)) else None


def misread_as(text: str) -> str | None:
    """The encoding that UTF-8 text was taken for when it was read, as 'Ã©' or '√©' for 'é'; nothing if it was not."""
    if text.isascii():
        return None
    for codec, name in ENCODINGS.items():
        try:
            meant = text.encode(codec).decode("utf-8")
        except UnicodeError:
            continue
        odd = [letter for letter in meant if letter > "\x7f"]
        if len(odd) >= MANY or all("\xa0" <= letter <= "\u017f" or letter in QUOTES for letter in odd):
            return name
    return None


def _is_likely(letter: str) -> bool:
    """Small accented letters and quotation marks are likely in a sentence, capitals and symbols are not."""
    return letter in QUOTES or unicodedata.category(letter) == "Ll"
