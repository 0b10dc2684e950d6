"""New contrasts from the templates of a SHADES table: each template filled with all terms of its slot, as a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import IsoglossError
from ..items import STEREOTYPE, Item
from .expansion import expand
from .grammar import Slot, Text
from .lexicon import Lexicon
from .shades import read_shades

LETTERS = "abcdefghij"  # one for each contrast of a stereotype that a table can name
ORIGINAL = "_original"


@dataclass(frozen=True, slots=True)
class FilledStatement:
    """A row of the new table: the stereotype as it is (`_original`) or a contrast, and what fills its slots."""

    index: str
    subset: str
    template: str
    sentence: str
    terms: str


@dataclass(frozen=True, slots=True)
class FilledTable:
    """The rows, and a sentence for each template that could not be filled or whose sentence is not among its fillings."""

    rows: tuple[FilledStatement, ...]
    problems: tuple[str, ...]


def fill_table(items: Iterable[Item], lexicon: Lexicon) -> FilledTable:
    """The templates of a table's stereotypes in one language, filled; the stored sentence stays the original.

    A template must give back its own sentence; the other fillings are its contrasts, at most ten.
    """
    rows: list[FilledStatement] = []
    problems: list[str] = []
    for index, (template, sentence) in _stereotypes(items, lexicon.language).items():
        try:
            fillings = expand(read_shades(template), lexicon)
        except IsoglossError as error:
            problems.append(f"{index}: {error}")
            continue
        others = [one for one in fillings if _fold(one.text) != _fold(sentence)]
        if len(others) == len(fillings):
            problems.append(f"{index}: the template '{template}' does not give back '{sentence}'.")
            continue
        own = next(one for one in fillings if _fold(one.text) == _fold(sentence))
        for subset, one in zip([ORIGINAL, *LETTERS], [own, *others], strict=False):
            terms = "+".join(one.fillers.values())
            rows.append(FilledStatement(index, subset, template, sentence if one is own else one.text, terms))
        if len(others) > len(LETTERS):
            problems.append(f"{index}: {len(others) - len(LETTERS)} of {len(others)} contrasts were left out.")
    return FilledTable(tuple(rows), tuple(problems))


def _stereotypes(items: Iterable[Item], language: str) -> dict[str, tuple[str, str]]:
    """The template and the sentence of each stereotype of a language that has a template."""
    found: dict[str, tuple[str, str]] = {}
    for item in items:
        template, index = item.tags.get("template"), re.sub(r"[a-j]$", "", item.id)
        text = next((one.text for one in item.candidates if one.role == STEREOTYPE), None)
        if item.language == language and isinstance(template, str) and text is not None:
            found.setdefault(index, (template, text))
    return found


def table_rows(found: FilledTable, language: str) -> Iterator[list[str]]:
    """The table in SHADES' layout, with its heading; the terms are a column of their own."""
    tag = language.lower().replace("-", "_")
    yield ["index", "subset", f"{tag}_templates", f"{tag}_biased_sentences", "terms"]
    for one in found.rows:
        yield [one.index, one.subset, one.template, one.sentence, one.terms]


def template_differs(item: Item) -> str | None:
    """A sentence when a stereotype is not its template with the slots filled."""
    template = item.tags.get("template")
    text = next((one.text for one in item.candidates if one.role == STEREOTYPE), None)
    if not isinstance(template, str) or text is None:
        return None
    try:
        elements = read_shades(template).elements
    except IsoglossError:
        return f"the template '{template}' has no slot"
    parts = [re.escape(_fold(one.text)) if isinstance(one, Text) else ".+?" for one in elements]
    if not any(isinstance(one, Slot) for one in elements) or re.fullmatch("".join(parts), _fold(text)):
        return None
    return f"the sentence is not the template '{template}' with its slots filled"


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
