"""The interval of an estimate and of a difference of two, from resampled values and pseudo-values of its clusters."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .resampling import Array, expanded_level, percentile_interval, student_quantile, wilson_interval

NEAR = 0.1
FEWEST_ROWS = 20
MOST_SKEW = 0.05
LEAST_BIAS = 0.02
CLEAR_BIAS = 0.05
MOST_LOGNORMAL = 100
LEAST_LOG_SKEW = -1.0
FEWEST_EFFECTIVE = 4
FEW_CLUSTERS = 40
STEPS = 30
PERFECT = math.atanh(1 - 1e-12)
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
        return standard_error(self.pseudo)


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of an interval and how they were found."""

    low: float
    high: float
    kind: str


def standard_error(values: Array) -> float:
    """The standard error of the mean of independent values."""
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))


def find_ends(estimate: Estimate, *, bca: bool = False, level: float = 0.95) -> Ends | None:
    """The interval: percentiles, unless the value is near the end of its scale or its clusters are skewed.

    A value between bounds gets Wilson's interval with the effective number of rows, value · (1 - value) / error², where
    it is within a tenth of an end, where the effective number is small, or where a few clusters decide the error
    (skew, Efron's acceleration). With few clusters, and where clusters of different sizes bias the value, the interval also
    holds Student's. A value from 0 on without an upper bound gets the wider of Student's and the bootstrap-t interval of its
    logarithm, and with few clusters of positive values the lognormal one's upper end. Without any variation there is no
    interval but for shares.
    """
    low, high = estimate.bounds
    bounded = math.isfinite(low) and math.isfinite(high)
    if is_constant(estimate.drawn):
        return _wilson(estimate, rows=len(estimate.pseudo), kind="constant", level=level) if bounded else None
    if np.isnan(estimate.pseudo).any() or bca:
        return _percentiles(estimate, bca=bca, level=level)
    if bounded:
        share, error = (estimate.value - low) / (high - low), estimate.error / (high - low)
        rows = share * (1 - share) / error**2 if share * (1 - share) > 0 else float(len(estimate.pseudo))
        if min(share, 1 - share) < NEAR:
            return _widened(estimate, _wilson(estimate, rows=rows, kind="near", level=level), level=level)
        if min(share, 1 - share) * rows < FEWEST_ROWS or abs(_skew(estimate.pseudo)) > MOST_SKEW:
            return _widened(estimate, _wilson(estimate, rows=rows, kind="skewed", level=level), level=level)
        return _widened(estimate, _percentiles(estimate, bca=False, level=level), level=level)
    if low == 0 and estimate.value > 0 and estimate.drawn_errors is not None:
        return _logarithm(estimate, estimate.drawn_errors, level=level)
    return _percentiles(estimate, bca=False, level=level)


def difference_ends(a: Estimate, b: Estimate, *, count: float, related: bool, level: float = 0.95) -> Ends | None:
    """The interval of a - b: percentiles, or from the two intervals where one is not made of percentiles.

    Percentiles of few clusters are a little too narrow, so that up to FEW_CLUSTERS the interval also holds Student's with the
    jackknife's error. The second is the method of variance estimates recovery (Zou and Donner 2008), with the clusters'
    correlation where the sides are `related`.
    """
    sides = find_ends(a, level=level), find_ends(b, level=level)
    if not _are_plain(sides, ("bootstrap", "skewed") if related else ("bootstrap",)):
        return _recovered((a, b), sides, r=_correlation(a.pseudo, b.pseudo) if related else 0.0)
    drawn, value = a.drawn - b.drawn, a.value - b.value
    if is_constant(drawn):
        return None
    low, high = percentile_interval(drawn, level=expanded_level(count, level=level))
    error = standard_error(a.pseudo - b.pseudo) if related else math.hypot(a.error, b.error)
    if count > FEW_CLUSTERS or not math.isfinite(error):
        return Ends(low, high, "bootstrap")
    half = student_quantile((1 + level) / 2, count - 1) * error
    return Ends(min(low, value - half), max(high, value + half), "bootstrap")


def recovered_p(a: Estimate, b: Estimate, *, shift: float = 0.0) -> float:
    """The p at which the interval of a - b, made of the intervals of two independent sides, reaches `shift`.

    It is 0 where both sides have percentile intervals, whose p comes from a test.
    """
    if _are_plain((find_ends(a), find_ends(b)), ("bootstrap",)):
        return 0.0

    def holds(level: float) -> bool:
        ends = _recovered((a, b), (find_ends(a, level=level), find_ends(b, level=level)), r=0.0)
        return ends is None or ends.low <= shift <= ends.high

    return p_of_interval(holds)


