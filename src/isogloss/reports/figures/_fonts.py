"""Fonts: which installed families write the letters of a figure, for every script that our languages use."""

import os
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

from ...errors import require

PLAIN = ("Noto Sans", "DejaVu Sans")  # the second comes with matplotlib
SCRIPTS = {
    "ARABIC": ("Noto Sans Arabic", "Noto Naskh Arabic", "Geeza Pro", "Segoe UI"),
    "BENGALI": ("Noto Sans Bengali", "Noto Serif Bengali", "Bangla Sangam MN", "Nirmala UI"),
    "DEVANAGARI": ("Noto Sans Devanagari", "Noto Serif Devanagari", "Kohinoor Devanagari", "Nirmala UI"),
    "HEBREW": ("Noto Sans Hebrew", "Arial Hebrew", "Segoe UI"),
    "THAI": ("Noto Sans Thai", "Thonburi", "Leelawadee UI"),
    "TAMIL": ("Noto Sans Tamil", "Tamil Sangam MN", "Nirmala UI"),
    "TELUGU": ("Noto Sans Telugu", "Nirmala UI"),
    "GUJARATI": ("Noto Sans Gujarati", "Nirmala UI"),
    "GURMUKHI": ("Noto Sans Gurmukhi", "Nirmala UI"),
    "ETHIOPIC": ("Noto Sans Ethiopic", "Kefa", "Nyala"),
    "ARMENIAN": ("Noto Sans Armenian", "Mshtakan"),
    "GEORGIAN": ("Noto Sans Georgian",),
}
HAN = {
    "ja": ("Noto Sans CJK JP", "Noto Sans JP", "Hiragino Sans", "Yu Gothic"),
    "zh": ("Noto Sans CJK SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei"),
    "zh-Hant": ("Noto Sans CJK TC", "Noto Sans TC", "PingFang TC", "Microsoft JhengHei"),
    "ko": ("Noto Sans CJK KR", "Noto Sans KR", "Apple SD Gothic Neo", "Malgun Gothic"),
}
EAST = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC", "FULLWIDTH")
FILES = ("NotoSans-", "NotoSansCJK-", "NotoNaskhArabic-", *(f"NotoSans{name.title()}-" for name in SCRIPTS))


def families(texts: Iterable[str] = (), *, languages: Iterable[str] = ()) -> list[str]:
    """The installed families for these texts, in the order in which a letter is looked up; the plain ones always.

    Han letters differ between Japanese, Chinese and Korean: kana or hangul in the texts decide, then the languages.
    """
    starts = {_start(letter) for letter in set("".join(texts)) if ord(letter) > 0x2FF}
    wanted = [PLAIN[0]]
    for script in sorted(starts & set(SCRIPTS)):
        wanted += SCRIPTS[script]
    if starts & set(EAST):
        wanted += _han(starts, list(languages))
    there = installed()
    return [name for name in wanted if name in there] + [PLAIN[1]]


def _han(starts: set[str], languages: list[str]) -> list[str]:
    first = "ja" if starts & {"HIRAGANA", "KATAKANA"} else "ko" if "HANGUL" in starts else None
    order = [*([first] if first else []), *(tag for tag in languages if tag in HAN), "zh", *HAN]
    return [name for tag in dict.fromkeys(order) for name in HAN[tag]]


def _start(letter: str) -> str:
    return unicodedata.name(letter, "").split(" ")[0].split("-")[0]


@cache
def installed() -> frozenset[str]:
    """The names of all families; Noto fonts that were installed after matplotlib last looked are added."""
    manager: Any = require("matplotlib.font_manager", extra="report")
    known = {font.fname for font in manager.fontManager.ttflist}
    for path in manager.findSystemFonts():
        if path not in known and os.path.basename(path).startswith(FILES):
            manager.fontManager.addfont(path)
    return frozenset(font.name for font in manager.fontManager.ttflist)
