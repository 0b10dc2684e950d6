"""New contrasts from the templates of a SHADES table: each template filled with words of the table and of a lexicon."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import IsoglossError
from ..items import CONTRAST, STEREOTYPE, Item
from .contractions import Piece, join
from .expansion import capital, expand
from .features import Features
from .grammar import Slot, Text
from .lexicon import Lexicon, category_of
from .shades import read_shades

LETTERS = "abcdefghij"  # one for each contrast of a stereotype that a table can name
ORIGINAL = "_original"

COLUMNS = {  # what a table says about a stereotype, and the tag that holds it
    "stereotype_origin_langs": "origin_language",
    "stereotype_valid_langs": "valid_language",
    "stereotype_valid_regions": "region",
    "stereotyped_entity": "entity",
    "type": "type",
}

SlotKind = tuple[str, Features]  # a category and what its words must be, without their gender


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
    """The rows, a sentence for each template that could not be filled or has more fillings than a table can name, and facts.

    The facts of a stereotype are its columns that do not depend on the filling, such as its bias type.
    """

    rows: tuple[FilledStatement, ...]
    problems: tuple[str, ...]
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Frame:
    """A template with one slot: the text around it, what kind of word it takes and of which gender.

    `opens` says whether the slot begins the sentence.
    """

    before: str
    after: str
    kind: SlotKind
    gender: str | None
    opens: bool


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of the table, the gender that its slot names, and whether its first letter is that of running text."""

    text: str
    gender: str | None
    plain: bool


Words = Mapping[SlotKind, Sequence[_Word]]


def fill_table(items: Iterable[Item], lexicon: Lexicon) -> FilledTable:
    """The templates of a table's stereotypes in one language, filled; the stored sentence stays the original.

    A word fills every slot of its category and tags; one whose slot names a gender also fills slots that name none.
    Terms of the lexicon are added where they give back the stored sentence. There are at most ten contrasts.
    """
    rows: list[FilledStatement] = []
    problems: list[str] = []
    items = list(items)
    statements = _statements(items, lexicon.language)
    words = _collect_words(statements)
    for index, versions in statements.items():
        (template, sentence), *_ = versions
        fillings, problem = _lexicon_fillings(template, lexicon, sentence=sentence)
        fillings = {**_word_fillings(versions, words, lexicon=lexicon), **fillings}
        filling = fillings.pop(_fold(sentence), (template, sentence, ""))
        if not fillings:
            problems.append(f"{index}: {problem or 'no other word of the table fits its slot.'}")
            continue
        contrasts = [(template, sentence, filling[2]), *fillings.values()]
        for subset, (used, text, terms) in zip([ORIGINAL, *LETTERS], contrasts, strict=False):
            rows.append(FilledStatement(index, subset, used, text, terms))
        if len(fillings) > len(LETTERS):
            problems.append(f"{index}: {len(fillings) - len(LETTERS)} of {len(fillings)} contrasts were left out.")
    return FilledTable(tuple(rows), tuple(problems), {_index_of(item): _facts(item) for item in items})


def _lexicon_fillings(
    template: str, lexicon: Lexicon, *, sentence: str
) -> tuple[dict[str, tuple[str, str, str]], str | None]:
    """The template with all terms of the lexicon, if they give back its sentence, or else what prevents it."""
    try:
        fillings = expand(read_shades(template), lexicon)
    except IsoglossError as error:
        return {}, str(error)
    lexicon_fillings = {
        _fold(filling.text): (template, filling.text, "+".join(filling.fillers.values())) for filling in fillings
    }
    if _fold(sentence) not in lexicon_fillings:
        return {}, f"the template '{template}' does not give back '{sentence}'."
    return lexicon_fillings, None


def _statements(items: Iterable[Item], language: str) -> dict[str, list[tuple[str, str]]]:
    """The templates of each stereotype with their sentences, the original first and then its contrasts."""
    statements: dict[str, list[tuple[str, str]]] = {}
    for item in items:
        if item.language == language:
            versions = statements.setdefault(_index_of(item), [])
            versions += [pair for pair in _template_pairs(item) if pair not in versions]
    return {index: versions for index, versions in statements.items() if versions}


def _index_of(item: Item) -> str:
    """The number of the stereotype in its table."""
    return re.sub(r"[a-j]$", "", item.id)


def _facts(item: Item) -> dict[str, str]:
    facts = {"bias_type": item.category or ""}
    for column, tag in COLUMNS.items():
        value = item.tags.get(tag, "")
        separator = " ∪ " if tag == "entity" else ", "
        facts[column] = separator.join(value) if isinstance(value, tuple) else str(value)
    return facts


