"""Which interval a value gets: bootstrap over clusters, BCa, or Wilson where every item is a cluster of its own."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import IsoglossError, UnknownName
from ..metrics import Contribution, Finish, Pieces
from ..stats import RESAMPLES
from ..stats.estimates import CONSTANT, Estimate, find_ends
from ..stats.resampling import (
    FEWEST_CLUSTERS,
    FEWEST_UNBOUNDED,
    MOST_DRAWN,
    Array,
    bootstrap_values,
    jackknife_values,
    normal_sums,
    wilson_interval,
)

INTERVALS = ("auto", "bootstrap", "bca", "wilson")
FEWEST_RESAMPLES = 100


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """How an interval is made: its kind, how many resamples, by which seed."""

    kind: str = "auto"
    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends and the kind it is; without ends, `why` says why."""

    low: float | None
    high: float | None
    kind: str
    why: str | None = None


def check_interval_settings(settings: IntervalSettings) -> IntervalSettings:
    """Refuse an interval that does not exist, or too few resamples for one."""
    if settings.kind not in INTERVALS:
        raise UnknownName("interval", settings.kind, INTERVALS)
    if settings.resamples < FEWEST_RESAMPLES:
        raise IsoglossError(
            f"{settings.resamples} resamples are too few for an interval; give {FEWEST_RESAMPLES} or more."
        )
    return settings


def find_interval(contribution: Contribution, settings: IntervalSettings, *, bounds: tuple[float, float]) -> Interval:
    """The 95 % interval of a contribution's value.

    `auto` is Wilson's where the value is a share of items that are each a cluster of their own, and else as
    `find_ends` says. A metric made of pieces has the combined ends of their intervals.
    """
    return interval_maker(contribution, settings, bounds=bounds)(0.95)


def interval_maker(
    contribution: Contribution,
    settings: IntervalSettings,
    *,
    bounds: tuple[float, float],
    parts: Sequence[Estimate] | None = None,
) -> Callable[[float], Interval]:
    """The interval as a function of its level; clusters are resampled once for all levels.

    `parts` are the contribution's estimates, where they were found before.
    """
    count, width = fewest(contribution), bounds[1] - bounds[0]
    if count < clusters_needed(bounds):
        return lambda level: Interval(None, None, settings.kind, too_few(count, bounds=bounds))
    share = _share(contribution, bounds) if settings.kind in ("auto", "wilson") else None
    if share is not None:

        def wilson(level: float) -> Interval:
            low, high = wilson_interval(share, contribution.n, level=level)
            return Interval(bounds[0] + width * low, bounds[0] + width * high, "wilson")

        return wilson
    if settings.kind == "wilson":
        why = "no Wilson interval: the value is not a share of items that are each a cluster of their own"
        return lambda level: Interval(None, None, "wilson", why)
    estimates = find_estimates(contribution, settings, bounds=bounds) if parts is None else parts
    if any(np.isnan(part.drawn).all() for part in estimates):
        return lambda level: Interval(None, None, settings.kind, "the value exists in none of the resamples")
    return lambda level: _joined_interval(estimates, contribution.pieces, settings=settings, bounds=bounds, level=level)


def _joined_interval(
    parts: Sequence[Estimate],
    pieces: Pieces | None,
    *,
    settings: IntervalSettings,
    bounds: tuple[float, float],
    level: float,
) -> Interval:
    """The interval of a value from those of its pieces, each of which misses as rarely as the pieces say at 95 %."""
    each = 1 - (1 - level) * (1 - pieces.level) / 0.05 if pieces else level
    ends = [find_ends(part, bca=settings.kind == "bca", level=each) for part in parts]
    if None in ends:
        return Interval(None, None, settings.kind, CONSTANT)
    combine = pieces.combine if pieces else np.min
    low, high = (
        float(np.clip(combine([getattr(interval, name) for interval in ends]), *bounds)) for name in ("low", "high")
    )
    return Interval(
        low, high, next((interval.kind for interval in ends if interval and interval.kind != "bootstrap"), "bootstrap")
    )


