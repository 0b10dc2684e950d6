"""A lexicon: all vocabularies, words and rules of a language, and what a slot's name means in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .. import languages
from ..errors import BadData, IsoglossError
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


def bundled_languages() -> list[str]:
    """The languages that have template files here."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and any(path.glob("*.toml")))


def read_lexicon(language: str, folder: Path | None = None) -> Lexicon:
    """The lexicon of a language: the files here, and over them those of a folder of one's own."""
    tag = languages.resolve(language)
    if folder is not None and not folder.is_dir():
        raise IsoglossError(f"No such folder: {folder}.")
    folders = dict.fromkeys(path.resolve() for path in (FOLDER / tag, folder) if path is not None and path.is_dir())
    vocabularies: dict[str, Vocabulary] = {}
    rules = Rules()
    for source_folder in folders:
        for path in sorted(source_folder.glob("*.toml")):
            if path.stem in NOT_VOCABULARIES:
                continue
            vocabulary = read_vocabulary(path)
            if vocabulary.language != tag:
                raise BadData(path, None, f"the language is '{vocabulary.language}', but the folder's is '{tag}'.")
            if vocabulary.category != path.stem:
                raise BadData(path, None, f"the category '{vocabulary.category}' differs from the file's name.")
            vocabularies[vocabulary.category] = vocabulary
        rules = read_rules(source_folder / "rules.toml") if (source_folder / "rules.toml").exists() else rules
    words = vocabularies.pop(WORDS, None)
    lexicon = Lexicon(tag, vocabularies, words, rules)
    seen: dict[str, Path] = {}
    for name, path in names_of(lexicon):
        if name in seen:
            raise BadData(path, None, f"'{name}' is a name in {seen[name].name} already; rename one of them.")
        seen[name] = path
    return lexicon


def names_of(lexicon: Lexicon) -> list[tuple[str, Path]]:
    """Everything that a slot may be named, with its file: categories, their aliases, and words."""
    vocabularies, words = lexicon.vocabularies, lexicon.words
    names = [(category, vocabulary.path) for category, vocabulary in vocabularies.items()]
    names += [(alias, vocabulary.path) for vocabulary in vocabularies.values() for alias in vocabulary.aliases]
    return names + ([(word, words.path) for word in words.terms] if words else [])


def category_of(name: str) -> str:
    """A slot's name without its number: `nationality_2` is of `nationality`."""
    stem, _, number = name.rpartition("_")
    return stem if stem and number.isdecimal() else name
