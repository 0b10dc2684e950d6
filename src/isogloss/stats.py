"""Statistics without opinions: arrays in, numbers out; every random draw is seeded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

FEWEST_CLUSTERS = 10
DRAWS_AT_ONCE = 4_000_000


def cluster_sums(values: Array, clusters: npt.NDArray[np.int64]) -> Array:
    """The sum of each column of `values` within each cluster (clusters are numbered from 0)."""
    sums = np.zeros((int(clusters.max()) + 1, values.shape[1]))
    np.add.at(sums, clusters, values)
    return sums


def resampling_weights(clusters: int, *, resamples: int, seed: int) -> Iterator[Array]:
    """How often each cluster is drawn in each resample, some resamples at a time: rows sum to `clusters`."""
    rng = np.random.default_rng(seed)
    block = max(1, DRAWS_AT_ONCE // clusters)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.integers(clusters, size=(size, clusters)) + clusters * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * clusters)
        yield counts.reshape(size, clusters).astype(np.float64)


def bootstrap_interval(
    sums: Array, finish: Callable[[Array], Array], *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """The percentile interval of `finish(sum of rows)` when the rows of `sums` (one per cluster) are drawn again."""
    drawn = [weights @ sums for weights in resampling_weights(len(sums), resamples=resamples, seed=seed)]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = finish(np.concatenate(drawn))
    tail = 50 * (1 - level)
    low, high = np.nanpercentile(values, [tail, 100 - tail])
    return float(low), float(high)
