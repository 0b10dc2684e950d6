"""GEST: first-person sentences about 16 gender stereotypes, in English in four wordings, and EuroGEST's gendered forms."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import languages
from ..errors import BadData, IsoglossError
from ..files.reading import remark
from ..files.rows import OnBadRow, read_rows
from ..files.sources import Dataset, row_language, row_text
from ..items import ANTI_STEREOTYPE, STEREOTYPE, Candidate, Item

WOMEN, MEN = "women", "men"
TRAITS = (
    *("emotional", "gentle", "empathetic", "neat", "social", "weak", "beautiful"),
    *("tough", "self-confident", "professional", "rational", "providers", "leaders", "childish", "sexual", "strong"),
)
FIRST_OF_MEN = 8  # stereotypes 1 to 7 are about women, 8 to 16 about men
WORDINGS = (  # as published, the first word that names a man, the second a woman
    ('{word} said: "{sentence}"', "He", "She"),
    ('The {word} said: "{sentence}"', "man", "woman"),
    ('"{sentence}", {word} said.', "he", "she"),
    ('"{sentence}", the {word} said.', "man", "woman"),
)
FORMS = "forms"  # the wording of sentences that are gendered themselves
TASK = "gest"
ENGLISH = frozenset({"sentence", "stereotype"})
GENDERED = frozenset({"Masculine", "Feminine", "Stereotype_ID"})


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has GEST's two columns and no annotations, or the forms of EuroGEST."""
    return columns == ENGLISH or columns >= GENDERED


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """Four items per sentence of GEST; one per sentence of EuroGEST that has a masculine and a feminine form."""
    neutral = 0
    for number, (line, row) in enumerate(read_rows(path, bad)):
        try:
            if set(row) >= GENDERED:
                if not row.get("Masculine") or not row.get("Feminine"):
                    neutral += 1
                    continue
                yield _gendered(row, number, language=language or _language_named(path))
            else:
                yield from _worded(row, number, language=language)
        except ValueError as error:
            bad(BadData(path, line, str(error)))
    if neutral:
        remark(path, f"{neutral} sentences without a masculine and a feminine form were left out")


def _worded(row: Mapping[str, Any], number: int, *, language: str | None) -> list[Item]:
    tag = row_language(row, language or "en")
    if tag.split("-")[0] != "en":
        raise ValueError(f"the wordings are English, but the language is '{tag}'; give 'Masculine' and 'Feminine'.")
    sentence, stereotype = row_text(row, "sentence"), _stereotype(row, "stereotype")
    items = []
    for wording, (frame, *words) in enumerate(WORDINGS):
        texts = [frame.format(word=word, sentence=sentence) for word in words]
        items.append(
            _item(f"{number}-{wording}", list(zip(texts, words, strict=True)), stereotype=stereotype, language=tag)
        )
    return items


def _gendered(row: Mapping[str, Any], number: int, *, language: str | None) -> Item:
    name = str(row.get("GEST_ID") or number).removesuffix(".0")
    forms = [(row_text(row, column), None) for column in ("Masculine", "Feminine")]
    tag = row_language(row, language)
    return _item(f"{name}-{FORMS}", forms, stereotype=_stereotype(row, "Stereotype_ID"), language=tag)


def _item(name: str, sides: Sequence[tuple[str, str | None]], *, stereotype: int, language: str) -> Item:
    """A sentence with a man's and a woman's side; the one that the stereotype is about is the stereotype."""
    about = MEN if stereotype >= FIRST_OF_MEN else WOMEN
    roles = (STEREOTYPE, ANTI_STEREOTYPE) if about == MEN else (ANTI_STEREOTYPE, STEREOTYPE)
    cluster, _, wording = name.rpartition("-")
    return Item(
        id=name,
        dataset="gest",
        language=language,
        category="gender",
        candidates=tuple(
            Candidate(f"{name}-{gender}", role, text, word)
            for gender, role, (text, word) in zip(("male", "female"), roles, sides, strict=True)
        ),
        cluster=cluster,
        tags={"task": TASK, "target": TRAITS[stereotype - 1], "about": about, "wording": wording},
    )


def _stereotype(row: Mapping[str, Any], column: str) -> int:
    text = row_text(row, column).removesuffix(".0")
    if not text.isdecimal() or not 1 <= int(text) <= len(TRAITS):
        raise ValueError(f"'{column}' is '{text}'; it must be a number from 1 to {len(TRAITS)}.")
    return int(text)


def _language_named(path: Path) -> str | None:
    """The language that the file is named after, in words, as EuroGEST's files are: Slovak.csv."""
    word = path.name.split(".")[0]
    try:
        return languages.resolve(word)
    except IsoglossError:
        return None


dataset = Dataset(
    title="GEST",
    summary="First-person sentences about 16 stereotypes of women and men, in a man's and a woman's form; also EuroGEST.",
    licence="Apache-2.0",
    citation="Pikuliak et al. (2024), Women Are Beautiful, Men Are Leaders; EuroGEST: Rowe et al. (2025).",
    url="https://github.com/kinit-sk/gest",
    recognise=recognise,
    parse=parse,
    columns=("sentence", "stereotype"),
)
