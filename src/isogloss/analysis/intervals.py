"""Which interval a value gets: bootstrap over clusters, BCa, or Wilson where every item stands for itself."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ..errors import IsoglossError, UnknownName
from ..metrics.contributions import Contribution, Finish
from ..stats import RESAMPLES
from ..stats.estimates import CONSTANT, Estimate, find_ends
from ..stats.resampling import FEWEST_CLUSTERS, Array, bootstrap_values, jackknife_values, wilson_interval

INTERVALS = ("auto", "bootstrap", "bca", "wilson")
FEWEST_RESAMPLES = 100


@dataclass(frozen=True, slots=True)
class Drawing:
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


def check_drawing(drawing: Drawing) -> Drawing:
    """Refuse an interval that does not exist, or too few resamples for one."""
    if drawing.kind not in INTERVALS:
        raise UnknownName("interval", drawing.kind, INTERVALS)
    if drawing.resamples < FEWEST_RESAMPLES:
        raise IsoglossError(
            f"{drawing.resamples} resamples are too few for an interval; give {FEWEST_RESAMPLES} or more."
        )
    return drawing


def find_interval(found: Contribution, drawing: Drawing, *, bounds: tuple[float, float]) -> Interval:
    """The 95 % interval of a contribution's value.

    `auto` is Wilson's where the value is a share of items that are each a cluster of their own, and else as
    `find_ends` says. A metric made of pieces has the combined ends of their intervals.
    """
    count = fewest(found)
    if count < FEWEST_CLUSTERS:
        return Interval(None, None, drawing.kind, too_few(count))
    share = _share(found, bounds) if drawing.kind in ("auto", "wilson") else None
    if share is not None:
        low, high = wilson_interval(share, found.n)
        width = bounds[1] - bounds[0]
        return Interval(bounds[0] + width * low, bounds[0] + width * high, "wilson")
    if drawing.kind == "wilson":
        why = "no Wilson interval: the value is not a share of items that are each a cluster of their own"
        return Interval(None, None, "wilson", why)
    parts = find_estimates(found, drawing, bounds=bounds)
    if any(np.isnan(part.drawn).all() for part in parts):
        return Interval(None, None, drawing.kind, "the value exists in none of the resamples")
    ends = [find_ends(part, bca=drawing.kind == "bca") for part in parts]
    if None in ends:
        return Interval(None, None, drawing.kind, CONSTANT)
    combine = found.pieces.combine if found.pieces else np.min
    low, high = (float(np.clip(combine([getattr(one, name) for one in ends]), *bounds)) for name in ("low", "high"))
    return Interval(low, high, next((one.kind for one in ends if one and one.kind != "bootstrap"), "bootstrap"))


def find_estimates(found: Contribution, drawing: Drawing, *, bounds: tuple[float, float]) -> list[Estimate]:
    """The value with its resampled values and its clusters' pseudo-values; for a metric of pieces, each of them."""
    totals = found.totals
    if found.pieces is None or totals is None:  # pieces are functions of sums
        return [_estimate(found, drawing, bounds=bounds)]
    return [
        _estimate(replace(found, evaluate=_of_sums(totals, finish), finish=finish), drawing, bounds=found.pieces.bounds)
        for finish in found.pieces.finishes
    ]


def _of_sums(totals: Array, finish: Finish) -> Finish:
    return lambda weights: finish(weights @ totals)


def _estimate(found: Contribution, drawing: Drawing, *, bounds: tuple[float, float]) -> Estimate:
    clusters = len(found.clusters)

    def draw(evaluate: Finish) -> Array:
        return bootstrap_values(evaluate, clusters, strata=found.strata, resamples=drawing.resamples, seed=drawing.seed)

    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = draw(found.evaluate)
        if found.totals is not None and found.finish is not None:
            without = found.finish(found.totals.sum(0) - found.totals)
        else:
            without = jackknife_values(found.evaluate, clusters)
    pseudo = clusters * found.value - (clusters - 1) * without
    errors = None
    if bounds == (0, math.inf):
        mean, square = draw(lambda weights: weights @ pseudo) / clusters, draw(lambda weights: weights @ pseudo**2)
        errors = np.sqrt(np.maximum(square / clusters - mean**2, 0) / (clusters - 1))
    return Estimate(found.value, drawn, pseudo, bounds, fewest(found), errors)


def fewest(found: Contribution) -> int:
    """The number of clusters, where they are drawn by stratum that of the smallest stratum."""
    return min(Counter(found.strata).values(), default=0) if found.strata is not None else len(found.clusters)


def too_few(count: int) -> str:
    """Why so few clusters have no interval."""
    return f"{count} cluster{'' if count == 1 else 's'}; an interval needs {FEWEST_CLUSTERS}"


def _share(found: Contribution, bounds: tuple[float, float]) -> float | None:
    """The value as a share of independent rows, if it is one: each cluster alone gives no or all, and ties a half."""
    if len(found.clusters) != found.n or found.strata is not None or found.alone is None or found.pieces is not None:
        return None
    alone = (found.alone() - bounds[0]) / (bounds[1] - bounds[0])
    share = (found.value - bounds[0]) / (bounds[1] - bounds[0])
    halves = int(np.sum(alone == 0.5))
    whole = bool(np.isin(alone, (0.0, 0.5, 1.0)).all()) and halves <= found.ties
    return share if whole and abs(float(alone.mean()) - share) < 1e-9 else None