def p_of_interval(holds: Callable[[float], bool]) -> float:
    """The p at which the interval of the level 1 - p no longer holds a number; `holds` says whether that of a level does."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        p = (low + high) / 2
        low, high = (p, high) if holds(1 - p) else (low, p)
    return high


def _are_plain(ends: tuple[Ends | None, Ends | None], kinds: tuple[str, ...]) -> bool:
    return all(interval is not None and interval.kind in kinds for interval in ends)


def _recovered(sides: tuple[Estimate, Estimate], ends: tuple[Ends | None, Ends | None], *, r: float) -> Ends | None:
    (a, b), (one, two) = sides, ends
    if one is None or two is None:
        return None
    value, below, above = (
        a.value - b.value,
        (a.value - one.low, b.value - two.low),
        (one.high - a.value, two.high - b.value),
    )
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


def _percentiles(estimate: Estimate, *, bca: bool, level: float) -> Ends:
    expanded = expanded_level(estimate.count, level=level)
    if bca:
        return Ends(*bca_interval(estimate, level=expanded), "bca")
    return Ends(*percentile_interval(estimate.drawn, level=expanded), "bootstrap")


def _widened(estimate: Estimate, ends: Ends, *, level: float) -> Ends:
    """The ends, moved out to hold Student's intervals where these reach further, but not beyond the scale.

    One is around the value, with few clusters; one around the value without its bias (the jackknife's), where clusters of
    different sizes bias it. Where large clusters are missing by chance, the value is off and looks too sure at once. A
    clear bias, as of sizes that go with the value, therefore counts several times.
    """
    few, bias = estimate.count <= FEW_CLUSTERS, float(estimate.pseudo.mean()) - estimate.value
    middles = [(estimate.value, float(estimate.count))] if few and ends.kind != "near" else []
    if abs(bias) > LEAST_BIAS * estimate.error:
        clear = abs(bias) > CLEAR_BIAS * estimate.error
        times = (8 if clear else 2) if few else (4 if clear else 1)
        middles.append((estimate.value + times * bias, effective_count(estimate)))
    low, high = ends.low, ends.high
    for middle, clusters in middles:
        half = student_quantile((1 + level) / 2, clusters - 1) * estimate.error
        low, high = min(low, middle - half), max(high, middle + half)
    return Ends(max(estimate.bounds[0], low), min(estimate.bounds[1], high), ends.kind)


def bca_interval(estimate: Estimate, *, level: float = 0.95) -> tuple[float, float]:
    """The bias-corrected and accelerated interval (Efron 1987); the jackknife over clusters accelerates it."""
    drawn, edge = estimate.drawn, 0.5 / len(estimate.drawn)
    below = float(np.mean(drawn < estimate.value) + np.mean(drawn == estimate.value) / 2)
    bias = NormalDist().inv_cdf(min(max(below, edge), 1 - edge))
    shifted = [bias + NormalDist().inv_cdf(tail) for tail in ((1 - level) / 2, (1 + level) / 2)]
    speed = _skew(estimate.pseudo)
    low, high = np.nanpercentile(drawn, [100 * NormalDist().cdf(bias + z / (1 - speed * z)) for z in shifted])
    return float(low), float(high)


def _wilson(estimate: Estimate, *, rows: float, kind: str, level: float) -> Ends:
    low, high = estimate.bounds
    width = high - low
    share = min(1.0, max(0.0, (estimate.value - low) / width))
    clusters = None if kind == "constant" else effective_count(estimate)
    ends = wilson_interval(share, rows, clusters=clusters, level=level)
    return Ends(low + width * ends[0], low + width * ends[1], kind)


def fisher_ends(finish: Callable[[Array], Array], totals: Array) -> tuple[float, float] | None:
    """The 95 % interval of a correlation, or of kappa, as a function of sums over clusters; none for perfect ones.

    Student's interval with the jackknife's error on Fisher's scale, where such values are nearly normal.
    """
    clusters, whole = len(totals), totals.sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        value, without = np.arctanh(finish(whole[None])), np.arctanh(finish(whole - totals))
        pseudo = clusters * value - (clusters - 1) * without
    if abs(value[0]) > PERFECT or not np.isfinite(pseudo).all() or is_constant(pseudo):
        return None
    estimate = Estimate(float(value[0]), pseudo, pseudo, (-math.inf, math.inf), clusters)
    half = student_quantile(0.975, effective_count(estimate) - 1) * estimate.error
    return math.tanh(estimate.value - half), math.tanh(estimate.value + half)


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


def _logarithm(estimate: Estimate, errors: Array, *, level: float) -> Ends:
    """The wider, at either end, of Student's and the bootstrap-t interval on the scale of the logarithm."""
    value, drawn = estimate.value, estimate.drawn
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (np.log(drawn) - math.log(value)) * drawn / errors
    below, above = percentile_interval(t, level=level)
    student = student_quantile((1 + level) / 2, effective_count(estimate) - 1)
    relative = estimate.error / value
    ends = (-max(above, student) * relative, -min(below, -student) * relative)
    high = value * math.exp(min(ends[1], 700.0))
    return Ends(value * math.exp(ends[0]), max(high, _lognormal_high(estimate.pseudo, level=level)), "logarithm")


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


def _correlation(first: Array, second: Array) -> float:
    x, y = first - first.mean(), second - second.mean()
    size = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / size if size > 0 and math.isfinite(size) else 0.0
