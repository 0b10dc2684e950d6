"""The difference between two contributions: its interval, its p-value, and what could have been detected."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..metrics import Contribution, Pieces
from ..stats.estimates import (
    CONSTANT,
    FEW_CLUSTERS,
    Ends,
    Estimate,
    difference_ends,
    p_of_interval,
    recovered_p,
    welch_freedom,
)
from ..stats.hypotheses import detectable_effect, sign_flip_test, student_test, swapped_sums_test, welch_test
from ..stats.resampling import Array, normal_sums
from .intervals import (
    Interval,
    IntervalSettings,
    clusters_needed,
    fewest,
    find_estimates,
    interval_maker,
    is_linearised,
    too_few,
)

Sides = tuple[list[Estimate], list[Estimate]]
EQUAL = "the two sides never differ, so there is nothing to test"


@dataclass(frozen=True, slots=True)
class Difference:
    """What is known about a difference; what is missing has its reason in `why`.

    `student` says that Student's distribution describes a p that is smaller than resampling can show.
    """

    p: float | None
    low: float | None = None
    high: float | None = None
    effect: float | None = None
    mde: float | None = None
    why: str | None = None
    student: bool = False


def paired_test(
    a: Contribution, b: Contribution, *, bounds: tuple[float, float], settings: IntervalSettings, shift: float = 0.0
) -> Difference:
    """Clusters are drawn, or change sides, as pairs; both sides have the same clusters in the same order.

    The p-value is that of a difference of `shift`.
    """
    count = len(a.clusters)
    sums = _paired_sums(a, b, settings=settings)
    sides = (
        find_estimates(a, settings, bounds=bounds, sums=sums[0]),
        find_estimates(b, settings, bounds=bounds, sums=sums[1]),
    )
    p = paired_p(a, b, sides=sides, settings=settings, shift=shift)
    if fewest(a) < clusters_needed(bounds):
        possible = f", and no p below {2 / 2**count:.3g} is possible" if a.strata is None else ""
        return Difference(p if a.strata is None else None, why=f"{too_few(fewest(a), bounds=bounds)}{possible}")
    drawn = _drawn(sides[0], a.pieces) - _drawn(sides[1], b.pieces)
    error = float(np.nanstd(drawn, ddof=1)) * math.sqrt(count / (count - 1))
    if error < 1e-12 and abs(a.value - b.value) < 1e-12:
        return Difference(p, why=EQUAL)
    ends = _within(_ends(sides, a.pieces or b.pieces, count=fewest(a), related=True), bounds)
    scale = Scale(error, fewest(a) - 1, error * math.sqrt(count))
    return replace(_difference(p, ends, scale=scale, size=a.value - b.value), student=True)


def paired_p(
    a: Contribution, b: Contribution, *, sides: Sides, settings: IntervalSettings, shift: float = 0.0
) -> float | None:
    """The p-value of `paired_test`, with the estimates of both sides."""
    swapped = _swapped(a, b) if not shift else None
    if swapped is not None:
        return swapped_sums_test(*swapped, resamples=settings.resamples, seed=settings.seed)
    pieces = a.pieces or b.pieces
    return _p_value(sides, pieces, test=lambda *pair: _flip(*pair, settings=settings, shift=shift), shift=shift)


def threshold_test(
    a: Contribution, threshold: float, *, bounds: tuple[float, float], settings: IntervalSettings
) -> Difference:
    """A value against a fixed number: clusters' deviations from it change signs; the interval is that of the value.

    The p-value is at least the one at which the interval reaches the number; without an interval there is none.
    """
    side = find_estimates(a, settings, bounds=bounds)
    make = interval_maker(a, settings, bounds=bounds, parts=side)
    ends = make(0.95)
    if ends.low is None or ends.high is None:
        return Difference(None, why=ends.why)
    fixed = Estimate(threshold, np.full(settings.resamples, threshold), np.full(len(a.clusters), threshold), bounds, 0)
    p = _p_value((side, [fixed]), a.pieces, test=lambda *pair: _flip(*pair, settings=settings))
    if p is not None:
        p = max(p, p_of_interval(lambda level: _holds(make(level), threshold)))
    count = len(a.clusters)
    error = float(np.nanstd(_drawn(side, a.pieces), ddof=1)) * math.sqrt(count / (count - 1))
    moved = Ends(ends.low - threshold, ends.high - threshold, ends.kind)
    return _difference(p, moved, scale=Scale(error, fewest(a) - 1, error * math.sqrt(count)), size=a.value - threshold)


def _holds(interval: Interval, value: float) -> bool:
    return interval.low is None or interval.high is None or interval.low <= value <= interval.high


def unpaired_test(
    a: Contribution, b: Contribution, *, bounds: tuple[float, float], settings: IntervalSettings, shift: float = 0.0
) -> Difference:
    """Each side's clusters are drawn on their own; for the p-value their pseudo-values are dealt anew to the sides.

    The p-value is that of a difference of `shift`.
    """
    other = replace(settings, seed=settings.seed + 1)
    sides = find_estimates(a, settings, bounds=bounds), find_estimates(b, other, bounds=bounds)
    counts, least = (len(a.clusters), len(b.clusters)), min(fewest(a), fewest(b))
    pieces = a.pieces or b.pieces
    p = _p_value(sides, pieces, test=lambda *pair: _welch(*pair, settings=settings, shift=shift), shift=shift)
    if least < clusters_needed(bounds):
        ways = math.comb(sum(counts), counts[0]) / (2 if counts[0] == counts[1] else 1)
        possible = f", and no p below {1 / ways:.3g} is possible" if ways < settings.resamples else ""
        p = p if a.strata is None else None  # of a stratum so small, clusters say little about chance
        return Difference(p, why=f"on one side {too_few(least, bounds=bounds)}{possible}")
    drawn = [_drawn(side, own.pieces) for side, own in zip(sides, (a, b), strict=True)]
    errors = [float(np.nanstd(one, ddof=1)) * math.sqrt(n / (n - 1)) for one, n in zip(drawn, counts, strict=True)]
    freedom = welch_freedom((errors[0], errors[1]), (fewest(a), fewest(b)))
    ends = _within(_ends(sides, pieces, count=freedom + 1, related=False), bounds)
    spread = math.sqrt(sum(error**2 * n for error, n in zip(errors, counts, strict=True)) / 2)
    return _difference(p, ends, scale=Scale(math.hypot(*errors), freedom, spread), size=a.value - b.value)


@dataclass(frozen=True, slots=True)
class Scale:
    """The standard error of a difference, its degrees of freedom, and the standard deviation between clusters."""

    error: float
    freedom: float
    spread: float


def _difference(p: float | None, ends: Ends | None, *, scale: Scale, size: float) -> Difference:
    varies = scale.error > 1e-12
    return Difference(
        p,
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        effect=size / scale.spread if varies else None,
        mde=detectable_effect(scale.error, scale.freedom) if varies else None,
        why=CONSTANT if ends is None else None,
        student=ends is not None and ends.kind == "bootstrap",
    )


def _paired_sums(
    a: Contribution, b: Contribution, *, settings: IntervalSettings
) -> tuple[Array, Array] | tuple[None, None]:
    """Both sides' resampled sums of very many clusters, drawn together, so that pairs stay pairs."""
    if not is_linearised(a) or a.totals is None or b.totals is None:
        return None, None
    both = np.column_stack([a.totals, b.totals])
    sums = normal_sums(both, resamples=settings.resamples, seed=settings.seed, strata=a.strata)
    return sums[:, : a.totals.shape[1]], sums[:, a.totals.shape[1] :]


