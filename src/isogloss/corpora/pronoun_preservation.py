"""Preservation: how many English he- and she-sentences have the pronoun in their translation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UnknownName
from ..word_lists import load_toml
from .texts import Corpus
from .wordlists import WORD

MARKS = "[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u200c\u200d]"  # belong to their letter


@dataclass(frozen=True, slots=True)
class Preservation:
    """Of `n` English sentences with one of the pronouns only, how many keep it; by language and gender."""

    corpus: str
    language: str
    pronoun: str
    kept: int
    n: int

    @property
    def share(self) -> float | None:
        return 100 * self.kept / self.n if self.n else None


def count_preserved(corpus: Corpus) -> tuple[Preservation, Preservation]:
    """The he-sentences and the she-sentences of a corpus; those with both pronouns are left out."""
    pronouns = load_toml("pronouns.toml")
    if corpus.language not in pronouns:
        raise UnknownName("language with pronouns", corpus.language, pronouns)
    forms = pronouns[corpus.language]
    counts = {"he": [0, 0], "she": [0, 0]}
    for pair in corpus.read():
        words = {word.lower().replace("’", "'").split("'")[0] for word in WORD.findall(pair.english)}
        groups = [name for name in counts if name in words]
        if len(groups) == 1:
            counts[groups[0]][1] += 1
            counts[groups[0]][0] += has_pronoun(pair.text, groups[0], forms=forms)
    preservations = [Preservation(corpus.name, corpus.language, name, kept, n) for name, (kept, n) in counts.items()]
    return preservations[0], preservations[1]


def count_all(corpora: Sequence[Corpus]) -> list[Preservation]:
    """The counts of several corpora, he before she."""
    return [preservation for corpus in corpora for preservation in count_preserved(corpus)]


def has_pronoun(text: str, pronoun: str, *, forms: Mapping[str, Any]) -> bool:
    """Whether the text has one of the pronoun's forms; a language with one pronoun for all keeps it without its gender."""
    wanted: Sequence[str] = forms[pronoun] if forms["gendered"] else forms["both"]
    if forms["match"] == "substring":
        for other in sorted(forms.get(f"{pronoun}_not", ()), key=len, reverse=True):
            text = text.replace(other, " ")
        return any(form in text for form in wanted)
    words = [word.lower() for word in re.findall(rf"(?:[^\W\d_]|{MARKS})+|'\w+", text)]
    spaced = f" {' '.join(words)} "  # so that a form of several words, as in Vietnamese, is found whole
    return any(f" {form} " in spaced for form in wanted)


def preservation_as_text(preservations: Sequence[Preservation]) -> str:
    """The counts for a terminal."""
    lines = []
    for preservation in preservations:
        share = f"{preservation.share:.1f} %" if preservation.share is not None else "no such sentence"
        lines.append(
            f"{preservation.language}  {preservation.corpus}: '{preservation.pronoun}' kept in {preservation.kept} of {preservation.n} sentences ({share})"
        )
    return "\n".join(lines)
