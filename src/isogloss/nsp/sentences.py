"""Articles as sentences: split by the rules of their language, without headings and ornaments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from .. import languages
from ..errors import need
from .articles import Article

ENDS = re.compile(r"[.!?…。！？।؟۔։።:;]")
BREAK = re.compile(r"\n\s*\n")


def split_article(article: Article) -> list[str]:
    """The article's sentences, each on one line.

    Blank lines end a paragraph. A paragraph without any sentence mark is a heading and left out, unless all are so
    (some scripts have none); a sentence without a letter is left out.
    """
    segment = need("sentencex", extra="nsp").segment
    joint = " " if _has_spaces(article.language) else ""
    tag = article.language.split("-")[0]
    found = []
    for paragraph in _paragraphs(article.text):
        text = joint.join(line.strip() for line in paragraph.splitlines())
        found += [" ".join(sentence.split()) for sentence in segment(tag, text)]
    return [sentence for sentence in found if any(map(str.isalpha, sentence))]


@cache
def _has_spaces(tag: str) -> bool:
    return languages.describe(tag).spaces


def _paragraphs(text: str) -> Iterator[str]:
    parts = [part for part in BREAK.split(text.strip()) if part.strip()]
    marked = [part for part in parts if ENDS.search(part)]
    yield from marked or parts