def _swapped(a: Contribution, b: Contribution) -> tuple[Callable[[Array], Array], Array] | None:
    """The difference when clusters change sides, as a function of what each moves, if it is a sum over clusters.

    Else swapping tests something else.
    """
    if a.totals is None or b.totals is None or a.finish is None or a.pieces is not None or b.pieces is not None:
        return None
    finish, half, moves = a.finish, (a.totals + b.totals).sum(0) / 2, (a.totals - b.totals) / 2

    def swapped(moved: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(finish(half + moved) - finish(half - moved), dtype=np.float64)

    groups = np.random.default_rng(0).integers(3, size=(16, len(moves)))
    none, one, two, both = (
        swapped(np.where(moved, -1.0, 1.0) @ moves) for moved in (groups < 0, groups == 1, groups == 2, groups > 0)
    )
    scale = float(np.abs(none).max()) + float(np.abs(one).max()) + 1
    return (swapped, moves) if bool(np.all(np.abs(none - one - two + both) < 1e-9 * scale)) else None


def _flip(a: Estimate, b: Estimate, *, settings: IntervalSettings, shift: float = 0.0) -> float | None:
    if len(a.pseudo) == 1:
        return 1.0
    differences = a.pseudo - b.pseudo
    if np.isnan(differences).any():
        return None
    centred = _centred(differences, a.value - b.value - shift)
    p = sign_flip_test(centred, resamples=settings.resamples, seed=settings.seed)
    return max(p, student_test(centred)) if len(centred) <= FEW_CLUSTERS else p


def _welch(a: Estimate, b: Estimate, *, settings: IntervalSettings, shift: float) -> float | None:
    if min(len(a.pseudo), len(b.pseudo)) < 2 or np.isnan(a.pseudo).any() or np.isnan(b.pseudo).any():
        return None
    first, second = _centred(a.pseudo, a.value - shift), _centred(b.pseudo, b.value)
    p = welch_test(first, second, resamples=settings.resamples, seed=settings.seed)
    return max(p, recovered_p(a, b, shift=shift))


def _centred(pseudo: Array, value: float) -> Array:
    return np.asarray(pseudo - pseudo.mean() + value, dtype=np.float64)


def _join(table: Any, combine: Callable[..., Any]) -> tuple[float, float]:
    """The difference of two combined values from a table of their pieces' differences [a, b], in either order.

    For values the two are equal; for the ends of intervals they may differ, and the outer one is safe.
    """
    values = np.asarray(table)
    first, second = combine(-combine(-values, axis=1)), -combine(-combine(values, axis=0))
    return float(min(first, second)), float(max(first, second))


def _drawn(side: list[Estimate], pieces: Pieces | None) -> Array:
    return np.asarray((pieces.combine if pieces else np.min)([one.drawn for one in side], axis=0))


def _p_value(
    sides: Sides, pieces: Pieces | None, *, test: Callable[[Estimate, Estimate], float | None], shift: float = 0.0
) -> float | None:
    """The p of the test; of a metric made of pieces, the one at which the combined interval reaches `shift`."""
    above, below = [], []
    for one, two in product(*sides):
        p = test(one, two)
        if p is None:
            return None
        above.append(p / 2 if one.value - shift > two.value else 1 - p / 2)
        below.append(p / 2 if one.value - shift < two.value else 1 - p / 2)
    combine, shape = pieces.combine if pieces else np.min, (len(sides[0]), len(sides[1]))
    tails = -_join(-np.reshape(above, shape), combine)[0], _join(np.reshape(below, shape), combine)[1]
    return min(1.0, 2 * min(tails) * _meeting(sides))


def _within(ends: Ends | None, bounds: tuple[float, float]) -> Ends | None:
    """The ends, no further than two values of the scale can differ."""
    span = bounds[1] - bounds[0]
    return None if ends is None else replace(ends, low=max(-span, ends.low), high=min(span, ends.high))


def _meeting(sides: Sides) -> float:
    """By how much chances of a miss add up where the pieces of a mean meet, half of them on either side of each kink."""
    most = max(map(len, sides))
    return most / 2 if most > 3 else 1.0


def _ends(sides: Sides, pieces: Pieces | None, *, count: float, related: bool) -> Ends | None:
    level = 1 - 0.05 / _meeting(sides)
    intervals = [difference_ends(one, two, count=count, related=related, level=level) for one, two in product(*sides)]
    if None in intervals:
        return None
    combine, shape = pieces.combine if pieces else np.min, (len(sides[0]), len(sides[1]))
    low, high = (np.reshape([getattr(interval, name) for interval in intervals], shape) for name in ("low", "high"))
    kind = next((interval.kind for interval in intervals if interval and interval.kind != "bootstrap"), "bootstrap")
    return Ends(_join(low, combine)[0], _join(high, combine)[1], kind)