def _template_pairs(item: Item) -> list[tuple[str, str]]:
    """The template and the sentence of the stereotype and of the contrast of an item; no template, no pair."""
    template_id = item.tags.get("template")
    texts = {candidate.role: candidate.text for candidate in item.candidates}
    templates = {STEREOTYPE: template_id, CONTRAST: item.tags.get("contrast_template", template_id)}
    return [
        (template, texts[role]) for role, template in templates.items() if isinstance(template, str) and role in texts
    ]


# ---- words of the table


def _read_frame(template: str) -> _Frame | None:
    """The template around its slot; nothing if it has several slots or none."""
    try:
        elements = read_shades(template).elements
    except IsoglossError:
        return None
    slots = [part for part in elements if isinstance(part, Slot)]
    if len(slots) != 1:
        return None
    index = elements.index(slots[0])
    before, after = (
        "".join(part.text for part in parts if isinstance(part, Text))
        for parts in (elements[:index], elements[index + 1 :])
    )
    features = dict(slots[0].features)
    gender = features.pop("Gender", None)
    kind = (category_of(slots[0].name), tuple(sorted(features.items())))
    return _Frame(before, after, kind, gender, opens=not before.strip())


def _collect_words(statements: Mapping[str, Sequence[tuple[str, str]]]) -> Words:
    """The words that fill the slots of a table, by kind of slot."""
    words: dict[SlotKind, list[_Word]] = {}
    for versions in statements.values():
        for template, sentence in versions:
            frame = _read_frame(template)
            word = _word_in(frame, sentence)
            if frame and word:
                plain = not frame.opens or word[0] == word[0].lower()
                words.setdefault(frame.kind, []).append(_Word(word, frame.gender, plain))
    return words


def _word_in(frame: _Frame | None, sentence: str) -> str | None:
    """What fills the slot in a sentence; nothing if the sentence is not the template filled."""
    if frame is None:
        return None
    start, end = len(frame.before), len(sentence) - len(frame.after)
    around = _fold(sentence[:start]) == _fold(frame.before) and _fold(sentence[end:]) == _fold(frame.after)
    return sentence[start:end] if around and start < end else None


def _word_fillings(
    versions: Sequence[tuple[str, str]], words: Words, *, lexicon: Lexicon
) -> dict[str, tuple[str, str, str]]:
    """The sentences that the words of the table make of a stereotype's templates, its own contrasts first.

    A word that was seen only with a capital at the beginning of a sentence fills no slot inside one.
    """
    word_fillings = {
        _fold(text): (template, text, _word_in(_read_frame(template), text) or "") for template, text in versions
    }
    genders: set[str | None] = set()
    for template, _ in versions:
        frame = _read_frame(template)
        if frame is None or frame.gender in genders:
            continue
        genders.add(frame.gender)
        for word in words.get(frame.kind, ()):
            if frame.gender in (None, word.gender) and (frame.opens or word.plain):
                pieces = join([Piece(frame.before), Piece(word.text, frame.kind[0]), Piece(frame.after)], lexicon.rules)
                text = "".join(piece.text for piece in capital(pieces, lexicon.language))
                word_fillings.setdefault(_fold(text), (template, text, word.text))
    return word_fillings


def table_rows(table: FilledTable, language: str) -> Iterator[list[str]]:
    """The table in SHADES' layout, with its heading; the terms are a column of their own."""
    tag = language.lower().replace("-", "_")
    columns = ["bias_type", *COLUMNS]
    yield ["index", "subset", *columns, f"{tag}_templates", f"{tag}_biased_sentences", "terms"]
    for row in table.rows:
        facts = table.facts.get(row.index, {})
        yield [row.index, row.subset, *(facts.get(name, "") for name in columns), row.template, row.sentence, row.terms]


def template_differs(item: Item) -> str | None:
    """A sentence when a stereotype or its contrast is not its template with the slots filled."""
    for number, (template, text) in enumerate(_template_pairs(item)):
        try:
            elements = read_shades(template).elements
        except IsoglossError:
            return f"the template '{template}' has no slot"
        parts = [re.escape(_fold(element.text)) if isinstance(element, Text) else ".+?" for element in elements]
        if not re.fullmatch("".join(parts), _fold(text)):
            return f"the {'contrast' if number else 'sentence'} is not the template '{template}' with its slots filled"
    return None


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
