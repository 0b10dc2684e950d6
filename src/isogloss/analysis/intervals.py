"""Which interval a value gets: bootstrap over clusters, BCa, or Wilson where every item stands for itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import IsoglossError, UnknownName
from ..metrics.contributions import Contribution
from ..stats import RESAMPLES
from ..stats.resampling import (
    FEWEST_CLUSTERS,
    bca_interval,
    bootstrap_values,
    expanded_level,
    percentile_interval,
    wilson_interval,
)

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

    `auto` is Wilson's where the value is a share of items that are each a cluster of their own, and else the
    bootstrap's. The percentiles are those that cover 95 % with so few clusters (see `expanded_level`).
    """
    count = len(found.clusters)
    if count < FEWEST_CLUSTERS:
        return Interval(None, None, drawing.kind, f"{count} clusters; an interval needs {FEWEST_CLUSTERS}")
    share = _share(found, bounds) if drawing.kind in ("auto", "wilson") else None
    if share is not None:
        low, high = wilson_interval(share, found.n)
        width = bounds[1] - bounds[0]
        return Interval(bounds[0] + width * low, bounds[0] + width * high, "wilson")
    if drawing.kind == "wilson":
        why = "no Wilson interval: the value is not a share of items that are each a cluster of their own"
        return Interval(None, None, "wilson", why)
    values = bootstrap_values(
        found.evaluate, count, strata=found.strata, resamples=drawing.resamples, seed=drawing.seed
    )
    if np.isnan(values).all():
        return Interval(None, None, drawing.kind, "the value exists in none of the resamples")
    if drawing.kind == "bca":
        return Interval(*bca_interval(found.evaluate, count, values=values, level=expanded_level(count)), "bca")
    return Interval(*percentile_interval(values, level=expanded_level(count)), "bootstrap")


def _share(found: Contribution, bounds: tuple[float, float]) -> float | None:
    """The value as a share of independent rows, if it is one: each cluster alone gives no or all, and ties a half."""
    if len(found.clusters) != found.n or found.strata is not None or found.alone is None:
        return None
    alone = (found.alone() - bounds[0]) / (bounds[1] - bounds[0])
    share = (found.value - bounds[0]) / (bounds[1] - bounds[0])
    halves = int(np.sum(alone == 0.5))
    whole = bool(np.isin(alone, (0.0, 0.5, 1.0)).all()) and halves <= found.ties
    return share if whole and abs(float(alone.mean()) - share) < 1e-9 else None
