"""The template files of BehnamGhader and Milios (2022), and others in their layout, as sets and vocabularies."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from .. import languages
from ..errors import BadData, IsoglossError
from ..files.rows import read_json
from .features import parse_features
from .grammar import Slot, SourcePosition, Template, Text
from .lexicon import Lexicon, read_lexicon
from .rules import Rules
from .sets import TemplateSet, TemplateWording
from .vocabulary import MAIN, FormCell, Term, Vocabulary

KEYS = frozenset({"word_lists", "categories"})
SLOTS = re.compile(r"(\[MASK\]|\{prior\})")
FEMININE = "_fem"  # the ending of a word list whose forms agree with feminine terms
WOMEN = frozenset({"women", "woman", "girls", "girl"})  # the English names of terms that are feminine
ENGLISH, FARSI = "english", {"farsi": "fa"}

Words = Sequence[str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Source:
    """A file's content, and the language that is read from it: its tag, and the file's name for it."""

    path: Path
    content: Mapping[str, Any]
    tag: str
    name: str


def read_published(path: Path) -> Iterator[tuple[TemplateSet, Lexicon]]:
    """The sets of a file in each of its languages, each with the lexicon that it is filled from.

    Sentences are those of the file: no capital is added and no words are contracted, unless the file has `capitals` or
    `contractions`, which are then true. Terms are named by their English words; words that occur twice are kept.
    """
    content = read_json(path)
    try:
        names = [name for block in _blocks(content) for wording in block[2]["base_templates"] for name in wording]
        for name in dict.fromkeys(names):
            tag = FARSI.get(name) or languages.resolve(name)
            yield from _read_language(_Source(path, content, tag, name))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadData(path, None, f"not in the layout of the published templates: {error!r}.") from error


def _read_language(source: _Source) -> Iterator[tuple[TemplateSet, Lexicon]]:
    rules = Rules()
    if source.content.get("contractions"):  # the file's forms are as they are
        rules = replace(read_lexicon(source.tag).rules, inflection={}, government={})
    for category, number, block in _blocks(source.content):
        if source.name not in block["words"]:
            continue
        feminine = block["prior_variations"].get(source.name + FEMININE)
        terms = _vocabulary(source, block["words"][source.name], agrees=feminine is not None)
        concepts = _vocabulary(source, block["prior_variations"][source.name], feminine=feminine)
        agreeing = Slot(concepts.category, terms.category if feminine is not None else None)
        slots = {"[MASK]": Slot(terms.category), "{prior}": agreeing}
        wordings = []
        for index, row in enumerate(block["base_templates"], 1):
            if source.name in row:
                parts = [part for part in SLOTS.split(row[source.name]) if part]
                template = Template(tuple(slots.get(part) or Text(part) for part in parts))
                wordings.append(TemplateWording(f"w{index}", template, SourcePosition(source.path)))
        template_set = TemplateSet(
            f"{category}-{number}",
            category,
            terms.category,
            tuple(wordings),
            concepts.category,
            title=block["base_templates"][0][ENGLISH if ENGLISH in block["base_templates"][0] else source.name],
            capitals=bool(source.content.get("capitals")),
            contractions=bool(source.content.get("contractions")),
            unique=False,
        )
        yield template_set, Lexicon(source.tag, {terms.category: terms, concepts.category: concepts}, rules=rules)


def _blocks(content: Mapping[str, Any]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Each block of templates with its category and its number in it."""
    for row in content["categories"]:
        for number, block in enumerate(row["templates"], 1):
            yield str(row["type"]).partition("/")[0], number, block


def _vocabulary(source: _Source, reference: str, *, feminine: str | None = None, agrees: bool = False) -> Vocabulary:
    """The words of a list such as `negative_adjs|greek`, under the names that their English words give them.

    With `feminine`, a second list has the forms that go with feminine terms; with `agrees`, terms have a gender.
    """
    name, words = _words(source, reference)
    others = _words(source, feminine)[1] if feminine is not None else words
    english = source.content["word_lists"][name].get(ENGLISH, words)
    if len(others) != len(words) or len(english) != len(words):
        raise IsoglossError(f"{source.path}: the lists of '{name}' have {len(words)} and other numbers of words.")
    columns = [()] if feminine is None else [parse_features("masc"), parse_features("fem")]
    terms: dict[str, Term] = {}
    for entry, other, gloss in zip(words, others, english, strict=True):
        key = _unused(re.sub(r"\W+", "_", _variants(gloss)[0].casefold()).strip("_"), terms)
        natures = {MAIN: parse_features("fem" if key in WOMEN else "masc")} if agrees else {}
        variants = []
        for forms in zip(_variants(entry), _variants(other), strict=feminine is not None):
            cells = tuple(FormCell(features, form) for features, form in zip(columns, forms, strict=False))
            variants.append(Term(key, _variants(gloss)[0], forms[0], {MAIN: cells}, natures))
        terms[key] = replace(variants[0], variants=tuple(variants[1:]))
    return Vocabulary(name, source.tag, source.path, terms)


def _words(source: _Source, reference: str) -> tuple[str, Words]:
    name, _, form = reference.partition("|")
    return name, source.content["word_lists"][name][form]


def _variants(entry: str | Sequence[str]) -> list[str]:
    return [entry] if isinstance(entry, str) else list(entry)


def _unused(key: str, terms: Mapping[str, Term]) -> str:
    """The key, numbered where it is taken."""
    numbered = (f"{key}-{number}" for number in count(2))
    return next(name for name in chain([key], numbered) if name not in terms)
