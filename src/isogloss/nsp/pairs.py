"""Pairs of sentences, as numbers: the successor of a sentence, and a sentence of another article in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import IsoglossError
from .sentence_store import Index, SentenceStore

SPLITS = ("train", "validation", "test")
FEWEST = 2  # articles: a negative comes from a different one
TURNS = 100


@dataclass(frozen=True, slots=True)
class Shares:
    """Which part of the articles is kept for validation and for the test."""

    validation: float = 0.05
    test: float = 0.05

    def of(self, split: str) -> float:
        """The share of a split."""
        return {"validation": self.validation, "test": self.test}.get(split, 1 - self.validation - self.test)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sentences, the sentences beside them, and whether these are their successors."""

    first: Index
    second: Index
    label: Index


def split_articles(store: SentenceStore, shares: Shares) -> dict[tuple[str, str], Index]:
    """The articles of each language and split: articles in the order of their lots, cut by the shares.

    Every split that is wanted gets two articles at least, since a negative needs a different article.
    """
    wanted = [split for split in SPLITS if shares.of(split) > 0]
    found: dict[tuple[str, str], Index] = {}
    for number, tag in enumerate(store.tags):
        own = np.flatnonzero(store.languages == number)
        _refuse_few(tag, len(own), splits=wanted)
        own = own[np.argsort(store.draws[own], kind="stable")]
        start = 0
        for split in reversed(wanted):
            left = len(own) - start
            most = left - FEWEST * wanted.index(split)  # those that come later need some too
            size = left if split == wanted[0] else min(max(FEWEST, round(shares.of(split) * len(own))), most)
            found[tag, split] = np.sort(own[start : start + size])
            start += size
    return found


def _refuse_few(tag: str, count: int, *, splits: list[str]) -> None:
    if count == 1:
        raise IsoglossError(
            f"There is a single article in '{tag}' with two sentences or more. A negative is a sentence of a different "
            "article: give more articles, with a blank line between them."
        )
    if count < FEWEST * len(splits):
        raise IsoglossError(
            f"There are only {count} articles in '{tag}' with two sentences or more; {', '.join(splits)} need "
            f"{FEWEST} each. Give more articles, or use --option validation=0 --option test=0."
        )


def sentences_before(store: SentenceStore, articles: Index, *, longest: int | None = None) -> Index:
    """The sentences of the articles that have a successor: all but the last ones.

    With `longest`, neither sentence nor successor has more letters than that.
    """
    starts, ends = store.firsts[articles], store.firsts[articles + 1]
    sizes = ends - starts - 1
    offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    found = np.asarray(np.repeat(starts, sizes) + offsets, dtype=np.int64)
    if longest is None:
        return found
    return found[np.maximum(store.sizes[found], store.sizes[found + 1]) <= longest]


def draw_pairs(store: SentenceStore, before: Index, *, rng: np.random.Generator) -> Pairs:
    """Each sentence with its successor, and with a sentence of another article; all shuffled.

    The negatives are the successors themselves, dealt out anew. So each of them stands once in a true pair and once in
    a false one, and the second sentence alone tells nothing.
    """
    second = before + 1
    other = second[_deal(store.articles_of(before), rng)]
    order = rng.permutation(2 * len(before))
    label = np.repeat(np.array([1, 0]), len(before))
    return Pairs(np.tile(before, 2)[order], np.concatenate([second, other])[order], label[order])


def _deal(articles: Index, rng: np.random.Generator) -> Index:
    """For each place another place, each once, none in the same article; where that cannot be, any of another article."""
    dealt = rng.permutation(len(articles))
    for _ in range(TURNS):
        clash = np.flatnonzero(articles[dealt] == articles)
        if not len(clash):
            return dealt
        for index, partner in zip(clash, rng.integers(len(articles), size=len(clash)), strict=True):
            dealt[index], dealt[partner] = dealt[partner], dealt[index]
    for index in np.flatnonzero(articles[dealt] == articles):  # articles are sorted: leave out its own stretch
        start, end = (
            np.searchsorted(articles, articles[index], side="left"),
            np.searchsorted(articles, articles[index], side="right"),
        )
        drawn = rng.integers(len(articles) - (end - start))
        dealt[index] = drawn if drawn < start else drawn + end - start
    return dealt


def balance(before: Mapping[str, Index], *, limit: int | None, rng: np.random.Generator) -> dict[str, Index]:
    """As many sentences for each language as the poorest has, and no more than the limit, drawn at random."""
    least = min(len(found) for found in before.values())
    size = min(least, limit) if limit is not None else least
    return {tag: np.sort(rng.permutation(found)[:size]) for tag, found in before.items()}
