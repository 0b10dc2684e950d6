"""CrowS-Pairs: two sentences that differ only in the group they mention; the original, the French and other translations."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import languages
from ..errors import BadData, IsoglossError
from ..files.encodings import misread_as
from ..files.reading import NOT_UTF_8
from ..files.rows import OnBadRow, clean, read_json, read_rows, suffix
from ..files.sources import Dataset, row_language
from ..items import ANTI_STEREOTYPE, STEREOTYPE, Candidate, Item

MORE = ("sent_more", "stereotype")
LESS = ("sent_less", "anti-stereotype", "anti_stereotype")
DIRECTION = ("stereo_antistereo", "direction")
NUMBER = ("id", "index", "", "Unnamed: 0")
DIRECTIONS = ("stereo", "antistereo")
ORIGINAL = "anon_writer"


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has sent_more and sent_less (also as sent_more_de, ...), or the columns of the Japanese and Russian files."""
    published = any(f"sent_less{ending}" in columns for ending in _endings(columns))
    return published or (columns >= {"stereotype", "anti-stereotype", "direction"} and "context" not in columns)


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """The pairs of a file; `language` is used where neither columns nor the file's name say it."""

    for number, (line, row) in enumerate(_rows(path, bad)):
        for ending in _endings(frozenset(row)) or [""]:
            try:
                yield _item(row, number, ending=ending, language=language or _language_named(path))
            except ValueError as error:
                bad(BadData(path, line, str(error)))


def _rows(path: Path, bad: OnBadRow) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    if suffix(path) != ".json":
        yield from read_rows(path, bad)
        return
    content = read_json(path)
    if not isinstance(content, list):
        raise BadData(path, None, "not CrowS-Pairs' JSON: it must be a list of pairs.")
    for number, row in enumerate(content, 1):
        try:
            if not isinstance(row, dict):
                raise ValueError("must be an object with a pair's fields")
            yield None, clean(row)
        except UnicodeError:
            bad(BadData(path, None, NOT_UTF_8))
        except ValueError as error:
            bad(BadData(path, None, f"pair {number}: {error}."))


def _endings(columns: frozenset[str]) -> list[str]:
    """What follows sent_more in the names of columns: nothing, or a language, as in sent_more_de."""
    matches = (re.fullmatch(r"sent_more((?:_[A-Za-z-]+)?)", name) for name in columns)
    return sorted(match[1] for match in matches if match)


def _item(row: Mapping[str, Any], number: int, *, ending: str, language: str | None) -> Item:
    tag = ending.lstrip("_") or row.get("language") or language or ("en" if ORIGINAL in row else None)
    kind = _text(row, ("bias_type",))
    more, less = _text(row, MORE, ending=ending), _text(row, LESS, ending=ending)
    direction = _text(row, DIRECTION)
    if direction not in DIRECTIONS:
        raise ValueError(f"the direction is '{direction}'; use 'stereo' or 'antistereo'.")
    for text in (more, less):
        wrong = misread_as(text)
        if wrong:
            raise ValueError(
                f"'{text[:40]}' is UTF-8 that was read as {wrong}. Convert the file again from its source."
            )
    named = next((str(row[name]) for name in NUMBER if str(row.get(name, "")).strip()), None)
    name = named or f"{kind}-{number}"
    return Item(
        id=name,
        dataset="crows_pairs",
        language=row_language({"language": tag and str(tag)}, None),
        category=kind,
        candidates=(
            Candidate(f"{name}-{STEREOTYPE}", STEREOTYPE, more),
            Candidate(f"{name}-{ANTI_STEREOTYPE}", ANTI_STEREOTYPE, less),
        ),
        cluster=name,
        tags={"task": "pair", "direction": direction} | ({"writer": str(row[ORIGINAL])} if row.get(ORIGINAL) else {}),
    )


def _text(row: Mapping[str, Any], names: tuple[str, ...], *, ending: str = "") -> str:
    """The first of the columns that the row has; `ending` belongs to their names."""
    name = next((f"{column}{ending}" for column in names if f"{column}{ending}" in row), f"{names[0]}{ending}")
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"'{name}' is missing or empty.")
    return value.strip()


def _language_named(path: Path) -> str | None:
    """The language that the file's name ends with, in words: crows_pairs_french.csv."""
    word = path.name.split(".")[0].rsplit("_", 1)[-1]
    try:
        return languages.resolve(word) if len(word) > 3 else None
    except IsoglossError:
        return None


dataset = Dataset(
    title="CrowS-Pairs",
    summary="Pairs of a more and a less stereotyping sentence, in nine bias types.",
    licence="CC BY-SA 4.0",
    citation="Nangia et al. (2020), CrowS-Pairs; French: Névéol et al. (2022); Japanese, Russian: Kaneko et al. (2022).",
    url="https://github.com/nyu-mll/crows-pairs",
    recognise=recognise,
    parse=parse,
    columns=("sent_more", "sent_less", "stereo_antistereo", "bias_type"),
)
