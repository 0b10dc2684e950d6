"""Proposals: candidates for forms from offline inflectors, written to a sheet for review and never used by themselves."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import languages
from ..errors import IsoglossError, UnknownName, require
from .features import Features, make_features, parse_features, show_features
from .vocabulary import read_vocabulary

COLUMNS = ("word", "features", "form", "keep", "source", "remark")
RUSSIAN = {
    "sing": "sg",
    "plur": "pl",
    "masc": "masc",
    "femn": "fem",
    "neut": "neut",
    "nomn": "nom",
    "gent": "gen",
    "datv": "dat",
    "accs": "acc",
    "ablt": "ins",
    "loct": "loc",
    "voct": "voc",
    "anim": "anim",
    "inan": "inan",
}
GERMAN = (
    "German nouns come from the package 'german-nouns', whose pins clash with ours. Install it beside them with: "
    "pip install --no-deps german-nouns"
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A form that an inflector thinks a word has."""

    word: str
    features: Features
    form: str
    source: str
    remark: str = ""


def propose_forms(words: Sequence[str], language: str) -> list[Proposal]:
    """Candidates for the forms of words, or of the lemmas of vocabulary files; languages without an inflector are refused."""
    tag = languages.resolve(language)
    inflectors: dict[str, Callable[[str], Iterator[Proposal]]] = {"ru": _russian, "el": _greek, "de": _german}
    if tag not in inflectors:
        raise UnknownName("inflector for the language", tag, inflectors)
    found = [proposal for word in _lemmas(words) for proposal in inflectors[tag](word)]
    return list(dict.fromkeys(found))


def _lemmas(words: Sequence[str]) -> list[str]:
    return [
        lemma
        for word in words
        for lemma in (
            [term.lemma for term in read_vocabulary(Path(word)).terms.values()] if word.endswith(".toml") else [word]
        )
    ]


def _russian(word: str) -> Iterator[Proposal]:
    pymorphy3 = require("pymorphy3", extra="propose")
    analyses = pymorphy3.MorphAnalyzer().parse(word)
    known = [one for one in analyses if one.tag.POS in ("NOUN", "ADJF", "ADJS", "PRTF")]
    if not known:
        yield Proposal(word, (), "", "pymorphy3", "no noun or adjective of that form is known")
        return
    remark = "" if known[0].is_known else "the word is not in the dictionary: guessed"
    for form in known[0].lexeme:
        if form.tag.POS != known[0].tag.POS or any(sign in str(form.tag) for sign in ("V-oy", "V-ey", "Supr")):
            continue
        short = [RUSSIAN[part] for part in str(form.tag).replace(" ", ",").split(",") if part in RUSSIAN]
        yield Proposal(word, parse_features(" ".join(short)), form.word, "pymorphy3", remark)


def _greek(word: str) -> Iterator[Proposal]:
    greek = require("modern_greek_inflexion", extra="propose")
    made: list[tuple[str, Any]] = []
    for kind in ("Noun", "Adjective"):
        try:
            made.append((kind, getattr(greek, kind)(word).all()))
        except Exception as error:  # its exceptions have no common class of their own
            yield Proposal(
                word, (), "", "modern-greek-inflexion", f"not inflected as {kind.lower()}: {type(error).__name__}"
            )
    for kind, table in made:
        tables = table.get("adj", {}) if kind == "Adjective" else table
        for path, forms in sorted(_leaves(tables)):
            for form in forms:
                if form:
                    yield Proposal(
                        word, make_features(dict(parse_features(" ".join(path)))), form, "modern-greek-inflexion", kind
                    )


def _leaves(table: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    if isinstance(table, dict):
        for name, inner in table.items():
            yield from _leaves(inner, (*path, name))
    else:
        yield path, sorted(table)


def _german(word: str) -> Iterator[Proposal]:
    try:
        from german_nouns.lookup import Nouns  # type: ignore[import-not-found]
    except ModuleNotFoundError as error:
        raise IsoglossError(GERMAN) from error
    cases = {"nominativ": "nom", "genitiv": "gen", "dativ": "dat", "akkusativ": "acc"}
    numbers = {"singular": "sg", "plural": "pl"}
    for entry in Nouns()[word]:
        gender = {"m": "masc", "f": "fem", "n": "neut"}.get(entry.get("genus", ""), "")
        for name, form in entry.get("flexion", {}).items():
            parts = name.split()
            if len(parts) == 2 and parts[0] in cases and parts[1] in numbers:
                features = parse_features(f"{gender} {numbers[parts[1]]} {cases[parts[0]]}")
                yield Proposal(word, features, form, "german-nouns")


def write_proposals(found: Sequence[Proposal], path: Path) -> Path:
    """The path of the review sheet; the column `keep` is for the reviewer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for one in found:
            writer.writerow([one.word, show_features(one.features), one.form, "", one.source, one.remark])
    return path
