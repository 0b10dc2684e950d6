"""Tests of hypotheses: is a difference more than chance, over how many comparisons, and what could have been seen?"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from .resampling import DRAWS_AT_ONCE, MOST_DRAWN, Array, normal_draws, student_quantile

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


def sign_flip_test(differences: Array, *, resamples: int = 10_000, seed: int = 0) -> float:
    """The two-sided p of a sum of paired differences, one per cluster, whose signs are chance when nothing differs."""
    return swapped_sums_test(lambda sums: sums[:, 0], differences[:, None], resamples=resamples, seed=seed)


def student_test(differences: Array) -> float:
    """The two-sided p of a mean difference by Student's distribution."""
    from scipy.special import stdtr

    error = float(np.std(differences, ddof=1)) / math.sqrt(len(differences))
    mean = abs(float(differences.mean()))
    if error <= 1e-12 * mean:  # no variation
        return 1.0 if mean == 0 else 0.0
    return 2 * float(stdtr(len(differences) - 1, -mean / error))


def swapped_sums_test(
    statistic: Callable[[Array], Array], moves: Array, *, resamples: int = 10_000, seed: int = 0
) -> float:
    """The two-sided p of `swap_test` for a statistic of sums: `moves` [clusters, k] are added or subtracted by sign.

    The sums of very many clusters are drawn from the normal distribution that they tend to.
    """
    if len(moves) <= MOST_DRAWN:
        return swap_test(lambda signs: statistic(signs @ moves), len(moves), resamples=resamples, seed=seed)[0]
    observed = abs(float(statistic(moves.sum(0)[None, :])[0]))
    values = statistic(normal_draws(moves, resamples=resamples, seed=seed))
    return _share_beyond(values, observed, exact=False)


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


def welch_test(first: Array, second: Array, *, resamples: int = 10_000, seed: int = 0) -> float:
    """The two-sided p of a difference of two means whose variances may differ: the larger of two tests' p.

    One is Welch's t, the other deals the values anew to the two sides and compares Welch's t there (Janssen 1997; Chung
    and Romano 2013), which needs no normal distribution but is bold where a small side varies most.
    """
    from scipy.special import stdtr

    sizes, values = (len(first), len(second)), np.concatenate([first, second])
    moments = np.column_stack([values, values**2])
    sums = moments.sum(0)

    def statistic(members: Array) -> Array:
        own = members @ moments
        return _welch(own, sizes[0], other=sums - own, size=sizes[1])[0]

    whole = [np.array([[side.sum(), (side**2).sum()]]) for side in (first, second)]
    t, freedom = (float(value[0]) for value in _welch(whole[0], sizes[0], other=whole[1], size=sizes[1]))
    if math.isnan(t):
        return 1.0
    student = 2 * float(stdtr(freedom, -abs(t))) if math.isfinite(t) else 0.0
    if min(sizes) > MOST_DRAWN / 10 and sum(sizes) > MOST_DRAWN:  # such means are normal, and both tests agree
        return max(student, 1 / (resamples + 1))
    return max(student, shuffle_test(statistic, sizes, resamples=resamples, seed=seed))


def _welch(own: Array, count: int, *, other: Array, size: int) -> tuple[Array, Array]:
    """Welch's t and its degrees of freedom from sums and sums of squares [r, 2] of either side."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = own[:, 0] / count, other[:, 0] / size
        squares = own[:, 1] / count, other[:, 1] / size
        errors = [
            _no_noise(square - mean**2, square) / (n - 1)
            for square, mean, n in zip(squares, means, (count, size), strict=True)
        ]
        difference = _no_noise(means[0] - means[1], np.abs(means[0]) + np.abs(means[1]))
        total = errors[0] + errors[1]
        freedom = total**2 / (errors[0] ** 2 / (count - 1) + errors[1] ** 2 / (size - 1))
        return difference / np.sqrt(total), freedom


def _no_noise(values: Array, scale: Array) -> Array:
    """The values, with zero for what is only rounding."""
    return np.where(np.abs(values) <= 1e-12 * scale, 0.0, values)


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


def needed_items(n: int, detectable: float, *, difference: float) -> int | None:
    """How many items would show the difference with the same power, if more items came as these did."""
    if difference == 0 or not math.isfinite(detectable) or detectable == 0:
        return None
    needed = n * (detectable / difference) ** 2
    return math.ceil(needed) if needed < 1e12 else None
