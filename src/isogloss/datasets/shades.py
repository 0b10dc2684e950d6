"""SHADES: stereotypes in sixteen languages with contrasts that change the identity only, from a table in its layout."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BadData
from ..files.cell_values import is_empty, language_tag, several, without_region, yes_or_no
from ..files.rows import OnBadRow, read_rows
from ..files.sources import Dataset
from ..items import CONTRAST, STEREOTYPE, Candidate, Item, Tag

ORIGINAL = "_original"
LETTERS = "abcdefghij"
FIELDS = ("biased_sentences", "templates", "expression", "comments")
COLUMN = re.compile(rf"(.+?)[_-]({'|'.join(FIELDS)}|biased_sentence|template)")
HUB = "LanguageShades/BiasShades"
KINDS = {  # the words of the paper, of the published table, and near ones
    "implicit": "implicit",
    "declaration": "implicit",
    "obligation": "implicit",
    "aspiration": "implicit",
    "description": "descriptive",
    "descriptive": "descriptive",
    "saying": "saying",
    "common saying": "saying",
    "proverb": "saying",
    "conversational": "conversational",
    "question": "conversational",
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A row of the table: its line, the stereotype it belongs to, which contrast it is (none: the original), its cells."""

    line: int
    index: str
    letter: str
    cells: Mapping[str, Any]


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has the index, the subset, and sentences in a language."""
    return {"index", "subset"} <= columns and any(name.endswith("biased_sentences") for name in columns)


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """For each language one item per contrast, and one for a stereotype that has no contrast in it."""
    statements: dict[str, dict[str, Statement]] = {}
    for line, row in read_rows(path, bad):
        try:
            statement = _statement(line, row)
            if statement.letter in statements.setdefault(statement.index, {}):
                raise ValueError(f"index {statement.index} has the subset '{statement.letter or ORIGINAL}' twice.")
            statements[statement.index][statement.letter] = statement
        except ValueError as error:
            bad(BadData(path, line, str(error)))
    tags = _languages(next((statement.cells for group in statements.values() for statement in group.values()), {}))
    for group in statements.values():
        for tag, prefix in tags.items():
            yield from _items(path, group, tag=tag, prefix=prefix, bad=bad)


def _statement(line: int, row: Mapping[str, Any]) -> Statement:
    if is_empty(row.get("index")):
        raise ValueError("'index' is missing or empty.")
    subset = "" if is_empty(row.get("subset")) else str(row["subset"]).strip().lower()
    letter = "" if subset.strip("_") == ORIGINAL.strip("_") else subset
    if letter and (letter not in LETTERS or len(letter) > 1):
        raise ValueError(f"the subset is '{row['subset']}'; use '{ORIGINAL}', or a letter from a to j for a contrast.")
    if not subset:
        raise ValueError("'subset' is missing or empty.")
    number = str(row["index"]).strip()
    return Statement(line, number.removesuffix(".0"), letter, row)


def _languages(row: Mapping[str, Any]) -> dict[str, str]:
    """The prefix of each language's columns, by its tag."""
    tags_by_column: dict[str, str] = {}
    for name in row:
        match = COLUMN.fullmatch(name)
        tag = language_tag(match[1]) if match and match[2].startswith("biased") else None
        if match and tag:
            tags_by_column.setdefault(tag, match[1])
    return tags_by_column


def _items(path: Path, group: Mapping[str, Statement], *, tag: str, prefix: str, bad: OnBadRow) -> Iterator[Item]:
    """A stereotype's items in one language; where the language has no sentence, there is none."""
    cells = {letter: _cell(statement, "biased_sentences", prefix=prefix) for letter, statement in group.items()}
    texts = {letter: text for letter, text in cells.items() if text}
    contrasts = sorted(letter for letter in texts if letter)
    original = group.get("")
    if original is None or "" not in texts:
        for letter in contrasts:
            why = f"the contrast '{letter}' of index {group[letter].index} has a sentence in '{tag}', but its original has none."
            bad(BadData(path, group[letter].line, why))
        return
    tags = _tags(original, tag=tag, prefix=prefix)
    for letter in contrasts or [""]:
        name = f"{original.index}{letter}"
        pair = (STEREOTYPE, texts[""]), (CONTRAST, texts[letter])
        candidates = tuple(Candidate(f"{name}-{role}", role, text) for role, text in pair[: 2 if letter else 1])
        category = "+".join(several(original.cells.get("bias_type"))) or None
        cluster = original.index.split(".")[0]  # 7.1 says what 7 says in other words
        template_cell = _cell(group[letter], "templates", prefix=prefix)
        other: dict[str, Tag] = (
            {"contrast_template": template_cell} if template_cell and template_cell != tags.get("template") else {}
        )
        yield Item(name, "shades", tag, category, candidates, cluster=cluster, tags={**tags, **other})


def _tags(statement: Statement, *, tag: str, prefix: str) -> dict[str, Tag]:
    """The item's further columns; what the table leaves empty is not there, but for those with several values."""
    named = (several(statement.cells.get(f"stereotype_{name}_langs")) for name in ("origin", "valid"))
    origin, valid = (tuple(dict.fromkeys(language_tag(name) or name for name in names)) for names in named)
    expression = _cell(statement, "expression", prefix=prefix)
    saying = yes_or_no(expression)
    kind = str(statement.cells.get("type") or "").strip().lower()
    entity = str(statement.cells.get("stereotyped_entity") or "").strip()
    tags: dict[str, Tag | None] = {
        "task": CONTRAST,
        "entity": tuple(part.strip() for part in entity.split("∪") if part.strip()),
        "type": kind or None,
        "statement": "saying" if saying else KINDS.get(kind, kind) or None,
        "region": several(statement.cells.get("stereotype_valid_regions")),
        "origin_language": origin,
        "valid_language": valid,
        "original": _is_among(tag, origin),
        "valid": _is_among(tag, valid),
        "expression": expression if saying is None else None,
        "template": _cell(statement, "templates", prefix=prefix),
    }
    return {name: value for name, value in tags.items() if value is not None}


def _is_among(tag: str, known: tuple[str, ...]) -> str | None:
    """Whether a language is among others, also when they name its country: es-DO is es; nothing when there are none."""
    if not known:
        return None
    return "yes" if tag in known or tag in {without_region(other) for other in known} else "no"


def _cell(statement: Statement, field: str, *, prefix: str) -> str | None:
    """The text in a language's column, whatever joins the two parts of its name."""
    names = (f"{prefix}{separator}{name}" for name in (field, field.removesuffix("s")) for separator in "_-")
    value = next((statement.cells[name] for name in names if name in statement.cells), None)
    return None if is_empty(value) else str(value).strip()


dataset = Dataset(
    title="SHADES",
    summary="Stereotypes with contrasts, regions, statement types and origin, parallel in 16 languages; gated.",
    licence="its own terms: for assessing stereotypes only, never for training",
    citation="Mitchell et al. (2025), SHADES: Towards a Multilingual Assessment of Stereotypes in Large Language Models.",
    url=f"https://huggingface.co/datasets/{HUB}",
    recognise=recognise,
    parse=parse,
    columns=("index", "subset", "en_biased_sentences"),
    hub=HUB,
)
