"""The interval of an estimate, and of a difference of two: the jackknife over clusters with Student's distribution."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .resampling import Array, expanded_level, percentile_interval, student_quantile, wilson_interval

FEWEST_FREEDOM = 3.0
"""The least degrees of freedom: with fewer, Student's quantile of 95 % is beyond 3.2 and mostly noise of the kurtosis."""
MOST_LOGNORMAL = 100  # clusters up to which a long tail may not show itself
LEAST_LOG_SKEW = -1.0
MOST_STUDENTISED_FREEDOM = 2.0
"""The bootstrap-t quantile of a logarithm is at most Student's with 2 degrees of freedom (4.3): beyond, it is made of resamples
that lack the few clusters on which the value depends, and the upper end has no meaning."""
STEPS = 30
PERFECT = math.atanh(1 - 1e-12)
CONSTANT = "every cluster gives the same value, so clusters cannot say how sure it is"
WITHOUT = "without one of the clusters the value does not exist"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the value without each cluster in turn.

    `sizes` are the clusters' numbers of items and `likeness` the intraclass correlation within clusters; without sizes
    all clusters count alike. `strata` names each cluster's stratum where clusters are drawn apart. `drawn` are resampled
    values, where the kind of interval needs them, and `drawn_errors` their standard errors.
    """

    value: float
    without: Array
    bounds: tuple[float, float] = (-math.inf, math.inf)
    sizes: Array | None = None
    likeness: float = 1.0
    strata: tuple[str, ...] | None = None
    drawn: Array | None = None
    drawn_errors: Array | None = None

    @property
    def pseudo(self) -> Array:
        """The jackknife's pseudo-values, whose mean is the value without its bias."""
        count = len(self.without)
        return np.asarray(count * self.value - (count - 1) * self.without, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class IntervalEnds:
    """Both ends of an interval and how they were found."""

    low: float
    high: float
    kind: str


@dataclass(frozen=True, slots=True)
class Scatter:
    """The standard error of an estimate and the degrees of freedom with which it is known."""

    error: float
    freedom: float


def find_scatter(estimate: Estimate) -> Scatter:
    """The jackknife's error around the value itself, and its degrees of freedom.

    error² = (C - 1)/C · Σ (θ₋c - θ)² over the C clusters: around θ and not around the mean of the θ₋c, so that a bias (of
    clusters whose size goes with the value) widens the interval. The degrees of freedom are the lesser of two:
    `freedom_of_sizes` and 2C/(k - 1) - 1 with the kurtosis k of the θ₋c, because a variance of C values of kurtosis k is as
    unsure as that of 2C/(k - 1) normal ones; never fewer than FEWEST_FREEDOM. Strata add their squared errors, and their degrees
    of freedom as Welch's do.
    """
    names = np.asarray(estimate.strata if estimate.strata is not None else [""] * len(estimate.without))
    squares, parts = 0.0, 0.0
    for name in dict.fromkeys(names.tolist()):
        chosen = names == name
        without, count = estimate.without[chosen], int(chosen.sum())
        square = (count - 1) / count * float(np.sum((without - estimate.value) ** 2))
        sizes = np.ones(count) if estimate.sizes is None else estimate.sizes[chosen]
        freedom = min(freedom_of_sizes(sizes, estimate.likeness), _freedom_of_kurtosis(without))
        squares += square
        parts += square**2 / max(freedom, FEWEST_FREEDOM)
    freedom = squares**2 / parts if parts > 0 else float(len(names) - 1)
    return Scatter(math.sqrt(squares), max(freedom, FEWEST_FREEDOM))


def freedom_of_sizes(sizes: Array, likeness: float) -> float:
    """Satterthwaite's degrees of freedom of a ratio's variance from clusters of these sizes.

    The total of a cluster of n items has the variance v = n · (1 + (n - 1) · likeness), and the residuals of the totals
    have the covariance M = D(v) - u v' - v u' + Σv · u u', u = n / Σn. The result is tr(M)² / tr(M²), which is C - 1
    for clusters of one size.
    """
    n = np.asarray(sizes, dtype=np.float64)
    u, v = n / n.sum(), n * (1 + (n - 1) * likeness)
    total, uu, uv, vv = v.sum(), u @ u, u @ v, v @ v
    trace = total - 2 * uv + total * uu
    square = vv + 2 * uv**2 + 2 * uu * vv + (total * uu) ** 2
    square += -4 * (v**2 @ u) + 2 * total * (v @ u**2) - 4 * total * uv * uu
    return float(trace**2 / square) if square > 0 else 0.0


def _freedom_of_kurtosis(values: Array) -> float:
    spread = values - values.mean()
    square = float(np.sum(spread**2))
    if square == 0:
        return float(len(values) - 1)
    kurtosis = len(spread) * float(np.sum(spread**4)) / square**2
    return 2 * len(spread) / max(kurtosis - 1, 1e-9) - 1


def intraclass_correlation(totals: Array, sizes: Array, *, within: float) -> float:
    """The share of the items' variance that lies between clusters, by one-way analysis of variance; from 0 to 1.

    `totals` are the clusters' sums over items, `within` the sum of squares of the items around their cluster's mean.
    """
    there = sizes > 0
    totals, sizes = totals[there], sizes[there]
    items, clusters = float(sizes.sum()), len(sizes)
    if items <= clusters or clusters < 2:
        return 1.0
    between = float(np.sum(sizes * (totals / sizes - totals.sum() / items) ** 2)) / (clusters - 1)
    inside = within / (items - clusters)
    part = (between - inside) / ((items - float(np.sum(sizes**2)) / items) / (clusters - 1))
    return min(1.0, max(0.0, part / (part + inside))) if part + inside > 0 else 1.0


def find_ends(estimate: Estimate, *, kind: str = "auto", level: float = 0.95) -> IntervalEnds | None:
    """The interval: Student's with the jackknife's error (`find_scatter`), for a value between bounds on the logit scale.

    With p the value as a share of its scale it is logistic(logit(p) ± t · error / (p · (1 - p))), and value ± t · error where
    the scale has no ends. Where all clusters agree, a share has Wilson's interval with one row per cluster, and other
    values have none. A value from 0 on without an upper bound, as a variance, has the interval of its logarithm.
    `bootstrap` and `bca` are made of resampled values instead.
    """
    if is_constant(estimate):
        return _wilson(estimate, level=level) if np.isfinite(estimate.bounds).all() else None
    if kind in ("bootstrap", "bca") and estimate.drawn is not None:
        expanded = expanded_level(_fewest(estimate), level=level)
        ends = bca_interval(estimate, level=expanded) if kind == "bca" else None
        return IntervalEnds(*(ends or percentile_interval(estimate.drawn, level=expanded)), kind)
    if estimate.drawn is not None and estimate.drawn_errors is not None and estimate.value > 0:
        return _logarithm(estimate, level=level)
    scatter = find_scatter(estimate)
    return _students(estimate, scatter, quantile=student_quantile((1 + level) / 2, scatter.freedom))


def student_ends(estimate: Estimate, scatter: Scatter, *, level: float) -> IntervalEnds:
    """Student's interval of a value with this error and these degrees of freedom, on the scale of its bounds."""
    return _students(estimate, scatter, quantile=student_quantile((1 + level) / 2, scatter.freedom))


def _students(estimate: Estimate, scatter: Scatter, *, quantile: float) -> IntervalEnds:
    low, high = estimate.bounds
    half = quantile * scatter.error
    if not math.isfinite(low) or not math.isfinite(high):
        return IntervalEnds(max(low, estimate.value - half), min(high, estimate.value + half), "jackknife")
    width = high - low
    share = (estimate.value - low) / width
    middle, half = math.log(share / (1 - share)), half / width / (share * (1 - share))
    ends = [low + width * _logistic(middle + sign * half) for sign in (-1, 1)]
    return IntervalEnds(ends[0], ends[1], "jackknife")


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(max(x, -700.0)) / (1 + math.exp(max(x, -700.0)))


def _wilson(estimate: Estimate, *, level: float) -> IntervalEnds:
    low, high = estimate.bounds
    width = high - low
    share = min(1.0, max(0.0, (estimate.value - low) / width))
    ends = wilson_interval(share, len(estimate.without), level=level)
    return IntervalEnds(low + width * ends[0], low + width * ends[1], "constant")


def is_constant(estimate: Estimate) -> bool:
    """Whether no cluster changes the value, up to rounding, or the value lies on the end of its scale."""
    far = float(np.abs(estimate.without - estimate.value).max(initial=0.0))
    return far <= 1e-9 * max(1.0, abs(estimate.value)) or estimate.value in estimate.bounds


def _fewest(estimate: Estimate) -> int:
    """The clusters of the smallest stratum."""
    names = estimate.strata if estimate.strata is not None else ("",) * len(estimate.without)
    return int(np.unique(np.asarray(names), return_counts=True)[1].min())


# ---- differences


def paired_difference(a: Estimate, b: Estimate) -> Estimate:
    """a - b, whose clusters are the same: the value without a cluster lacks it on both sides."""
    sizes = None if a.sizes is None or b.sizes is None else (a.sizes + b.sizes) / 2
    likeness = max(a.likeness, b.likeness)
    return Estimate(a.value - b.value, a.without - b.without, sizes=sizes, likeness=likeness, strata=a.strata)


def paired_ends(a: Estimate, b: Estimate, *, level: float = 0.95) -> IntervalEnds | None:
    """The interval of a - b of the same clusters; where every cluster has the same difference, from those of the sides."""
    return find_ends(paired_difference(a, b), level=level) or unpaired_ends(a, b, level=level)


def unpaired_ends(a: Estimate, b: Estimate, *, level: float = 0.95) -> IntervalEnds | None:
    """The interval of a - b of independent sides, from their two intervals (Zou and Donner 2008).

    (θ - low)² and (high - θ)² of the sides add up, each interval being made with Student's quantile for Welch's degrees
    of freedom; without bounds this is Welch's interval.
    """
    first, second = find_ends(a, level=level), find_ends(b, level=level)
    if not any(is_constant(side) or side.drawn_errors is not None for side in (a, b)):
        one, two = find_scatter(a), find_scatter(b)
        quantile = student_quantile((1 + level) / 2, welch_freedom(one, two))
        first, second = (_students(side, own, quantile=quantile) for side, own in ((a, one), (b, two)))
    if first is None or second is None:
        return None
    value = a.value - b.value
    low = value - math.hypot(a.value - first.low, second.high - b.value)
    high = value + math.hypot(first.high - a.value, b.value - second.low)
    return None if high - low < 1e-9 else IntervalEnds(low, high, "jackknife")


def welch_freedom(a: Scatter, b: Scatter) -> float:
    """The degrees of freedom of a difference of two independent estimates."""
    parts = a.error**4 / a.freedom + b.error**4 / b.freedom
    return (a.error**2 + b.error**2) ** 2 / parts if parts > 0 else min(a.freedom, b.freedom)


def p_of_interval(holds: Callable[[float], bool]) -> float:
    """The p at which the interval of the level 1 - p no longer holds a number; `holds` says whether that of a level does."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        p = (low + high) / 2
        low, high = (p, high) if holds(1 - p) else (low, p)
    return high


# ---- other scales and kinds


def fisher_ends(finish: Callable[[Array], Array], totals: Array) -> tuple[float, float] | None:
    """The 95 % interval of a correlation, or of kappa, as a function of sums over clusters; none for perfect ones.

    Student's interval with the jackknife's error on Fisher's scale, where such values are nearly normal.
    """
    whole = totals.sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        value, without = float(np.arctanh(finish(whole[None]))[0]), np.arctanh(finish(whole - totals))
    if abs(value) > PERFECT or not np.isfinite(without).all():
        return None
    ends = find_ends(Estimate(value, without))
    return None if ends is None else (math.tanh(ends.low), math.tanh(ends.high))


def bca_interval(estimate: Estimate, *, level: float = 0.95) -> tuple[float, float]:
    """The bias-corrected and accelerated interval (Efron 1987); the jackknife over clusters accelerates it."""
    drawn = np.asarray(estimate.drawn)
    edge = 0.5 / len(drawn)
    below = float(np.mean(drawn < estimate.value) + np.mean(drawn == estimate.value) / 2)
    bias = NormalDist().inv_cdf(min(max(below, edge), 1 - edge))
    shifted = [bias + NormalDist().inv_cdf(tail) for tail in ((1 - level) / 2, (1 + level) / 2)]
    speed = _skew(estimate.pseudo)
    low, high = np.nanpercentile(drawn, [100 * NormalDist().cdf(bias + z / (1 - speed * z)) for z in shifted])
    return float(low), float(high)


def _logarithm(estimate: Estimate, *, level: float) -> IntervalEnds:
    """The wider, at either end, of Student's and the bootstrap-t interval on the scale of the logarithm."""
    value, drawn, scatter = estimate.value, np.asarray(estimate.drawn), find_scatter(estimate)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (np.log(drawn) - math.log(value)) * drawn / np.asarray(estimate.drawn_errors)
    below, above = percentile_interval(t, level=level)
    student = student_quantile((1 + level) / 2, scatter.freedom)
    most = max(student, student_quantile((1 + level) / 2, MOST_STUDENTISED_FREEDOM))
    relative = scatter.error / value
    low, high = -min(max(above, student), most) * relative, min(max(-below, student), most) * relative
    end = max(value * math.exp(min(high, 700.0)), _lognormal_high(estimate.pseudo, level=level))
    return IntervalEnds(value * math.exp(low), end, "logarithm")


def _lognormal_high(values: Array, *, level: float) -> float:
    """The upper end for the mean of few values that may be lognormal (Cox's, with Student's quantile: Olsson 2005), or 0.

    Few draws from a long tail rarely show it, so that nothing made of them alone reaches far enough.
    """
    count = len(values)
    if count > MOST_LOGNORMAL or values.min() <= 0:
        return 0.0
    logs = np.log(values)
    if 6 * math.sqrt(count) * _skew(logs) < LEAST_LOG_SKEW:
        return 0.0
    variance = float(np.var(logs, ddof=1))
    half = student_quantile((1 + level) / 2, count - 1) * math.sqrt(variance / count + variance**2 / (2 * count - 2))
    return math.exp(min(float(logs.mean()) + variance / 2 + half, 700.0))


def _skew(pseudo: Array) -> float:
    """Efron's acceleration."""
    spread = pseudo - pseudo.mean()
    size = float(np.sum(spread**2)) ** 1.5
    return float(np.sum(spread**3)) / (6 * size) if size > 0 else 0.0
