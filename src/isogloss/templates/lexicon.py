"""A lexicon: all vocabularies, words and rules of a language, and what a slot's name means in it."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .. import languages
from ..errors import BadData, IsoglossError
from .features import Features
from .grammar import Slot
from .rules import Rules, read_rules
from .vocabulary import Vocabulary, read_vocabulary

FOLDER = Path(__file__).parent.parent / "data" / "templates"
WORDS = "words"
NOT_VOCABULARIES = {"sets", "rules"}


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What templates of a language may name: vocabularies by category, words, and rules where words meet.

    `capitals` says whether a sentence begins with a capital where its first word comes from a slot.
    """

    language: str
    vocabularies: Mapping[str, Vocabulary] = field(default_factory=dict)
    words: Vocabulary | None = None
    rules: Rules = field(default_factory=Rules)
    capitals: bool = True


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a slot is: its vocabulary, its features with those of an alias, and for a word its id."""

    vocabulary: Vocabulary
    features: Features
    word: str | None = None


def bundled_languages() -> list[str]:
    """The languages that have template files here."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and any(path.glob("*.toml")))


def read_lexicon(language: str, folder: Path | None = None) -> Lexicon:
    """The lexicon of a language: the files here, and over them those of a folder of one's own."""
    tag = languages.resolve(language)
    if folder is not None and not folder.is_dir():
        raise IsoglossError(f"No such folder: {folder}.")
    folders = list(
        dict.fromkeys(path.resolve() for path in (FOLDER / tag, folder) if path is not None and path.is_dir())
    )
    vocabularies: dict[str, Vocabulary] = {}
    rules = Rules()
    for path in folders:
        vocabularies |= _vocabularies(path, tag)
        rules = read_rules(path / "rules.toml") if (path / "rules.toml").exists() else rules
    words = vocabularies.pop(WORDS, None)
    _refuse_double_names(vocabularies, words)
    return Lexicon(tag, vocabularies, words, rules)


def _vocabularies(folder: Path, tag: str) -> dict[str, Vocabulary]:
    vocabularies: dict[str, Vocabulary] = {}
    for path in sorted(folder.glob("*.toml")):
        if path.stem in NOT_VOCABULARIES:
            continue
        vocabulary = read_vocabulary(path)
        if vocabulary.language != tag:
            raise BadData(path, None, f"the language is '{vocabulary.language}', but the folder's is '{tag}'.")
        if vocabulary.category != path.stem:
            raise BadData(path, None, f"the category '{vocabulary.category}' differs from the file's name.")
        vocabularies[vocabulary.category] = vocabulary
    return vocabularies


def _refuse_double_names(vocabularies: Mapping[str, Vocabulary], words: Vocabulary | None) -> None:
    seen: dict[str, Path] = {}
    names: list[tuple[str, Path]] = [(name, listed.path) for name, listed in vocabularies.items()]
    names += [(alias, vocabulary.path) for vocabulary in vocabularies.values() for alias in vocabulary.aliases]
    names += [(word, words.path) for word in words.terms] if words else []
    for name, path in names:
        if name in seen:
            raise BadData(path, None, f"'{name}' is a name in {seen[name].name} already; rename one of them.")
        seen[name] = path


def names_of(lexicon: Lexicon) -> list[str]:
    """Everything that a slot may be named."""
    aliases = [alias for vocabulary in lexicon.vocabularies.values() for alias in vocabulary.aliases]
    return sorted([*lexicon.vocabularies, *aliases, *(lexicon.words.terms if lexicon.words else ())])


def category_of(name: str) -> str:
    """A slot's name without its number: `nationality_2` is of `nationality`."""
    stem, _, number = name.rpartition("_")
    return stem if stem and number.isdecimal() else name


def find_meaning(lexicon: Lexicon, slot: Slot) -> Meaning | None:
    """What a slot's name means: a category, an alias of one, or a word; nothing when it is unknown."""
    for name in dict.fromkeys((slot.name, category_of(slot.name))):
        if name in lexicon.vocabularies:
            return Meaning(lexicon.vocabularies[name], slot.features)
        for vocabulary in lexicon.vocabularies.values():
            if name in vocabulary.aliases:
                use = ("Use", vocabulary.aliases[name].capitalize())
                return Meaning(vocabulary, (use, *slot.features))
        if lexicon.words is not None and name in lexicon.words.terms:
            return Meaning(lexicon.words, slot.features, word=name)
    return None


def unknown_slot(name: str, known: Iterable[str]) -> str:
    """A sentence about an unknown name, with a near one if there is one."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return f"there is no category or word '{name}'.{hint} Known: {', '.join(names) or 'none'}."
