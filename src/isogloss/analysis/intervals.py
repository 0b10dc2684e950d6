"""The interval of a contribution: the jackknife over clusters, or the bootstrap, BCa or Wilson where asked for."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import IsoglossError, UnknownName
from ..metrics import Contribution, Finish, Pieces
from ..stats import RESAMPLES
from ..stats.estimates import CONSTANT, WITHOUT, Estimate, find_ends, intraclass_correlation
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
    """How an interval is made: its kind, how many resamples, by which seed, and over which column besides clusters."""

    kind: str = "auto"
    resamples: int = RESAMPLES
    seed: int = 0
    over: str | None = None


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
    """The 95 % interval of a contribution's value, as `find_ends` says; that of a metric made of pieces has the combined
    ends of their intervals.
    """
    return interval_maker(contribution, settings, bounds=bounds)(0.95)


def interval_maker(
    contribution: Contribution,
    settings: IntervalSettings,
    *,
    bounds: tuple[float, float],
    parts: Sequence[Estimate] | None = None,
) -> Callable[[float], Interval]:
    """The interval as a function of its level; clusters are left out, or resampled, once for all levels.

    `parts` are the contribution's estimates, where they were found before.
    """
    count = fewest(contribution)
    if count < clusters_needed(bounds):
        return lambda level: Interval(None, None, settings.kind, too_few(count, bounds=bounds))
    if settings.kind == "wilson":
        return lambda level: _wilson(contribution, bounds=bounds, level=level)
    estimates = find_estimates(contribution, settings, bounds=bounds) if parts is None else parts
    if any(np.isnan(part.without).any() for part in estimates):
        return lambda level: Interval(None, None, settings.kind, WITHOUT)
    return lambda level: _joined_interval(estimates, contribution.pieces, settings=settings, bounds=bounds, level=level)


def _wilson(contribution: Contribution, *, bounds: tuple[float, float], level: float) -> Interval:
    share, width = _share(contribution, bounds), bounds[1] - bounds[0]
    if share is None:
        why = "no Wilson interval: the value is not a share of items that are separate clusters"
        return Interval(None, None, "wilson", why)
    low, high = wilson_interval(share, contribution.n, level=level)
    return Interval(bounds[0] + width * low, bounds[0] + width * high, "wilson")


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
    ends = [find_ends(part, kind=settings.kind, level=each) for part in parts]
    if None in ends:
        return Interval(None, None, settings.kind, CONSTANT)
    combine = pieces.combine if pieces else np.min
    low, high = (
        float(np.clip(combine([getattr(interval, name) for interval in ends]), *bounds)) for name in ("low", "high")
    )
    kinds = [interval.kind for interval in ends if interval]
    return Interval(low, high, "constant" if set(kinds) == {"constant"} else kinds[0])


def find_estimates(
    contribution: Contribution, settings: IntervalSettings, *, bounds: tuple[float, float]
) -> list[Estimate]:
    """The value with that without each cluster in turn; for a metric of pieces, of each of them."""
    totals = contribution.totals
    if contribution.pieces is None or totals is None:  # pieces are functions of sums
        return [_estimate(contribution, settings, bounds=bounds)]
    return [
        _estimate(
            replace(contribution, evaluate=_of_sums(totals, finish), finish=finish),
            settings,
            bounds=contribution.pieces.bounds,
        )
        for finish in contribution.pieces.finishes
    ]


def _of_sums(totals: Array, finish: Finish) -> Finish:
    return lambda weights: finish(weights @ totals)


def _estimate(contribution: Contribution, settings: IntervalSettings, *, bounds: tuple[float, float]) -> Estimate:
    clusters = len(contribution.clusters)
    with np.errstate(invalid="ignore", divide="ignore"):
        if contribution.totals is not None and contribution.finish is not None:
            without = contribution.finish(contribution.totals.sum(0) - contribution.totals)
        elif contribution.without is not None:
            without = contribution.without()
        else:
            without = jackknife_values(contribution.evaluate, clusters)
    estimate = Estimate(
        contribution.value, without, bounds, contribution.sizes, _likeness(contribution), contribution.strata
    )
    if settings.kind not in ("bootstrap", "bca") and bounds != (0, math.inf):
        return estimate
    return _with_draws(estimate, contribution, settings=settings)


def _likeness(contribution: Contribution) -> float:
    """The intraclass correlation of what the units of a cluster add to the value; 1 where that is not known."""
    totals, finish, sizes, within = contribution.totals, contribution.finish, contribution.sizes, contribution.within
    if totals is None or finish is None or sizes is None or within is None or np.ptp(sizes) == 0:
        return 1.0
    whole = totals.sum(0)
    steps = np.diag(1e-6 * np.maximum(np.abs(whole), 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        gradient = (finish(whole + steps) - finish(whole - steps)) / (2 * np.diag(steps))
    if not np.isfinite(gradient).all():
        return 1.0
    return intraclass_correlation(totals @ gradient, sizes, within=float(gradient @ within @ gradient))


def _with_draws(estimate: Estimate, contribution: Contribution, *, settings: IntervalSettings) -> Estimate:
    """The estimate with its resampled values, and the standard errors of those of a value without an upper bound."""
    pseudo, clusters, finish = estimate.pseudo, len(contribution.clusters), contribution.finish
    error = float(np.std(pseudo)) / math.sqrt(clusters - 1) if clusters > 1 else math.nan
    sampling: dict[str, Any] = {
        "strata": contribution.strata,
        "resamples": settings.resamples,
        "seed": settings.seed,
    }
    constant = np.full(settings.resamples, error)
    if clusters > MOST_DRAWN and contribution.totals is not None and finish is not None:
        return replace(estimate, drawn=finish(normal_sums(contribution.totals, **sampling)), drawn_errors=constant)
    if clusters > MOST_DRAWN and contribution.without is not None:
        normal = np.random.default_rng(settings.seed).standard_normal(settings.resamples)
        return replace(estimate, drawn=estimate.value + error * normal, drawn_errors=constant)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn, mean, square = (
            bootstrap_values(evaluate, clusters, **sampling)
            for evaluate in (contribution.evaluate, lambda w: w @ pseudo / clusters, lambda w: w @ pseudo**2 / clusters)
        )
    errors = np.sqrt(np.maximum(square - mean**2, 0) / (clusters - 1))
    return replace(estimate, drawn=drawn, drawn_errors=errors)


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
