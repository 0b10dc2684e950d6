"""Mining: sentences of a corpus that hold exactly one term of a category become templates, on a sheet for review."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import languages
from ..atomic_files import make_folder, write_csv
from ..errors import BadData, IsoglossError, UnknownName
from ..files.cell_values import guard_formula
from .expansion import expand
from .features import Features, show_features
from .forms import fits
from .grammar import Element, Slot, Template, Text, parse_template
from .lexicon import Lexicon
from .vocabulary import MAIN, Vocabulary

COLUMNS = ("id", "keep", "template", "sentence", "term", "form", "other readings", "examples", "look at")
FEWEST, MOST = 3, 40
GENDERED = "the term's gender differs from other terms': look for words that should agree"


@dataclass(frozen=True, slots=True)
class TermMatch:
    """A form of a term: its text, the term's id, and the features it has."""

    text: str
    term: str
    features: Features


@dataclass(frozen=True, slots=True)
class Mined:
    """A template found in a corpus, with what a reviewer should see."""

    template: Template
    sentence: str
    reading: TermMatch
    others: tuple[TermMatch, ...]
    examples: tuple[str, ...]
    remark: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a corpus gave: the templates, how many lines were read, and how many had no or several terms."""

    rows: tuple[Mined, ...]
    lines: int
    without: int
    several: int


def mine_corpus(path: Path, lexicon: Lexicon, *, category: str, limit: int = 1000) -> Found:
    """Templates of the sentences with exactly one term of the category, each template once."""
    vocabulary = lexicon.vocabularies.get(category)
    if vocabulary is None:
        raise UnknownName(f"category in '{lexicon.language}'", category, lexicon.vocabularies)
    readings = [
        TermMatch(cell.text, term.id, cell.features)
        for term in vocabulary.terms.values()
        for cell in term.uses.get(MAIN, ())
        if cell.text
    ]
    spaced = languages.describe(lexicon.language).spaces
    body = "|".join(map(re.escape, sorted({reading.text for reading in readings}, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w\u200c])(?:{body})(?![\w\u200c])" if spaced else body, re.IGNORECASE)
    mined: dict[str, Mined] = {}
    lines = without = several = 0
    for sentence in _sentences(path):
        lines += 1
        hits = list(pattern.finditer(sentence))
        without, several = without + (not hits), several + (len(hits) > 1)
        if len(hits) == 1 and (not spaced or FEWEST <= len(sentence.split()) <= MOST) and len(mined) < limit:
            candidate = _mined(sentence, hits[0], readings=readings, lexicon=lexicon, vocabulary=vocabulary)
            mined.setdefault(str(candidate.template), candidate)
    return Found(tuple(mined.values()), lines, without, several)


def _sentences(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                if text := unicodedata.normalize("NFC", line).strip():
                    yield text
    except UnicodeDecodeError as error:
        raise BadData(path, None, "not a text in UTF-8.") from error
    except OSError as error:
        raise BadData(path, None, f"cannot be read ({error.strerror}).") from error


def _mined(
    sentence: str, hit: re.Match[str], *, readings: Sequence[TermMatch], lexicon: Lexicon, vocabulary: Vocabulary
) -> Mined:
    fitting = [reading for reading in readings if reading.text.casefold() == hit[0].casefold()]
    left, right = sentence[: hit.start()], sentence[hit.end() :]
    left, word, kept = _word_before(left, fitting, lexicon=lexicon, vocabulary=vocabulary)
    slot = Slot(vocabulary.category, None, kept[0].features)
    parts: list[Element] = [Text(left), slot, Text(right)]
    if word is not None:
        parts[1:1] = [word, Text(" ")]
    raw = Template(tuple(part for part in parts if part != Text("")))
    template = parse_template(str(raw))
    genders = {dict(term.natures.get(MAIN, ())).get("Gender") for term in vocabulary.terms.values()}
    remark = GENDERED if len(genders) > 1 and lexicon.words is not None else ""
    examples: tuple[str, ...] = ()
    try:
        examples = tuple(example.text for example in expand(template, lexicon)[:4])
    except IsoglossError as error:
        remark = f"cannot be expanded: {error}"
    return Mined(template, sentence, kept[0], tuple(kept[1:]), examples, remark)


def _word_before(
    left: str, fitting: Sequence[TermMatch], *, lexicon: Lexicon, vocabulary: Vocabulary
) -> tuple[str, Slot | None, list[TermMatch]]:
    """The text before the term without a word that agrees with it, that word as a slot, and the readings it allows."""
    match = re.search(r"(\S+) $", left)
    if match is None or lexicon.words is None:
        return left, None, list(fitting)
    natures = {name: dict(term.natures.get(MAIN, ())) for name, term in vocabulary.terms.items()}
    natures_of_readings = [(reading, dict(reading.features) | natures[reading.term]) for reading in fitting]
    for name, term in lexicon.words.terms.items():
        cells = [cell for cell in term.uses[MAIN] if cell.text.casefold() == match[1].casefold() and cell.features]
        kept = [
            reading for reading, features in natures_of_readings if any(fits(cell.features, features) for cell in cells)
        ]
        if kept:
            return left[: match.start()], Slot(name, vocabulary.category), kept
    return left, None, list(fitting)


def write_sheet(mined: Found, path: Path) -> Path:
    """The path of the review sheet: one template a row; the column `keep` is for the reviewer."""
    make_folder(path.parent)
    rows: list[Sequence[str]] = [COLUMNS]
    for number, row in enumerate(mined.rows, 1):
        others = "; ".join(f"{other.term}: {show_features(other.features)}" for other in row.others)
        sheet_cells = (row.reading.term, show_features(row.reading.features), others, " / ".join(row.examples))
        cells = (f"m{number}", "", str(row.template), row.sentence, *sheet_cells, row.remark)
        rows.append([guard_formula(cell) for cell in cells])
    write_csv(path, rows)
    return path
