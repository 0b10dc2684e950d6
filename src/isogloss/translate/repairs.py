"""Repairs: small, named changes to translated items, each of which can be undone."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .. import languages
from ..annotation.item_changes import CONTEXT, TARGET, Change, changes_between, fields_of, with_fields
from ..checks.language_checks import target_missing
from ..errors import UnknownName
from ..items import BLANK, Item
from ..languages import Language

CLOSE = 0.4
STEM = 3  # letters
NOUNS_LARGE = ("de", "lb", "gsw")
HYPHENS = "-\u2010\u2011\u2012\u2013"
STRAY = " .,;:!?…¿¡\"'“”„«»‹›()[]{}،؛؟。、！？" + HYPHENS
INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\ufffd\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """What a repair may look at: the item's fields, its source's fields (empty without one), and the language."""

    item: Item
    fields: Mapping[str, str]
    source: Mapping[str, str]
    language: Language

    @property
    def words(self) -> list[str]:
        """The fields that hold words for BLANK."""
        return [candidate.id for candidate in self.item.candidates if candidate.word is not None]

    @property
    def sentences(self) -> list[str]:
        """The fields that hold whole sentences."""
        return [CONTEXT, *(candidate.id for candidate in self.item.candidates if candidate.word is None)]


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair; `fix` gives the new value of every field that it changes."""

    name: str
    explanation: str
    fix: Callable[[ItemTexts], dict[str, str]]


def repair(
    items: Sequence[Item], step: Repair, *, sources: Mapping[str, Item]
) -> tuple[tuple[Item, ...], tuple[Change, ...]]:
    """The items after one repair, and everything that it changed."""
    described = {tag: languages.describe(tag) for tag in {item.language for item in items}}
    repaired, changes = [], []
    for item in items:
        source = fields_of(sources[item.id]) if item.id in sources else {}
        values = step.fix(ItemTexts(item, fields_of(item), source, described[item.language]))
        new = with_fields(item, {name: value for name, value in values.items() if value})
        changes += changes_between(item, new, step=step.name)
        repaired.append(new)
    return tuple(repaired), tuple(changes)


def find_repairs(names: Sequence[str] | None = None) -> tuple[Repair, ...]:
    """The repairs of these names, or all, always in the order of the table."""
    by_name = {repair.name: repair for repair in REPAIRS}
    for name in names or ():
        if name.replace("-", "_") not in by_name:
            raise UnknownName("repair", name, by_name)
    wanted = by_name if names is None else {name.replace("-", "_") for name in names}
    return tuple(repair for repair in REPAIRS if repair.name in wanted)


def characters(texts: ItemTexts) -> dict[str, str]:
    """Text without invisible characters, in normal form C."""
    return {name: unicodedata.normalize("NFC", INVISIBLE.sub("", text)) for name, text in texts.fields.items()}


def spaces(texts: ItemTexts) -> dict[str, str]:
    """Text with single spaces, and none before a period or comma (French keeps its own before : ; ! ?)."""
    marks = r"[.,…]" if texts.language.tag.split("-")[0] == "fr" else r"[.,!?;:…]"

    def tidy(text: str) -> str:
        return re.sub(rf"\s+({marks})(?=\s|$)", r"\1", re.sub(r"[ \t\r\n]+", " ", text)).strip()

    return {name: tidy(text) for name, text in texts.fields.items()}


def quotes(texts: ItemTexts) -> dict[str, str]:
    """Text with an apostrophe where a double quote stood inside a word."""
    return {name: re.sub(r"(?<=\w)\"(?=[^\W\d_])", "'", text) for name, text in texts.fields.items()}


def blank(texts: ItemTexts) -> dict[str, str]:
    """The context with BLANK by itself: no hyphen and no ending at it, and a space after a mark before it."""
    text = texts.fields[CONTEXT]
    text = re.sub(rf"{BLANK}[^\W\d_]+", BLANK, text)
    text = re.sub(rf"(?<=\w)[{HYPHENS}]+{BLANK}", f" {BLANK}", text)
    text = re.sub(rf"(?<!\w)[{HYPHENS}]+{BLANK}", BLANK, text)
    text = re.sub(rf"{BLANK}[{HYPHENS}]+(?=\w)", f"{BLANK} ", text)
    text = re.sub(rf"{BLANK}[{HYPHENS}]+", BLANK, text)
    text = re.sub(rf"([.,;:!?…]){BLANK}", rf"\1 {BLANK}", text)
    return {CONTEXT: text} if BLANK in text else {}


def punctuation(texts: ItemTexts) -> dict[str, str]:
    """Words without the marks around them."""
    return {name: texts.fields[name].strip(STRAY) for name in texts.words}


