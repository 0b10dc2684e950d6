"""Vocabularies: one TOML file per language and category; terms with ids, glosses and forms by features."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import BadData, list_known
from .features import USES, Features, parse_features, show_features

MAIN = ""  # the use of a term that has no name: the noun of a noun, the adjective of an adjective
HEADER = {"category", "language", "features", "inflects", "invariable", "aliases", "source", "reviewed", "terms"}
HEADER |= {"columns", *(f"columns_{use}" for use in USES)}
FIELDS = {"gloss", "lemma", "forms", "features", "invariable", "governs", "group", "region", "note", *USES}
FIELDS |= {f"features_{use}" for use in USES}
GONE = "-"


@dataclass(frozen=True, slots=True)
class FormCell:
    """One form of a term, and the features it is for."""

    features: Features
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A word of a vocabulary: `uses` has its forms by use, `natures` the features it has by nature, by use.

    `variants` are further words for the same thing, under the same id; their probabilities are averaged.
    Terms and vocabularies are equal only to themselves, so that results about them can be cached.
    """

    id: str
    gloss: str
    lemma: str
    uses: Mapping[str, tuple[FormCell, ...]]
    natures: Mapping[str, Features] = field(default_factory=dict)
    group: str | None = None
    region: str | None = None
    note: str | None = None
    variants: tuple[Term, ...] = ()
    invariable: bool = False
    governs: Features = ()


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The terms of a category in a language, in the file's order."""

    category: str
    language: str
    path: Path
    terms: Mapping[str, Term]
    inflects: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    invariable: tuple[str, ...] = ()
    reviewed: str = ""


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file, all text in NFC."""
    try:
        return tomllib.loads(unicodedata.normalize("NFC", path.read_text(encoding="utf-8")))
    except (ValueError, RecursionError) as error:
        raise BadData(path, None, f"not a TOML file in UTF-8: {error}.") from error
    except OSError as error:
        raise BadData(path, None, f"cannot be read ({error.strerror}).") from error


def read_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary in a file, read again only when the file has changed; what is wrong is said with the term's id."""
    try:
        state = path.stat()
    except OSError:
        return _read(path, (0, 0))
    return _read(path, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=256)
def _read(path: Path, state: tuple[int, int]) -> Vocabulary:
    """The file as it was in this state: when it was changed, and its size."""
    content = read_toml(path)
    try:
        return _vocabulary(content, path)
    except ValueError as error:
        raise BadData(path, None, str(error)) from error


def _vocabulary(content: Mapping[str, Any], path: Path) -> Vocabulary:
    refuse_unknown(content, HEADER, owner="the file has")
    for name in ("category", "language"):
        if not isinstance(content.get(name), str):
            raise ValueError(f"a vocabulary needs '{name}', a text.")
    terms = content.get("terms")
    if not isinstance(terms, dict) or not terms:
        raise ValueError("a vocabulary needs a table [terms] with at least one term.")
    aliases = content.get("aliases", {})
    if not isinstance(aliases, dict) or not set(aliases.values()) <= set(USES):
        raise ValueError(f"'aliases' names uses, such as {{ nation = \"place\" }}; uses are {', '.join(USES)}.")
    columns = {}
    for use in (MAIN, *USES):
        heading = f"columns_{use}"
        if use == MAIN or (use == "adj" and heading not in content):
            heading = "columns"
        columns[use] = [parse_features(text) for text in _texts(content.get(heading, []), f"'{heading}'")]
    inflects = tuple(_texts(content.get("inflects", []), "'inflects'"))
    shared = str(content.get("features", ""))
    by_id = {}
    for name, fields in terms.items():
        try:
            if not isinstance(fields, dict):
                raise ValueError('a term is a table: { gloss = "…", lemma = "…", forms = […] }.')
            entry_fields = {**fields, "features": f"{shared} {fields.get('features', '')}"} if shared else fields
            words = [
                _term(name, variant, columns=columns, inflects=inflects) for variant in _split_variants(entry_fields)
            ]
            by_id[name] = replace(words[0], variants=tuple(words[1:]))
        except ValueError as error:
            raise ValueError(f"term '{name}': {error}") from error
    fixed = tuple(_texts(content.get("invariable", []), "'invariable'"))
    facts = (fixed, str(content.get("reviewed", "")))
    return Vocabulary(content["category"], content["language"], path, by_id, inflects, dict(aliases), *facts)


