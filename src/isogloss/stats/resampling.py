"""Resampling clusters, the intervals that come of it, Wilson's, and smoothing; every random draw is seeded."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

FEWEST_CLUSTERS = 10
FEWEST_UNBOUNDED = 20
"""The clusters that a value from 0 without an upper bound needs: those that a fifth of all clusters are like, and that make
most of the value, are absent from 11 % of samples of 10 and from 1 % of samples of 20."""
DRAWS_AT_ONCE = 4_000_000
MOST_KEPT = 100_000_000  # draws, two bytes each, that are kept for the next metric
MOST_DRAWN = 10_000
"""The clusters that are drawn one by one; sums over more of them are drawn from the normal distribution."""


def cluster_sums(values: Array, clusters: npt.NDArray[np.int64]) -> Array:
    """The sum of each column of `values` within each cluster (clusters are numbered from 0); no rows give no cluster."""
    size = int(clusters.max(initial=-1)) + 1
    columns = [np.bincount(clusters, weights=column, minlength=size) for column in values.T]
    return np.column_stack(columns) if columns else np.zeros((size, 0))


def resampling_weights(
    clusters: int, *, resamples: int, seed: int, strata: Sequence[str] | None = None
) -> Iterator[Array]:
    """How often each cluster is drawn in each resample, some resamples at a time: rows sum to `clusters`.

    With `strata`, one name per cluster, as many clusters of each stratum are drawn as there are.
    """
    names = tuple(strata) if strata is not None else None
    if clusters * resamples <= DRAWS_AT_ONCE:
        yield _drawn_once(clusters, resamples, seed=seed, strata=names)
        return
    block = max(1, DRAWS_AT_ONCE // clusters)
    if clusters * resamples <= MOST_KEPT:
        kept = _counted_once(clusters, resamples, seed=seed, strata=names)
        yield from (kept[start : start + block].astype(np.float64) for start in range(0, resamples, block))
        return
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, block):
        yield _draw(rng, clusters, size=min(block, resamples - start), strata=names).astype(np.float64)


@lru_cache(maxsize=2)
def _drawn_once(clusters: int, resamples: int, *, seed: int, strata: tuple[str, ...] | None) -> Array:
    """The same draws for all metrics of a group, so that they are made once."""
    weights = _counted_once(clusters, resamples, seed=seed, strata=strata).astype(np.float64)
    weights.flags.writeable = False
    return weights


@lru_cache(maxsize=2)
def _counted_once(clusters: int, resamples: int, *, seed: int, strata: tuple[str, ...] | None) -> Counts:
    return _draw(np.random.default_rng(seed), clusters, size=resamples, strata=strata)


def _draw(rng: np.random.Generator, clusters: int, *, size: int, strata: tuple[str, ...] | None) -> Counts:
    """How often each cluster is drawn, a byte each where that is enough; they do not depend on how many are drawn at once."""
    names = np.asarray(strata if strata is not None else [""] * clusters)
    weights = np.empty((size, clusters), dtype=np.uint8 if clusters < 256 else np.uint16)
    for name in dict.fromkeys(names.tolist()):
        members = np.flatnonzero(names == name)
        block = max(1, DRAWS_AT_ONCE // len(members))
        for start in range(0, size, block):
            rows = min(block, size - start)
            drawn = rng.integers(len(members), size=(rows, len(members))) + len(members) * np.arange(rows)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=rows * len(members))
            weights[start : start + rows, members] = counts.reshape(rows, len(members))
    return weights


def normal_sums(totals: Array, *, resamples: int, seed: int, strata: Sequence[str] | None = None) -> Array:
    """The sums of resampled clusters, [resamples, columns], drawn from the normal distribution that they tend to.

    It has the mean and the covariance of the bootstrap's sums; columns of two sides together stay paired.
    """
    centred = totals - totals.mean(0)
    if strata is not None:
        names = np.asarray(strata)
        for name in dict.fromkeys(names.tolist()):
            centred[names == name] = totals[names == name] - totals[names == name].mean(0)
    return np.asarray(totals.sum(0) + normal_draws(centred, resamples=resamples, seed=seed), dtype=np.float64)


def normal_draws(rows: Array, *, resamples: int, seed: int) -> Array:
    """Sums of the rows with random signs, or of rows with mean zero that are drawn again, as normal numbers."""
    variances, axes = np.linalg.eigh(rows.T @ rows)
    root = (axes * np.sqrt(np.maximum(variances, 0))) @ axes.T
    normal = np.random.default_rng(seed).standard_normal((resamples, rows.shape[1]))
    return np.asarray(normal @ root, dtype=np.float64)


def bootstrap_values(
    evaluate: Callable[[Array], Array],
    clusters: int,
    *,
    strata: Sequence[str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Array:
    """The value in each resample; `evaluate` maps cluster weights to values."""
    drawn = resampling_weights(clusters, resamples=resamples, seed=seed, strata=strata)
    return np.concatenate([evaluate(weights) for weights in drawn])


def percentile_interval(values: Array, *, level: float) -> tuple[float, float]:
    """The middle `level` of the values."""
    tail = 50 * (1 - level)
    low, high = np.nanpercentile(values, [tail, 100 - tail])
    return float(low), float(high)


def student_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's distribution with these degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def expanded_level(clusters: float, *, level: float = 0.95) -> float:
    """The level at which a percentile interval of so few clusters covers as often as `level` says.

    Percentiles use the normal distribution where Student's is right, and a variance that is (c-1)/c too small;
    this is the correction of Hesterberg (2015), 1 - 2·Φ(-t · sqrt(c/(c-1))).
    """
    t = student_quantile((1 + level) / 2, clusters - 1) * math.sqrt(clusters / (clusters - 1))
    return 1 - 2 * NormalDist().cdf(-t)


def jackknife_values(evaluate: Callable[[Array], Array], clusters: int) -> Array:
    """The value without each cluster in turn."""
    block = max(1, DRAWS_AT_ONCE // clusters)
    rows = np.arange(clusters)
    values = []
    for start in range(0, clusters, block):
        left_out = rows[start : start + block]
        weights = np.ones((len(left_out), clusters))
        weights[np.arange(len(left_out)), left_out] = 0
        values.append(evaluate(weights))
    return np.concatenate(values)


def wilson_interval(share: float, n: float, *, level: float = 0.95) -> tuple[float, float]:
    """The score interval (Wilson 1927) of a share of `n` independent rows; both between 0 and 1."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def smooth(values: Array, *, weight: float = 0.9) -> Array:
    """The running mean with falling weights, without the pull of its start."""
    smoothed, total = np.empty(len(values)), 0.0
    for index, value in enumerate(values):
        total = weight * total + (1 - weight) * value
        smoothed[index] = total / (1 - weight ** (index + 1))
    return smoothed
