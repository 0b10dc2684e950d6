"""How often a head is right, with an interval over articles: pairs of one article are not independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..stats.resampling import FEWEST_CLUSTERS, bootstrap_interval, expanded_level

RESAMPLES = 2000
Right = npt.NDArray[np.float64]


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
    low = high = None
    if count >= FEWEST_CLUSTERS:
        low, high = bootstrap_interval(
            lambda weights: (weights @ sums[0]) / (weights @ sums[1]),
            count,
            level=expanded_level(count),
            resamples=RESAMPLES,
            seed=seed,
        )
    return Accuracy(float(right.mean()), low, high, len(right), count)
