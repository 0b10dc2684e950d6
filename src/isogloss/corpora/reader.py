"""Parallel text in two columns: its sentences of either gender by the English side, with the word lists that ship."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .. import languages
from ..files.rows import OnBadRow
from ..files.sources import Dataset
from ..items import Item
from .splits import sentence_items
from .texts import open_corpus
from .wordlists import gender_lists

ENGLISH = "en"


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has a column 'en' and one named by another language."""
    return len(columns) == 2 and ENGLISH in columns and all(name in languages.tags() for name in columns)


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """All sentences of either gender; `isogloss data build split` takes other lists and as many of each."""
    for item in sentence_items(open_corpus(path, language=language), gender_lists()):
        yield replace(item, dataset="parallel", category="gender")


dataset = Dataset(
    title="Parallel text",
    summary="A TSV file with English and another language; English word lists find the sentences about women and men.",
    licence="that of the corpus",
    citation="Kaneko et al. (2022), Gender Bias in Masked Language Models for Multiple Languages.",
    url="https://opus.nlpl.eu",
    recognise=recognise,
    parse=parse,
)
