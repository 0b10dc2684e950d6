"""Rules of a language's templates: inflection, government, equal forms, suffixes, contractions; read from rules.toml."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import BadData
from .features import Features, parse_features, show_features
from .vocabulary import read_toml, refuse_unknown

FIELDS = {"inflection", "government", "same", "endings", "suffix", "join", "sounds", "exceptions"}
LAST = "last"  # the group of endings in which only the very last letter counts


@dataclass(frozen=True, slots=True)
class Rule:
    """One contraction: these words, or these letters, become others, perhaps only before words that sound in some way.

    `unless` are phrases, in their own capitals, of which no part is touched.
    """

    find: str
    becomes: str
    before: str | None = None
    words: bool = True
    unless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suffix:
    """A suffix as it is written after a slot, and its forms by the classes of the word's ending.

    With `apostrophe`, one precedes it after a name, which is a word with a capital; not after the endings of `unless`.
    """

    written: str
    forms: tuple[tuple[frozenset[str], str], ...]
    apostrophe: bool = False
    unless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SameForm:
    """A form that is written like another of the same word, such as the accusative of persons like their genitive.

    `unless` are endings of dictionary forms for which this does not hold.
    """

    form: Features
    like: Features
    unless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a language: contractions in their order, and what they and the other rules refer to."""

    joins: tuple[Rule, ...] = ()
    sounds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exceptions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inflection: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    government: Mapping[str, tuple[Features, ...]] = field(default_factory=dict)
    endings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    suffixes: tuple[Suffix, ...] = ()
    same: tuple[SameForm, ...] = ()


def read_rules(path: Path) -> Rules:
    """The rules in a file; none if there is no such file."""
    if not path.exists():
        return Rules()
    content = read_toml(path)
    try:
        refuse_unknown(content, FIELDS, owner="rules have")
        sounds, exceptions = _lists(content.get("sounds", {})), _lists(content.get("exceptions", {}))
        endings = {name: _letters(group) for name, group in content.get("endings", {}).items()}
        classes = {name for group in endings.values() for names in group.values() for name in names.split()}
        return Rules(
            tuple(_rule(row, {*sounds, *exceptions}) for row in content.get("join", [])),
            sounds,
            exceptions,
            _inflection(content.get("inflection", {})),
            {words.casefold(): _demands(value) for words, value in content.get("government", {}).items()},
            endings,
            tuple(_suffix(row, classes) for row in content.get("suffix", [])),
            tuple(_same(row) for row in content.get("same", [])),
        )
    except ValueError as error:
        raise BadData(path, None, str(error)) from error


def _lists(table: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(table, dict) or not all(isinstance(row, list) for row in table.values()):
        raise ValueError("'sounds' and 'exceptions' are tables of lists: vowel = [\"a\", \"e\"].")
    return {name: tuple(str(word).casefold() for word in words) for name, words in table.items()}


def _rule(fields: Mapping[str, Any], sounds: set[str]) -> Rule:
    refuse_unknown(fields, {"words", "letters", "becomes", "before", "unless"}, owner="a join has")
    find, becomes, before = fields.get("words", fields.get("letters")), fields.get("becomes"), fields.get("before")
    if not isinstance(find, str) or not find or not isinstance(becomes, str):
        raise ValueError("a join needs 'words' (or 'letters') and 'becomes'.")
    if before is not None and before not in sounds:
        raise ValueError(
            f"a join is 'before' a sound that is not defined: '{before}'. Known: {', '.join(sorted(sounds))}."
        )
    return Rule(find, becomes, before, "words" in fields, tuple(map(str, fields.get("unless", ()))))


def _inflection(table: Any) -> dict[str, tuple[str, ...]]:
    """The features that nouns and adjectives distinguish, each with its values: Case = ["nom", "acc"]."""
    if not isinstance(table, dict):
        raise ValueError('\'inflection\' is a table of features: Case = ["nom", "acc"].')
    features = {
        name: [pair for value in values for pair in parse_features(str(value))] for name, values in table.items()
    }
    for name, pairs in features.items():
        if not pairs or any(pair[0] != name for pair in pairs):
            raise ValueError(f"'inflection' has values of '{name}' that are none: {show_features(pairs) or 'nothing'}.")
    return {name: tuple(value for _, value in pairs) for name, pairs in features.items()}


def _demands(value: Any) -> tuple[Features, ...]:
    """The features that a word demands; several sets of them are alternatives."""
    demands = tuple(parse_features(str(text)) for text in (value if isinstance(value, list) else [value]))
    if not all(demands) or not demands:
        raise ValueError("a word under 'government' needs features, such as mit = \"dat\".")
    return demands


def _same(fields: Mapping[str, Any]) -> SameForm:
    refuse_unknown(fields, {"form", "like", "unless"}, owner="a rule under 'same' has")
    form, like = (parse_features(str(fields.get(name, ""))) for name in ("form", "like"))
    if not form or not like:
        raise ValueError("a rule under 'same' needs features for 'form' and 'like': form = \"pl acc\", like = \"gen\".")
    return SameForm(form, like, tuple(str(ending).casefold() for ending in fields.get("unless", ())))


def _letters(group: Any) -> dict[str, str]:
    """The class of each letter of a group of endings: front = "eiöü"."""
    if not isinstance(group, dict):
        raise ValueError("'endings' are groups of classes: [endings.vowel] front = \"eiöü\".")
    return {letter: name for name, letters in group.items() for letter in str(letters)}


def _suffix(fields: Mapping[str, Any], classes: set[str]) -> Suffix:
    refuse_unknown(fields, {"written", "forms", "apostrophe", "unless"}, owner="a suffix has")
    written, forms = fields.get("written"), fields.get("forms")
    if not isinstance(written, str) or not written or not isinstance(forms, dict):
        raise ValueError('a suffix needs \'written\' and \'forms\': { "back" = "lar", "front" = "ler" }.')
    pairs = [(frozenset(key.split()) - {"else"}, str(text)) for key, text in forms.items()]
    unknown = sorted({name for names, _ in pairs for name in names} - classes)
    if unknown:
        raise ValueError(f"the suffix '{written}' names an ending that is not defined: '{unknown[0]}'.")
    by_classes = tuple(sorted(pairs, key=lambda form: -len(form[0])))
    return Suffix(written, by_classes, bool(fields.get("apostrophe")), tuple(map(str, fields.get("unless", ()))))