def replacements(texts: ItemTexts) -> dict[str, str]:
    """Text after the language file's replacements: those for always, and those for a phrase of the source."""
    fixes = texts.language.sections.get("fixes", {})
    source = " ".join(texts.source.values()).casefold() or str(texts.item.tags.get("target", "")).casefold()
    tables = [fixes.get("always", {})]
    for phrase, table in fixes.get("source", {}).items():
        if re.search(rf"(?<!\w){re.escape(phrase.casefold())}s?(?!\w)", source):
            tables.append(table)
    values = dict(texts.fields)
    for table in tables:
        for wrong, right in table.items():
            values = {name: _replace(text, wrong, right=right) for name, text in values.items()}
    terms = {wrong.casefold(): right for wrong, right in fixes.get("target", {}).items()}
    if target_missing(texts.item) is not None:
        values[TARGET] = terms.get(values[TARGET].casefold(), values[TARGET])
    return values


def contractions(texts: ItemTexts) -> dict[str, str]:
    """Sentences with the contractions that the language demands, as Spanish `del` for `de el`."""
    table = texts.language.sections.get("articles", {}).get("contractions", {})
    values = {name: texts.fields[name] for name in texts.sentences}
    for apart, together in table.items():
        values = {name: _replace(text, apart, right=together) for name, text in values.items()}
    return values


def case(texts: ItemTexts) -> dict[str, str]:
    """Sentences that begin with a capital, and words with a small letter where the source has one."""
    values = {name: _capital(texts.fields[name]) for name in texts.sentences}
    if texts.language.tag.split("-")[0] in NOUNS_LARGE:
        return values
    for name in texts.words:
        word = texts.fields[name]
        if texts.source.get(name, "")[:1].islower() and word[1:].islower():
            values[name] = word[:1].lower() + word[1:]
    return values


def target(item_texts: ItemTexts) -> dict[str, str]:
    """The closest word of the text as the target term, where the term is one word and does not occur in the text.

    A word that is near by its letters alone, as *waren* to *Herren*, is left to a reviewer.
    """
    term = item_texts.fields[TARGET]
    if not term or len(term.split()) != 1 or target_missing(item_texts.item) is None:
        return {}
    texts = [item_texts.fields[CONTEXT].replace(BLANK, " ")]
    texts += [candidate.text for candidate in item_texts.item.candidates]
    words = dict.fromkeys(word for text in texts for word in re.findall(r"[\w'’-]*\w", text))
    scored = [(difflib.SequenceMatcher(None, term.casefold(), word.casefold()).ratio(), word) for word in words]
    best = max(scored, key=lambda pair: pair[0], default=(0.0, ""))
    return {TARGET: best[1]} if best[0] >= CLOSE and _related(term.casefold(), best[1].casefold()) else {}


def _related(term: str, word: str) -> bool:
    """Whether two words look like forms of one: the same beginning, or most of the shorter one in a row."""
    same = difflib.SequenceMatcher(None, term, word, autojunk=False).find_longest_match()
    shorter = min(len(term), len(word))
    start = same.a == same.b == 0 and same.size >= min(STEM, shorter)
    return start or same.size > max(STEM, 0.6 * shorter)


def _replace(text: str, wrong: str, *, right: str) -> str:
    """Whole words replaced, a capital at the beginning kept."""
    small = re.sub(rf"(?<!\w){re.escape(wrong)}(?!\w)", lambda _: right, text)
    large, new = _capital(wrong), _capital(right)
    return re.sub(rf"(?<!\w){re.escape(large)}(?!\w)", lambda _: new, small) if large != wrong else small


def _capital(text: str) -> str:
    index = next((index for index, letter in enumerate(text) if letter.isalnum()), None)
    if index is None or text[index:].startswith(BLANK):
        return text
    return text[:index] + text[index].upper() + text[index + 1 :]


REPAIRS = (
    Repair("characters", "Invisible characters are removed; text is put in normal form C.", characters),
    Repair("spaces", "Doubled spaces, and spaces before a period or comma, are removed.", spaces),
    Repair("quotes", "A double quote inside a word becomes an apostrophe.", quotes),
    Repair("blank", "Hyphens and endings at BLANK are removed.", blank),
    Repair("punctuation", "Punctuation around the words for BLANK is removed.", punctuation),
    Repair("replacements", "The replacements in the language file are applied.", replacements),
    Repair("contractions", "The contractions in the language file are applied.", contractions),
    Repair("case", "Sentences begin with a capital; words are lowercased if the source's are.", case),
    Repair(
        "target",
        "The target column becomes the closest word of the text (similarity at least 0.4; only single words that look like forms of one word).",
        target,
    ),
)
