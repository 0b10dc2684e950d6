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
    WITHOUT,
    Estimate,
    IntervalEnds,
    Scatter,
    find_scatter,
    is_constant,
    p_of_interval,
    paired_difference,
    paired_ends,
    unpaired_ends,
    welch_freedom,
)
from ..stats.hypotheses import detectable_effect
from ..stats.resampling import student_quantile
from .intervals import IntervalSettings, clusters_needed, fewest, find_estimates, interval_maker, too_few

Sides = tuple[list[Estimate], list[Estimate]]
MakeEnds = Callable[..., IntervalEnds | None]
EQUAL = "the two sides never differ, so there is nothing to test"


@dataclass(frozen=True, slots=True)
class Difference:
    """What is known about a difference; what is missing has its reason in `why`."""

    p: float | None
    low: float | None = None
    high: float | None = None
    effect: float | None = None
    mde: float | None = None
    why: str | None = None


def paired_test(
    a: Contribution, b: Contribution, *, bounds: tuple[float, float], settings: IntervalSettings, shift: float = 0.0
) -> Difference:
    """Clusters are left out as pairs; both sides have the same clusters in the same order.

    The p-value is that of a difference of `shift`, by the test that the interval inverts.
    """
    if fewest(a) < clusters_needed(bounds):
        return Difference(None, why=too_few(fewest(a), bounds=bounds))
    sides = find_estimates(a, settings, bounds=bounds), find_estimates(b, settings, bounds=bounds)
    if _has_gaps(sides):
        return Difference(None, why=WITHOUT)
    one, two = (_active(side, pieces=original.pieces) for side, original in zip(sides, (a, b), strict=True))
    active = paired_difference(one, two)
    if is_constant(active) and abs(a.value - b.value) < 1e-12:
        return Difference(1.0, why=EQUAL)
    scatter = find_scatter(active)
    scale = Scale(scatter, scatter.error * math.sqrt(len(a.clusters)))
    return _difference(sides, a.pieces or b.pieces, make=paired_ends, scale=scale, target=Target(bounds, shift))


def paired_p(sides: Sides, pieces: Pieces | None) -> float:
    """The p-value of `paired_test` from the estimates of both sides, which have the same clusters."""
    return 1.0 if _has_gaps(sides) else _p_value(sides, pieces, make=paired_ends, shift=0.0)


def threshold_test(
    a: Contribution, threshold: float, *, bounds: tuple[float, float], settings: IntervalSettings
) -> Difference:
    """A value against a fixed number: p is that at which the interval of the value reaches the number."""
    side = find_estimates(a, settings, bounds=bounds)
    make = interval_maker(a, settings, bounds=bounds, parts=side)
    ends = make(0.95)
    if ends.low is None or ends.high is None:
        return Difference(None, why=ends.why)
    low, high = ends.low, ends.high

    def holds(level: float) -> bool:
        wider = make(level)
        return wider.low is None or wider.high is None or wider.low <= threshold <= wider.high

    scatter = find_scatter(_active(side, pieces=a.pieces))
    varies = scatter.error > 1e-12
    return Difference(
        p_of_interval(holds),
        low - threshold,
        high - threshold,
        effect=(a.value - threshold) / (scatter.error * math.sqrt(len(a.clusters))) if varies else None,
        mde=_detectable(low, high, freedom=scatter.freedom) if varies else None,
    )


def unpaired_test(
    a: Contribution, b: Contribution, *, bounds: tuple[float, float], settings: IntervalSettings, shift: float = 0.0
) -> Difference:
    """Each side's clusters are left out on their own. The p-value is that of a difference of `shift`."""
    least = min(fewest(a), fewest(b))
    if least < clusters_needed(bounds):
        return Difference(None, why=f"on one side {too_few(least, bounds=bounds)}")
    other = replace(settings, seed=settings.seed + 1)
    sides = find_estimates(a, settings, bounds=bounds), find_estimates(b, other, bounds=bounds)
    if _has_gaps(sides):
        return Difference(None, why=WITHOUT)
    one, two = (
        find_scatter(_active(side, pieces=original.pieces)) for side, original in zip(sides, (a, b), strict=True)
    )
    counts = len(a.clusters), len(b.clusters)
    spread = math.sqrt((one.error**2 * counts[0] + two.error**2 * counts[1]) / 2)
    scale = Scale(Scatter(math.hypot(one.error, two.error), welch_freedom(one, two)), spread)
    return _difference(sides, a.pieces or b.pieces, make=unpaired_ends, scale=scale, target=Target(bounds, shift))


@dataclass(frozen=True, slots=True)
class Scale:
    """The standard error of a difference with its degrees of freedom, and the standard deviation between clusters."""

    scatter: Scatter
    spread: float


@dataclass(frozen=True, slots=True)
class Target:
    """The scale of the two values, and the difference that is tested."""

    bounds: tuple[float, float]
    shift: float


