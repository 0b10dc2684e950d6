"""Rows for speakers: every text of a language that ships, with what it should mean in English."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import languages
from ..errors import UnknownName
from ..files.sources import read
from ..items import Item
from ..templates.checks import REFERENCE, expand_sets, sets_path
from ..templates.features import show_features
from ..templates.items import make_frames
from ..templates.lexicon import Lexicon, read_lexicon
from ..templates.parallel import english_of, english_sentences, gloss_frames
from ..templates.sets import read_sets
from ..templates.vocabulary import read_toml
from ..word_lists import load_toml

FORM, WORDING, SENTENCE, PROMPT, ITEM, NAME, PRONOUN = (
    "form", "wording", "sentence", "prompt", "item", "name", "pronoun"
)  # fmt: skip
KINDS_CHECKED = (PROMPT, ITEM, WORDING, FORM, NAME, PRONOUN)  # a sentence is made anew and cannot be out of date
ITEM_SETS = ("demo", "shades_demo")
Row = dict[str, str]


def review_rows(
    language: str, *, folder: Path | None = None, kinds: tuple[str, ...] = (), per_template: int = 5
) -> list[Row]:
    """What speakers look through, by kind; all kinds without any. Of each template there are `per_template` sentences."""
    makers: dict[str, Callable[[], Iterator[Row]]] = {
        SENTENCE: lambda: _sentences(read_lexicon(language, folder), folder, per_template=per_template),
        PROMPT: lambda: _prompts(languages.describe(tag)),
        ITEM: lambda: _items(tag),
        WORDING: lambda: _wordings(tag, folder),
        FORM: lambda: _forms(read_lexicon(language, folder)),
        NAME: lambda: _words(tag, NAME, file="native_names.toml", groups=("female", "male")),
        PRONOUN: lambda: _words(tag, PRONOUN, file="pronouns.toml", groups=("he", "she", "both")),
    }
    tag = languages.resolve(language)
    for kind in kinds:
        if kind not in makers:
            raise UnknownName("kind of row", kind, makers)
    return [row | {"kind": kind} for kind, make in makers.items() if not kinds or kind in kinds for row in make()]


def _forms(lexicon: Lexicon) -> Iterator[Row]:
    for vocabulary in lexicon.vocabularies.values():
        for term in vocabulary.terms.values():
            for use, cells in term.uses.items():
                for cell in cells:
                    features = f"{use} {show_features(cell.features)}".strip()
                    where = {"where": vocabulary.category, "id": term.id, "features": features}
                    yield where | {"english": term.gloss, "text": cell.text}


def _wordings(tag: str, folder: Path | None) -> Iterator[Row]:
    """The templates as they are written in the file, so that a correction can be put in their place."""
    glosses = {key: str(frame.template) for key, frame in gloss_frames().items()}
    for entry in read_toml(sets_path(tag, folder))["set"]:
        for number, wording in enumerate(entry["wordings"], 1):
            fields = {"text": wording} if isinstance(wording, str) else wording
            name = str(fields.get("id", f"w{number}"))
            for field, variant in (("text", ""), ("negated", "negated")):
                if field in fields:
                    english = glosses.get((entry["id"], name, variant), "")
                    yield {"where": entry["id"], "id": name, "features": variant, "text": fields[field]} | {
                        "english": english
                    }


def _sentences(lexicon: Lexicon, folder: Path | None, *, per_template: int) -> Iterator[Row]:
    for template_set in read_sets(sets_path(lexicon.language, folder)):
        english = english_sentences(make_frames(template_set))
        sentences: dict[str, list[tuple[str, str]]] = {}
        for frame, sentence in expand_sets([template_set], lexicon):
            name = f"{frame.name} {frame.variant or ''}".strip()
            sentences.setdefault(name, []).append((sentence.text, english_of(frame, sentence, glosses=english)))
        for name, texts in sentences.items():
            for index in np.random.default_rng(0).permutation(len(texts))[:per_template]:
                text, meaning = texts[int(index)]
                yield {"where": template_set.id, "id": name, "text": text, "english": meaning}


def _prompts(language: languages.Language) -> Iterator[Row]:
    english = languages.get(REFERENCE).sections["ask"]["prompts"]
    for name, text in language.sections.get("ask", {}).get("prompts", {}).items():
        yield {"where": f"{language.tag}.toml", "id": name, "text": text, "english": english[name]}


def _items(tag: str) -> Iterator[Row]:
    """The candidates and contexts of the demonstration items, with those of the same ids in English."""
    from ..coverage import bundled_data

    for name in (name for name in ITEM_SETS if tag in bundled_data()[name]):
        english = {key: text for item in read(name, language=REFERENCE) for key, text in _texts(item).items()}
        for item in read(name, language=tag):
            for key, text in _texts(item).items():
                yield {"where": name, "id": key, "text": text, "english": english.get(key, "")}


def _texts(item: Item) -> dict[str, str]:
    context = {f"{item.id} context": item.context} if item.context and "BLANK" not in item.context else {}
    return context | {candidate.id: candidate.text for candidate in item.candidates}


def _words(tag: str, kind: str, *, file: str, groups: tuple[str, ...]) -> Iterator[Row]:
    lists: Mapping[str, Any] = load_toml(file)
    chosen = lists.get(tag, lists.get(tag.split("-")[0], {}))
    for group in groups:
        for word in chosen.get(group, ()):
            yield {"where": file, "id": group, "text": word, "english": "" if kind == NAME else group}
