"""Confidence sequences: intervals of a mean over clusters in random order that stay valid however often one looks."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .resampling import Array

LEVEL = 0.95
FRACTIONS = np.array([0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6, 0.8, 0.95])
"""The shares of the capital that are bet, a mixture in equal parts: small ones win slowly after many clusters, large ones
early. None is 1, so that no cluster can take all."""
STEPS = 40  # halvings that find an end to within 1e-12


@dataclass(frozen=True, slots=True)
class ClusterSampling:
    """How clusters came: drawn without replacement from `clusters` of them, or where that is None from a population.

    `largest` is the size that no cluster exceeds; `rest` is how many items at most have not been seen.
    """

    largest: float
    clusters: int | None = None
    rest: float = math.inf


def log_capital(totals: Array, mean: float, *, sampling: ClusterSampling) -> Array:
    """The log of what betting against "the mean is at most `mean`" has won after each cluster.

    `totals` [clusters, 2] has each cluster's sum of values in [0, 1] and its number of items, in order of arrival; the mean
    is the ratio of the two sums. If the mean is `mean`, the capital exceeds 1/α at any time with probability at most α
    (Ville 1939; Waudby-Smith and Ramdas 2024). It falls with `mean`, so that an end of an interval can be bisected.
    """
    sums, sizes = totals[:, 0], totals[:, 1]
    expected = np.zeros(len(totals))  # of a cluster's deviation, from those before it
    if sampling.clusters is not None:
        before = np.cumsum(totals, axis=0) - totals
        expected = (mean * before[:, 1] - before[:, 0]) / (sampling.clusters - np.arange(len(totals)))
    worst = mean * sampling.largest + expected  # how far below expectation a cluster can be
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.where(worst > 1e-12, (sums - mean * sizes - expected) / worst, 0.0)
    logs = np.cumsum(np.log1p(FRACTIONS[:, None] * gains), axis=1)
    logs[:, np.maximum.accumulate(worst < -1e-9)] = np.inf  # what was seen cannot have such a mean
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - math.log(len(FRACTIONS)), dtype=np.float64)


def sequence_interval(totals: Array, *, sampling: ClusterSampling, level: float = LEVEL) -> tuple[float, float]:
    """Both ends, as shares, of the interval after the last cluster; it holds together with those after all clusters before.

    Without replacement it also excludes what the items not yet seen cannot reach; when none is left, it is the mean.
    """
    low = _first_possible(lambda mean: _is_refuted(totals, mean, sampling=sampling, level=level))
    mirrored = np.column_stack([totals[:, 1] - totals[:, 0], totals[:, 1]])
    high = 1 - _first_possible(lambda mean: _is_refuted(mirrored, mean, sampling=sampling, level=level))
    if sampling.clusters is not None:
        value, count = totals.sum(0)
        whole = count + sampling.rest
        low, high = max(low, value / whole), min(high, (value + sampling.rest) / whole)
    return min(low, high), max(low, high)


def _is_refuted(totals: Array, mean: float, *, sampling: ClusterSampling, level: float) -> bool:
    return float(log_capital(totals, mean, sampling=sampling).max(initial=0.0)) >= math.log(2 / (1 - level))


def _first_possible(is_refuted: Callable[[float], bool]) -> float:
    """The least mean that is not refuted; all below it are."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_refuted(middle) else (low, middle)
    return low


def differences_as_shares(first: Array, second: Array) -> Array:
    """Paired totals of two sides as one: a difference of means from -1 to 1 becomes a mean from 0 to 1."""
    return np.column_stack([(first[:, 0] - second[:, 0] + first[:, 1]) / 2, first[:, 1]])


def as_difference(share: float) -> float:
    """The difference that a share of `differences_as_shares` stands for."""
    return 2 * share - 1
