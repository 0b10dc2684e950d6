"""How often a head is right, with an interval over articles: pairs of one article are not independent."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from ..stats.resampling import FEWEST_CLUSTERS, bootstrap_interval, expanded_level, wilson_interval

RESAMPLES = 2000
Right = npt.NDArray[np.float64]

BUCKETS = 2**18
WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]+")
Labels = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A share with both ends of its 95 % interval; without ends, there are too few articles for them."""

    value: float
    low: float | None
    high: float | None
    n: int
    articles: int

    def __str__(self) -> str:
        ends = (
            f" [{100 * self.low:.1f}, {100 * self.high:.1f}]" if self.low is not None and self.high is not None else ""
        )
        return f"{100 * self.value:.1f} %{ends}"


def mean_by_article(right: Right, articles: Sequence[str], *, seed: int = 0) -> Accuracy:
    """The mean of a number per pair (such as right or wrong), the articles drawn again for the interval."""
    _, inverse = np.unique(np.asarray(articles), return_inverse=True)
    sums = np.stack([np.bincount(inverse, right), np.bincount(inverse)])
    count = sums.shape[1]
    low: float | None = None
    high: float | None = None
    if count >= FEWEST_CLUSTERS:
        low, high = bootstrap_interval(
            lambda weights: (weights @ sums[0]) / (weights @ sums[1]),
            count,
            level=expanded_level(count),
            resamples=RESAMPLES,
            seed=seed,
        )
        if low == high:  # every article gives the same: as sure as that many articles, where it is a share
            low, high = wilson_interval(float(right.mean()), count) if set(right) <= {0, 1} else (None, None)
    return Accuracy(float(right.mean()), low, high, len(right), count)


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