def find_estimates(
    contribution: Contribution,
    settings: IntervalSettings,
    *,
    bounds: tuple[float, float],
    sums: Array | None = None,
) -> list[Estimate]:
    """The value with its resampled values and its clusters' pseudo-values; for a metric of pieces, each of them.

    `sums` are the resampled sums of very many clusters, where they were drawn together with another side's.
    """
    totals = contribution.totals
    if sums is None and is_linearised(contribution) and totals is not None:
        sampling = {"resamples": settings.resamples, "seed": settings.seed}
        sums = normal_sums(totals, strata=contribution.strata, **sampling)
    if contribution.pieces is None or totals is None:  # pieces are functions of sums
        return [_estimate(contribution, settings, bounds=bounds, sums=sums)]
    return [
        _estimate(
            replace(contribution, evaluate=_of_sums(totals, finish), finish=finish),
            settings,
            bounds=contribution.pieces.bounds,
            sums=sums,
        )
        for finish in contribution.pieces.finishes
    ]


def is_linearised(contribution: Contribution) -> bool:
    """Whether there are enough clusters that their resampled sums are drawn from the normal distribution."""
    return contribution.totals is not None and len(contribution.clusters) > MOST_DRAWN


def _of_sums(totals: Array, finish: Finish) -> Finish:
    return lambda weights: finish(weights @ totals)


def _estimate(
    contribution: Contribution, settings: IntervalSettings, *, bounds: tuple[float, float], sums: Array | None
) -> Estimate:
    clusters = len(contribution.clusters)

    def draw(evaluate: Finish) -> Array:
        return bootstrap_values(
            evaluate, clusters, strata=contribution.strata, resamples=settings.resamples, seed=settings.seed
        )

    with np.errstate(invalid="ignore", divide="ignore"):
        if contribution.totals is not None and contribution.finish is not None:
            without = contribution.finish(contribution.totals.sum(0) - contribution.totals)
        elif contribution.without is not None:
            without = contribution.without()
        else:
            without = jackknife_values(contribution.evaluate, clusters)
        pseudo = clusters * contribution.value - (clusters - 1) * without
        if sums is not None and contribution.finish:
            drawn = contribution.finish(sums)
        elif contribution.without is not None and clusters > MOST_DRAWN:
            rng, error = np.random.default_rng(settings.seed), float(np.std(pseudo)) / math.sqrt(clusters - 1)
            drawn = contribution.value + error * rng.standard_normal(settings.resamples)
        else:
            drawn = draw(contribution.evaluate)
    errors = None
    if bounds == (0, math.inf) and sums is not None:
        errors = np.full(len(drawn), float(np.std(pseudo)) / math.sqrt(clusters - 1))
    elif bounds == (0, math.inf):
        mean, square = draw(lambda weights: weights @ pseudo) / clusters, draw(lambda weights: weights @ pseudo**2)
        errors = np.sqrt(np.maximum(square / clusters - mean**2, 0) / (clusters - 1))
    return Estimate(contribution.value, drawn, pseudo, bounds, fewest(contribution), errors)


def fewest(contribution: Contribution) -> int:
    """The number of clusters, where they are drawn by stratum that of the smallest stratum."""
    return (
        min(Counter(contribution.strata).values(), default=0)
        if contribution.strata is not None
        else len(contribution.clusters)
    )


def clusters_needed(bounds: tuple[float, float]) -> int:
    """How many clusters an interval of a value with these bounds needs."""
    return FEWEST_UNBOUNDED if bounds == (0, math.inf) else FEWEST_CLUSTERS


def too_few(count: int, *, bounds: tuple[float, float]) -> str:
    """Why so few clusters have no interval."""
    value = " of a value without an upper bound" if clusters_needed(bounds) > FEWEST_CLUSTERS else ""
    return f"{count} cluster{'' if count == 1 else 's'}; an interval{value} needs {clusters_needed(bounds)}"


def _share(contribution: Contribution, bounds: tuple[float, float]) -> float | None:
    """The value as a share of independent rows, if it is one: each cluster alone gives no or all, and ties a half."""
    if (
        len(contribution.clusters) != contribution.n
        or contribution.strata is not None
        or contribution.alone is None
        or contribution.pieces is not None
        or not np.isfinite(bounds).all()
    ):
        return None
    alone = (contribution.alone() - bounds[0]) / (bounds[1] - bounds[0])
    share = (contribution.value - bounds[0]) / (bounds[1] - bounds[0])
    halves = int(np.sum(alone == 0.5))
    whole = bool(np.isin(alone, (0.0, 0.5, 1.0)).all()) and halves <= contribution.ties
    return share if whole and abs(float(alone.mean()) - share) < 1e-9 else None
