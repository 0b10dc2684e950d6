"""Coverage: what is there for a language (templates, prompts, word lists, data), who reviewed it, and what is missing."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import languages, registry
from .errors import IsoglossError
from .languages import Language
from .templates.items import count_sentences, make_frames
from .templates.lexicon import FOLDER, bundled_languages, read_lexicon
from .templates.sets import read_sets
from .word_lists import languages_with_names, load_toml

ENGLISH = "en"
TEMPLATES = ("templates", "template_blanks")
PARTS = {
    "templates": "template sets",
    "prompts": "prompts",
    "words": "gender words",
    "names": "given names",
    "data": "data",
}


@dataclass(frozen=True, slots=True)
class LanguageCoverage:
    """What a language has: a file, data sets, templates, prompts for chat models, gender words, names, articles."""

    language: Language
    described: bool
    data: tuple[str, ...]
    templates: bool
    prompts: bool
    words: bool
    names: bool
    articles: bool
    reviewed: tuple[str, ...] = ()
    vocabularies: Mapping[str, int] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """What other languages have and this one lacks."""
        return tuple(text for name, text in PARTS.items() if not getattr(self, name))


def bundled_data() -> dict[str, tuple[str, ...]]:
    """The data sets that ship, with their languages."""
    files = {name: data.bundled() for name, data in registry.load_all("dataset").items() if data.bundled}
    return {name: tuple(sorted(tags)) for name, tags in files.items() if tags}


def cover_language(tag: str, data: Mapping[str, tuple[str, ...]] | None = None) -> LanguageCoverage:
    """What there is for one language; `data` names the languages of data sets, by default of those that ship."""
    language = languages.describe(tag)
    vocabularies = read_lexicon(tag).vocabularies if tag in bundled_languages() else {}
    spoken = tag.split("-")[0]
    words = {ENGLISH, *load_toml("pronouns.toml")}
    names = {ENGLISH, *languages_with_names()}
    sources = bundled_data() if data is None else data
    return LanguageCoverage(
        language,
        tag in languages.tags(),
        tuple(name for name, tags in sources.items() if tag in tags and name not in TEMPLATES),
        bool(vocabularies),
        "ask" in language.sections,
        tag in words or spoken in words,
        tag in names or spoken in names,
        "articles" in language.sections,
        tuple(sorted({vocabulary.reviewed for vocabulary in vocabularies.values() if vocabulary.reviewed})),
        {name: len(vocabulary.terms) for name, vocabulary in sorted(vocabularies.items())},
    )


def count_templates(tag: str) -> tuple[int, int]:
    """How many sets and how many sentences the templates of a language have."""
    path = FOLDER / tag / "sets.toml"
    if not path.exists():
        raise IsoglossError(
            f"There are no template sets for '{tag}'. See docs/how-to/templates.md for how to write them."
        )
    lexicon, sets = read_lexicon(tag), read_sets(path)
    return len(sets), sum(count_sentences(frame, lexicon) for entry in sets for frame in make_frames(entry))
