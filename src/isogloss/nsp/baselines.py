"""Baselines that do not read the pair: the words of the second sentence alone, and how many words both share."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

BUCKETS = 2**18
WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]+")
Labels = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


def words(text: str) -> list[str]:
    """The words of a text in lower case; letters where a script has no spaces."""
    return WORD.findall(text.lower())


def _buckets(text: str) -> npt.NDArray[np.int64]:
    return np.unique([zlib.crc32(word.encode()) % BUCKETS for word in words(text)] or [0])


def second_only(train: pl.DataFrame, test: pl.DataFrame) -> Labels:
    """What naive Bayes says about the test pairs from the words of the second sentence alone."""
    labels = train["label"].to_numpy()
    counts = np.ones((2, BUCKETS))
    for text, label in zip(train["second"], labels, strict=True):
        counts[label, _buckets(text)] += 1
    sizes = np.array([np.sum(labels == 0), np.sum(labels == 1)]) + 2.0
    weights = np.log(counts[1] / sizes[1]) - np.log(counts[0] / sizes[0])
    prior = np.log(sizes[1] / sizes[0])
    scores = np.array([prior + weights[_buckets(text)].sum() for text in test["second"]])
    return (scores > 0).astype(np.int64)


def overlaps(rows: pl.DataFrame) -> Numbers:
    """For each pair, the share of the words of both sentences that they have in common."""

    def overlap(first: str, second: str) -> float:
        one, other = set(words(first)), set(words(second))
        return len(one & other) / max(1, len(one | other))

    return np.array([overlap(first, second) for first, second in rows.select("first", "second").iter_rows()])


def best_threshold(scores: Numbers, labels: Sequence[int] | Labels) -> float:
    """The score from which on to say yes so that most labels are met."""
    order = np.argsort(scores, kind="stable")
    ranked, truth = scores[order], np.asarray(labels)[order]
    below = np.concatenate([[0], np.cumsum(truth == 0)])  # told no, and rightly
    above = np.concatenate([np.cumsum((truth == 1)[::-1])[::-1], [0]])  # told yes, and rightly
    possible = np.concatenate([[True], ranked[1:] != ranked[:-1], [True]])
    best = int(np.argmax(np.where(possible, below + above, -1)))
    return float(ranked[best]) if best < len(ranked) else float(np.inf)


def word_overlap(train: pl.DataFrame, test: pl.DataFrame) -> Labels:
    """What the overlap of words says about the test pairs, with the threshold that is best for the training pairs."""
    threshold = best_threshold(overlaps(train), train["label"].to_numpy())
    return (overlaps(test) >= threshold).astype(np.int64)
