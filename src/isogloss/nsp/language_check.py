"""Is a text in the language that it is labelled with? A sample of articles is checked."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field

from .. import languages
from ..errors import IsoglossError, require
from .articles import Article

FIRST = 100  # articles that are all looked at before the text is judged for the first time
THEN = 50  # afterwards one in THEN is looked at
MOST = 500
LETTERS = 600
SHORTEST = 40
WRONG = 0.5
MIXED = 0.1


@dataclass(slots=True)
class LanguageSample:
    """What languages the sampled articles were found to be in, for each language that they were said to be in."""

    seen: Counter[str] = field(default_factory=Counter)
    found: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, article: Article) -> None:
        """Look at an article, if it is in the sample; a text that is plainly in another language is refused."""
        tag = article.language
        self.seen[tag] += 1
        counts = self.found.setdefault(tag, Counter())
        if self.seen[tag] > FIRST and (self.seen[tag] % THEN or counts.total() >= MOST):
            return
        text = article.text[:LETTERS]
        if len(text) >= SHORTEST:
            counts[_identify(text)] += 1
        if self.seen[tag] == FIRST:
            _refuse_wrong(tag, counts)

    def check(self) -> None:
        """Refuse a language whose articles are mostly in another; warn where some are."""
        for tag, counts in self.found.items():
            _refuse_wrong(tag, counts)
            other, share = _other(tag, counts)
            if share > MIXED:
                warnings.warn(
                    f"{share:.0%} of the sampled articles that should be in '{tag}' look like '{other}' or others.",
                    stacklevel=2,
                )


def _identify(text: str) -> str:
    return str(require("py3langid", extra="nsp").classify(text)[0])


def _other(tag: str, counts: Counter[str]) -> tuple[str, float]:
    """The most frequent other language, and the share of all others."""
    plain = tag.split("-")[0]
    others = Counter({other: count for other, count in counts.items() if other != plain})
    return (others.most_common(1)[0][0], others.total() / counts.total()) if others else ("", 0.0)


def _refuse_wrong(tag: str, counts: Counter[str]) -> None:
    other, share = _other(tag, counts)
    if share > WRONG and _is_known(tag):
        name = languages.describe(other).name
        called = f"{name} ('{other}')" if name != other else f"'{other}'"
        raise IsoglossError(
            f"The text is said to be in '{tag}', but {share:.0%} of {counts.total()} sampled articles are not; "
            f"most of those look like {called}. Use --language {other}, or --option any_language=yes to take it as it is."
        )


def _is_known(tag: str) -> bool:
    """Whether the identifier knows the language at all; otherwise its verdict says nothing."""
    return tag.split("-")[0] in {str(code) for code, _ in require("py3langid", extra="nsp").rank("a")}
