"""Tests of hypotheses: is a difference more than chance, over how many comparisons, and how small a difference could be detected?"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from .resampling import DRAWS_AT_ONCE, Array, student_quantile

MOST_EXACT = 12
POWER = 0.8
LEVEL = 0.05


def swap_test(
    statistic: Callable[[Array], Array], clusters: int, *, resamples: int = 10_000, seed: int = 0
) -> tuple[float, bool]:
    """The two-sided p when the two sides of every cluster may change places, and whether all ways were tried.

    `statistic` maps signs [r, clusters] (1 as it is, -1 swapped) to values [r]. Up to twelve clusters all ways are
    enumerated; beyond, random ones, and the observed way counts as one of them (Phipson and Smyth 2010).
    """
    observed = abs(float(statistic(np.ones((1, clusters)))[0]))
    if math.isnan(observed):
        raise ValueError("a value that is not a number cannot be tested")
    exact = clusters <= MOST_EXACT
    if exact:
        ways = np.arange(2**clusters)[:, None] >> np.arange(clusters)[None, :]
        values = statistic((1 - 2 * (ways & 1)).astype(np.float64))
    else:
        drawn = _random_signs(clusters, resamples=resamples, seed=seed)
        values = np.concatenate([statistic(signs) for signs in drawn])
    return _share_beyond(values, observed, exact=exact), exact


def shuffle_test(
    statistic: Callable[[Array], Array], sizes: tuple[int, int], *, resamples: int = 10_000, seed: int = 0
) -> float:
    """The two-sided p when clusters may belong to either side, as many to each as there are.

    `statistic` maps memberships [r, clusters] (1 for the first side, 0 for the second) to values [r].
    """
    rng = np.random.default_rng(seed)
    first = np.repeat([1.0, 0.0], sizes)[None, :]
    observed = abs(float(statistic(first)[0]))
    block = max(1, DRAWS_AT_ONCE // sum(sizes))
    values = []
    for start in range(0, resamples, block):
        rows = np.repeat(first, min(block, resamples - start), axis=0)
        values.append(statistic(rng.permuted(rows, axis=1)))
    return _share_beyond(np.concatenate(values), observed, exact=False)


def _random_signs(clusters: int, *, resamples: int, seed: int) -> Iterator[Array]:
    block = max(1, DRAWS_AT_ONCE // clusters)
    if resamples <= block:
        yield _signs_once(clusters, resamples, seed=seed)
        return
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, block):
        yield _draw_signs(rng, clusters, size=min(block, resamples - start))


@lru_cache(maxsize=2)
def _signs_once(clusters: int, resamples: int, *, seed: int) -> Array:
    """The same signs for all tests of a group, so that they are drawn once."""
    signs = _draw_signs(np.random.default_rng(seed), clusters, size=resamples)
    signs.flags.writeable = False
    return signs


def _draw_signs(rng: np.random.Generator, clusters: int, *, size: int) -> Array:
    return (1 - 2 * rng.integers(2, size=(size, clusters))).astype(np.float64)


def _share_beyond(values: Array, observed: float, *, exact: bool) -> float:
    """The share of values at least as far from 0 as the observed one; equal up to rounding counts as equal."""
    values = np.abs(values[~np.isnan(values)])
    beyond = int(np.sum(values >= observed - 1e-9 * max(1.0, observed)))
    return beyond / len(values) if exact else (beyond + 1) / (len(values) + 1)


def adjust_holm(p: Sequence[float]) -> list[float]:
    """The p-values made larger, so that any false finding at all is as rare as one test's (Holm 1979)."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, worst = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        worst = max(worst, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = worst
    return adjusted


def adjust_bh(p: Sequence[float]) -> list[float]:
    """The p-values made larger, so that the share of false findings is held (Benjamini and Hochberg 1995)."""
    order = sorted(range(len(p)), key=lambda i: p[i], reverse=True)
    adjusted, best = [0.0] * len(p), 1.0
    for rank, i in enumerate(order):
        best = min(best, p[i] * len(p) / (len(p) - rank))
        adjusted[i] = best
    return adjusted


def detectable_effect(error: float, freedom: float, *, level: float = LEVEL, power: float = POWER) -> float:
    """The smallest true difference that a two-sided t-test finds with about this power, given the standard error."""
    return (student_quantile(1 - level / 2, freedom) + student_quantile(power, freedom)) * error
