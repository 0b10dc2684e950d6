"""The interval of an estimate and of a difference of two, from resampled values and pseudo-values of its clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .resampling import Array, expanded_level, percentile_interval, student_quantile, wilson_interval

NEAR = 0.1
FEWEST_ROWS = 20
MOST_SKEW = 0.05
FEWEST_EFFECTIVE = 4
CONSTANT = "every cluster gives the same value, so resampling cannot say how sure it is"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its resampled values, and one pseudo-value per cluster, whose mean is about the value.

    `count` is the number of clusters by which the interval is expanded: those of the smallest stratum.
    `drawn_errors` are the standard errors of the resampled values, for values that are skewed like a variance.
    """

    value: float
    drawn: Array
    pseudo: Array
    bounds: tuple[float, float]
    count: int
    drawn_errors: Array | None = None

    @property
    def error(self) -> float:
        """The jackknife's standard error."""
        return float(np.std(self.pseudo, ddof=1)) / math.sqrt(len(self.pseudo))


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of an interval and how they were found."""

    low: float
    high: float
    kind: str


def find_ends(estimate: Estimate, *, bca: bool = False) -> Ends | None:
    """The 95 % interval: percentiles, unless the value is near the end of its scale or its clusters are skewed.

    A value between bounds gets Wilson's interval with the effective number of rows, value · (1 - value) / error², where
    it is within a tenth of an end, where the effective number is small, or where a few clusters decide the error
    (skew, Efron's acceleration). A value from 0 on without an upper bound gets the wider of Student's and the
    bootstrap-t interval of its logarithm. Without any variation there is no interval but for shares.
    """
    low, high = estimate.bounds
    bounded = math.isfinite(low) and math.isfinite(high)
    if is_constant(estimate.drawn):
        return _wilson(estimate, rows=len(estimate.pseudo), kind="constant") if bounded else None
    if np.isnan(estimate.pseudo).any() or bca:
        return _percentiles(estimate, bca=bca)
    if bounded:
        share, error = (estimate.value - low) / (high - low), estimate.error / (high - low)
        rows = share * (1 - share) / error**2 if share * (1 - share) > 0 else float(len(estimate.pseudo))
        if min(share, 1 - share) < NEAR:
            return _wilson(estimate, rows=rows, kind="near")
        if min(share, 1 - share) * rows < FEWEST_ROWS or abs(_skew(estimate.pseudo)) > MOST_SKEW:
            return _wilson(estimate, rows=rows, kind="skewed")
    if low == 0 and estimate.value > 0 and estimate.drawn_errors is not None:
        return _logarithm(estimate, estimate.drawn_errors)
    return _percentiles(estimate, bca=False)


def difference_ends(a: Estimate, b: Estimate, *, count: float, related: bool) -> Ends | None:
    """The 95 % interval of a - b: percentiles, or from the two intervals where one is not made of percentiles.

    The second is the method of variance estimates recovery (Zou and Donner 2008), with the clusters' correlation
    where the sides are `related`.
    """
    ends = [find_ends(one) for one in (a, b)]
    plain = all(one is not None and one.kind in ("bootstrap", "skewed") for one in ends)
    drawn, value = a.drawn - b.drawn, a.value - b.value
    if plain:
        return (
            None if is_constant(drawn) else Ends(*percentile_interval(drawn, level=expanded_level(count)), "bootstrap")
        )
    if ends[0] is None or ends[1] is None:
        return None
    r = _correlation(a.pseudo, b.pseudo) if related else 0.0
    below, above = (a.value - ends[0].low, ends[0].high - a.value), (b.value - ends[1].low, ends[1].high - b.value)
    down = below[0] ** 2 + above[1] ** 2 - 2 * r * below[0] * above[1]
    up = above[0] ** 2 + below[1] ** 2 - 2 * r * above[0] * below[1]
    if max(down, up) < 1e-18:
        return None
    return Ends(value - math.sqrt(max(0.0, down)), value + math.sqrt(max(0.0, up)), "recovered")


def welch_freedom(errors: tuple[float, float], counts: tuple[int, int]) -> float:
    """The degrees of freedom of a difference of two means with these standard errors and numbers of clusters."""
    parts = [error**4 / (count - 1) for error, count in zip(errors, counts, strict=True)]
    total = (errors[0] ** 2 + errors[1] ** 2) ** 2
    return total / sum(parts) if sum(parts) > 0 else float(min(counts) - 1)


def is_constant(values: Array) -> bool:
    """Whether all values are the same, up to rounding."""
    there = values[~np.isnan(values)]
    return bool(np.ptp(there) <= 1e-9 * max(1.0, float(np.abs(there).max()))) if len(there) else True


def _percentiles(estimate: Estimate, *, bca: bool) -> Ends:
    level = expanded_level(estimate.count)
    if bca:
        return Ends(*bca_interval(estimate, level=level), "bca")
    return Ends(*percentile_interval(estimate.drawn, level=level), "bootstrap")


def bca_interval(estimate: Estimate, *, level: float = 0.95) -> tuple[float, float]:
    """The bias-corrected and accelerated interval (Efron 1987); the jackknife over clusters accelerates it."""
    drawn, edge = estimate.drawn, 0.5 / len(estimate.drawn)
    below = float(np.mean(drawn < estimate.value) + np.mean(drawn == estimate.value) / 2)
    bias = NormalDist().inv_cdf(min(max(below, edge), 1 - edge))
    shifted = [bias + NormalDist().inv_cdf(tail) for tail in ((1 - level) / 2, (1 + level) / 2)]
    speed = _skew(estimate.pseudo)
    low, high = np.nanpercentile(drawn, [100 * NormalDist().cdf(bias + z / (1 - speed * z)) for z in shifted])
    return float(low), float(high)


def _wilson(estimate: Estimate, *, rows: float, kind: str) -> Ends:
    low, high = estimate.bounds
    width = high - low
    share = min(1.0, max(0.0, (estimate.value - low) / width))
    ends = wilson_interval(share, rows, clusters=None if kind == "constant" else effective_count(estimate))
    return Ends(low + width * ends[0], low + width * ends[1], kind)


def effective_count(estimate: Estimate) -> float:
    """The number of clusters, lowered where a few of them make most of the error.

    The variance of a sample variance grows with the kurtosis of what is sampled: that of n values of kurtosis k is as
    unsure as that of 2n / (k - 1) normal ones.
    """
    spread = estimate.pseudo - estimate.pseudo.mean()
    square = float(np.sum(spread**2))
    if square == 0:
        return estimate.count
    kurtosis = len(spread) * float(np.sum(spread**4)) / square**2
    return max(FEWEST_EFFECTIVE, min(estimate.count, 2 * len(spread) / max(kurtosis - 1, 1e-9)))


def _logarithm(estimate: Estimate, errors: Array) -> Ends:
    """The wider, at either end, of Student's and the bootstrap-t interval on the scale of the logarithm."""
    value, drawn = estimate.value, estimate.drawn
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (np.log(drawn) - math.log(value)) * drawn / errors
    below, above = np.nanpercentile(t, [2.5, 97.5])
    student = student_quantile(0.975, estimate.count - 1)
    relative = estimate.error / value
    ends = (-max(float(above), student) * relative, -min(float(below), -student) * relative)
    return Ends(value * math.exp(ends[0]), value * math.exp(min(ends[1], 700.0)), "logarithm")


def _skew(pseudo: Array) -> float:
    """Efron's acceleration."""
    spread = pseudo - pseudo.mean()
    size = float(np.sum(spread**2)) ** 1.5
    return float(np.sum(spread**3)) / (6 * size) if size > 0 else 0.0


def _correlation(first: Array, second: Array) -> float:
    x, y = first - first.mean(), second - second.mean()
    size = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / size if size > 0 and math.isfinite(size) else 0.0
