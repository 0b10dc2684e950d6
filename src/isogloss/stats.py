"""Statistics without opinions: arrays in, numbers out; every random draw is seeded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

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


def resampling_weights(
    clusters: int, *, resamples: int, seed: int, strata: Sequence[str] | None = None
) -> Iterator[Array]:
    """How often each cluster is drawn in each resample, some resamples at a time: rows sum to `clusters`.

    With `strata`, one name per cluster, as many clusters of each stratum are drawn as there are.
    """
    rng = np.random.default_rng(seed)
    names = np.asarray(strata if strata is not None else [""] * clusters)
    places = [np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())]
    block = max(1, DRAWS_AT_ONCE // clusters)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        weights = np.empty((size, clusters))
        for members in places:
            drawn = rng.integers(len(members), size=(size, len(members))) + len(members) * np.arange(size)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=size * len(members))
            weights[:, members] = counts.reshape(size, len(members))
        yield weights


def bootstrap_interval(
    evaluate: Callable[[Array], Array],
    clusters: int,
    *,
    strata: Sequence[str] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[float, float]:
    """The percentile interval of a value when its clusters are drawn again; `evaluate` maps weights to values."""
    drawn = resampling_weights(clusters, resamples=resamples, seed=seed, strata=strata)
    values = np.concatenate([evaluate(weights) for weights in drawn])
    tail = 50 * (1 - level)
    low, high = np.nanpercentile(values, [tail, 100 - tail])
    return float(low), float(high)