def _difference(sides: Sides, pieces: Pieces | None, *, make: MakeEnds, scale: Scale, target: Target) -> Difference:
    ends = _ends(sides, pieces, make=make)
    if ends is None:
        return Difference(1.0, why=CONSTANT)
    span = target.bounds[1] - target.bounds[0]  # no two values of the scale differ by more
    combine = pieces.combine if pieces else np.min
    size = float(combine([side.value for side in sides[0]]) - combine([side.value for side in sides[1]]))
    varies = scale.scatter.error > 1e-12
    widest = max([ends, *_possible(sides, pieces, make=make)], key=lambda one: one.high - one.low)
    return Difference(
        _p_value(sides, pieces, make=make, shift=target.shift),
        low=max(-span, ends.low),
        high=min(span, ends.high),
        effect=size / scale.spread if varies else None,
        mde=_detectable(widest.low, widest.high, freedom=scale.scatter.freedom) if varies else None,
    )


def _possible(sides: Sides, pieces: Pieces | None, *, make: MakeEnds) -> list[IntervalEnds]:
    """The intervals of the pieces that may be the values: those whose difference from the value is not shown.

    A true difference moves one side away from its kink. The test is then that of one piece, whose interval may be wider than
    the combined one.
    """
    if pieces is None:
        return []
    possible = []
    for side in sides:
        value = _active(side, pieces=pieces)
        apart = [paired_ends(part, value, level=0.95) if part is not value else None for part in side]
        possible.append(
            [part for part, ends in zip(side, apart, strict=True) if not ends or ends.low <= 0 <= ends.high]
        )
    intervals = [make(one, two, level=0.95) for one, two in product(*possible)]
    return [interval for interval in intervals if interval is not None]


def _detectable(low: float, high: float, *, freedom: float) -> float:
    """The true difference that is found with 80 % power by the test that this interval inverts: half its width is
    Student's quantile times the error that the test uses, whatever its pieces are.
    """
    return detectable_effect((high - low) / 2 / student_quantile(0.975, freedom), freedom)


def _has_gaps(sides: Sides) -> bool:
    return any(np.isnan(part.without).any() for side in sides for part in side)


def _active(side: list[Estimate], *, pieces: Pieces | None) -> Estimate:
    """The piece that is the value."""
    values = [part.value for part in side]
    return side[values.index((pieces.combine if pieces else np.min)(values))]


def _join(table: Any, combine: Callable[..., Any]) -> tuple[float, float]:
    """The difference of two combined values from a table of their pieces' differences [a, b], in either order.

    For values the two are equal; for the ends of intervals they may differ, and the outer one is safe.
    """
    values = np.asarray(table)
    first, second = combine(-combine(-values, axis=1)), -combine(-combine(values, axis=0))
    return float(min(first, second)), float(max(first, second))


def _p_value(sides: Sides, pieces: Pieces | None, *, make: MakeEnds, shift: float) -> float:
    """The p at which the interval reaches `shift`, of a metric made of pieces that of the combined interval."""
    above, below = [], []
    for one, two in product(*sides):
        p = _p_of_pair(one, two, make=make, shift=shift)
        above.append(p / 2 if one.value - shift > two.value else 1 - p / 2)
        below.append(p / 2 if one.value - shift < two.value else 1 - p / 2)
    combine, shape = pieces.combine if pieces else np.min, (len(sides[0]), len(sides[1]))
    tails = -_join(-np.reshape(above, shape), combine)[0], _join(np.reshape(below, shape), combine)[1]
    return min(1.0, 2 * min(tails) * _meeting(sides))


def _p_of_pair(one: Estimate, two: Estimate, *, make: MakeEnds, shift: float) -> float:
    """Student's p where the interval is Student's, and else the p at which the interval reaches `shift`."""
    if make is paired_ends and not is_constant(difference := paired_difference(one, two)):
        from scipy.special import stdtr

        scatter = find_scatter(difference)
        return 2 * float(stdtr(scatter.freedom, -abs(difference.value - shift) / scatter.error))

    def holds(level: float) -> bool:
        ends = make(one, two, level=level)
        return ends is None or ends.low <= shift <= ends.high

    return p_of_interval(holds)


def _meeting(sides: Sides) -> float:
    """By how much chances of a miss add up where the pieces of a mean meet, half of them on either side of each kink."""
    most = max(map(len, sides))
    return most / 2 if most > 3 else 1.0


def _ends(sides: Sides, pieces: Pieces | None, *, make: MakeEnds) -> IntervalEnds | None:
    level = 1 - 0.05 / _meeting(sides)
    intervals = [make(one, two, level=level) for one, two in product(*sides)]
    if None in intervals:
        return None
    combine, shape = pieces.combine if pieces else np.min, (len(sides[0]), len(sides[1]))
    low, high = (np.reshape([getattr(interval, name) for interval in intervals], shape) for name in ("low", "high"))
    return IntervalEnds(_join(low, combine)[0], _join(high, combine)[1], "jackknife")
