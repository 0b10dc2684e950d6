"""Sentences in one file on disk, and pairs of them as numbers: with the successor, and with one of another article."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

import numpy as np
import numpy.typing as npt

from ..errors import IsoglossError

Index = npt.NDArray[np.int64]
SPLITS = ("train", "validation", "test")
FEWEST = 2  # articles: a negative comes from a different one
TURNS = 100


@dataclass(slots=True)
class SentenceStore:
    """Sentences in a file, with 12 bytes of memory per sentence and some 60 per article.

    Sentence i lies at bytes ends[i] to ends[i + 1] and has sizes[i] letters; article a has the sentences firsts[a] to
    firsts[a + 1]. `draws`, a hash of the seed and its text, orders the articles before they are split.
    """

    file: IO[bytes]
    ends: array[int] = field(default_factory=lambda: array("q", [0]))
    sizes: array[int] = field(default_factory=lambda: array("i"))
    firsts: array[int] = field(default_factory=lambda: array("q", [0]))
    languages: array[int] = field(default_factory=lambda: array("i"))
    draws: array[int] = field(default_factory=lambda: array("Q"))
    names: list[str] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    seen: set[bytes] = field(default_factory=set)
    tags: list[str] = field(default_factory=list)

    def put(self, name: str, sentences: Sequence[str], *, language: str, seed: int) -> bool:
        """Put an article in the store; false, and nothing done, for one whose text is there already."""
        digest = hashlib.blake2b("\n".join([language, *sentences]).encode(), digest_size=8).digest()
        if digest in self.seen:
            return False
        self.seen.add(digest)
        if language not in self.tags:
            self.tags.append(language)
        self.languages.append(self.tags.index(language))
        draw = hashlib.blake2b(f"{seed}:".encode() + digest, digest_size=8).digest()
        self.draws.append(int.from_bytes(draw, "big"))
        name = f"{name}#{len(self.names)}" if name in self.named else name  # ids repeat across files and languages
        self.named.add(name)
        self.names.append(name)
        for sentence in sentences:
            raw = sentence.encode()
            self.file.write(raw)
            self.ends.append(self.ends[-1] + len(raw))
            self.sizes.append(len(sentence))
        self.firsts.append(len(self.sizes))
        return True

    def finish(self) -> None:
        """Make the store ready to be read, and forget what is needed for putting articles in it only."""
        self.file.flush()
        self.named.clear()
        self.seen.clear()

    def read(self, sentence: int) -> str:
        """The text of a sentence, read from the file."""
        start, end = self.ends[sentence], self.ends[sentence + 1]
        return os.pread(self.file.fileno(), end - start, start).decode()

    def articles_of(self, sentences: Index) -> Index:
        """The article of each sentence."""
        return np.asarray(np.searchsorted(np.asarray(self.firsts), sentences, side="right") - 1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Shares:
    """Which part of the articles is kept for validation and for the test."""

    validation: float = 0.05
    test: float = 0.05

    def of(self, split: str) -> float:
        """The share of a split."""
        return {"validation": self.validation, "test": self.test}.get(split, 1 - self.validation - self.test)


def split_articles(store: SentenceStore, shares: Shares) -> dict[tuple[str, str], Index]:
    """The articles of each language and split: articles in the order of their draws, cut by the shares.

    Every split that is wanted gets two articles at least, since a negative needs a different article.
    """
    wanted = [split for split in SPLITS if shares.of(split) > 0]
    languages, draws = np.asarray(store.languages), np.asarray(store.draws)
    articles: dict[tuple[str, str], Index] = {}
    for number, tag in enumerate(store.tags):
        indices = np.flatnonzero(languages == number)
        if len(indices) == 1:
            raise IsoglossError(
                f"There is a single article in '{tag}' with two sentences or more. A negative is a sentence of a different "
                "article: give more articles, with a blank line between them."
            )
        if len(indices) < FEWEST * len(wanted):
            raise IsoglossError(
                f"There are only {len(indices)} articles in '{tag}' with two sentences or more; {', '.join(wanted)} need "
                f"{FEWEST} each. Give more articles, or use `options={{'validation': '0', 'test': '0'}}`."
            )
        indices = indices[np.argsort(draws[indices], kind="stable")]
        start = 0
        for split in reversed(wanted):
            left = len(indices) - start
            most = left - FEWEST * wanted.index(split)  # those that come later need some too
            size = left if split == wanted[0] else min(max(FEWEST, round(shares.of(split) * len(indices))), most)
            articles[tag, split] = np.sort(indices[start : start + size])
            start += size
    return articles


def sentences_before(store: SentenceStore, articles: Index, *, longest: int | None = None) -> Index:
    """The sentences of the articles that have a successor: all but the last ones.

    With `longest`, neither sentence nor successor has more letters than that.
    """
    firsts, letters = np.asarray(store.firsts), np.asarray(store.sizes)
    starts, ends = firsts[articles], firsts[articles + 1]
    sizes = ends - starts - 1
    offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    before = np.asarray(np.repeat(starts, sizes) + offsets, dtype=np.int64)
    if longest is not None:
        before = before[np.maximum(letters[before], letters[before + 1]) <= longest]
    return before


def draw_pairs(store: SentenceStore, before: Index, *, rng: np.random.Generator) -> Index:
    """Each sentence with its successor (label 1), and with a sentence of another article (0): first, second, label.

    The pairs are shuffled. The negatives are the successors themselves, dealt out anew. So each of them occurs once in
    a true pair and once in a false one, and the second sentence alone tells nothing.
    """
    second = before + 1
    other = second[_deal(store.articles_of(before), rng)]
    order = rng.permutation(2 * len(before))
    label = np.repeat(np.array([1, 0]), len(before))
    return np.stack([np.tile(before, 2), np.concatenate([second, other]), label])[:, order]


def _deal(articles: Index, rng: np.random.Generator) -> Index:
    """For each position another position, each once, none in the same article; where that is impossible, any of another article."""
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
    least = min(len(sentences) for sentences in before.values())
    size = min(least, limit) if limit is not None else least
    return {tag: np.sort(rng.permutation(sentences)[:size]) for tag, sentences in before.items()}