def _split_variants(fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The fields of each variant of a term: a list where one text is expected has a text for each of them."""
    nested = {name for name in ("forms", *USES) if isinstance(fields.get(name), list | dict)}
    texts = [value for name, value in fields.items() if name not in nested]
    for name in nested:
        texts += fields[name].values() if isinstance(fields[name], dict) else fields[name]
    counts = {len(text) for text in texts if isinstance(text, list)}
    if len(counts) > 1 or 0 in counts:
        raise ValueError(f"its variants are {' or '.join(map(str, sorted(counts)))}; give as many everywhere.")
    for index in range(max(counts, default=1)):
        yield {name: _choose_text(value, index, nested=name in nested) for name, value in fields.items()}


def _choose_text(value: Any, index: int, *, nested: bool = False) -> Any:
    """The text of one variant; with `nested`, the table or list of forms with its texts."""
    if nested and isinstance(value, dict):
        return {key: _choose_text(cell, index) for key, cell in value.items()}
    if nested:
        return [_choose_text(cell, index) for cell in value]
    return value[index] if isinstance(value, list) else value


def _term(
    name: str, fields: Mapping[str, Any], *, columns: Mapping[str, list[Features]], inflects: tuple[str, ...]
) -> Term:
    """A term from its fields; without `forms` the lemma is its form, where nothing is said to inflect."""
    refuse_unknown(fields, FIELDS, owner="a term has")
    for fact in ("gloss", "lemma"):
        if not isinstance(fields.get(fact), str) or not fields[fact].strip():
            raise ValueError(f"'{fact}' is missing or empty.")
    invariable = bool(fields.get("invariable"))
    uses = {use: _cells(fields[use], columns[use], where=use) for use in USES if use in fields}
    if "forms" in fields and invariable:
        raise ValueError("it is invariable and has forms; take one of the two away.")
    if "forms" not in fields and inflects and not invariable:
        raise ValueError(
            f"no 'forms', although the category inflects for {', '.join(inflects)}; or say invariable = true."
        )
    uses[MAIN] = _cells(fields.get("forms", fields["lemma"]), columns[MAIN], where="forms")
    natures = {
        use: parse_features(str(fields[key]))
        for use in (MAIN, *USES)
        if (key := f"features_{use}" if use else "features") in fields
    }
    group, region, note = (str(fields[fact]) if fact in fields else None for fact in ("group", "region", "note"))
    governs = parse_features(str(fields.get("governs", "")))
    facts = (fields["gloss"], fields["lemma"], uses, natures, group, region, note)
    return Term(name, *facts, invariable=invariable, governs=governs)


def _cells(value: Any, columns: list[Features], *, where: str) -> tuple[FormCell, ...]:
    if isinstance(value, str):
        return (FormCell((), value),)
    if isinstance(value, dict):
        pairs = [(parse_features(key), text) for key, text in value.items()]
    elif isinstance(value, list):
        if len(value) != len(columns):
            raise ValueError(f"'{where}' has {len(value)} forms for {len(columns)} columns.")
        pairs = list(zip(columns, value, strict=True))
    else:
        raise ValueError(f"'{where}' must be a text, a list or a table.")
    texts = [(features, text) for features, text in pairs if text != GONE]
    for features, text in texts:
        if not isinstance(text, str) or text != text.strip(" "):
            raise ValueError(f"the form '{show_features(features)}' must be a text without spaces around it.")
    twice = [
        features for index, (features, _) in enumerate(texts) if features in [earlier for earlier, _ in texts[:index]]
    ]
    if twice:
        raise ValueError(f"the form '{show_features(twice[0])}' is given twice.")
    return tuple(FormCell(features, text) for features, text in texts)


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} must be a list of texts.")
    return value


def refuse_unknown(content: Mapping[str, Any], known: set[str], *, owner: str = "") -> None:
    """Raise a ValueError that says what `owner` does not have, if the content has a field that is not known."""
    unknown = sorted(set(content) - known)
    if unknown:
        raise ValueError(f"{owner} no field '{unknown[0]}'. Known: {list_known(unknown[0], sorted(known))}.".lstrip())
