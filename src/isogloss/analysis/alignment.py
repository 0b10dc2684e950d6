"""Several groups on the items that all of them have, as one metric sees them, with the clusters in one order."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
import polars as pl

from ..metrics import Contribution, Finish, Metric, Pieces
from ..stats.resampling import Array
from .groups import Part, make_part
from .measures import contribution

FAR = 4.0  # standard errors at which a piece cannot be the least one
MOST_PIECES = 8
ITEMS, CLUSTERS, NOTHING = "items", "clusters", "nothing"  # what aligned groups have in common


@dataclass(frozen=True)
class Aligned:
    """Contributions on what they have in common: the same items, or else the same clusters, or else nothing."""

    sides: tuple[Contribution, ...]
    common: str


def align(groups: Sequence[pl.DataFrame | Part], metrics: Sequence[Metric], *, mode: str) -> Aligned | None:
    """Each group under its metric on the items that all have; nothing if a group has no item that can be measured.

    Groups of different items about the same clusters, such as two tasks, have the clusters in common.
    """
    parts = [rows if isinstance(rows, Part) else make_part(rows) for rows in groups]
    return align_sides(
        len(parts), lambda number, items: contribution(metrics[number], parts[number], mode=mode, items=items)
    )


def align_sides(count: int, contribute: Callable[[int, Sequence[str] | None], Contribution | None]) -> Aligned | None:
    """As `align`; `contribute` gives the contribution of the side with a number, on all of its items or on some."""
    sides = [side for number in range(count) if (side := contribute(number, None)) is not None]
    if len(sides) < count:
        return None
    ids = [side.ids for side in sides]
    shared = set.intersection(*ids)
    if 2 * len(shared) >= min(map(len, ids)):
        if any(len(side_clusters) > len(shared) for side_clusters in ids):
            names = sorted(shared)
            sides = [side for number in range(count) if (side := contribute(number, names)) is not None]
        return Aligned(same_order(sides), ITEMS) if len(sides) == count else None
    clusters = [set(side.clusters) for side in sides]
    if 2 * len(set.intersection(*clusters)) >= len(set.union(*clusters)):
        order = tuple(dict.fromkeys(name for side in sides for name in side.clusters))
        return Aligned(tuple(_in_order(side, order) for side in sides), CLUSTERS)
    return Aligned(tuple(sides), NOTHING)


def same_order(sides: Sequence[Contribution]) -> tuple[Contribution, ...]:
    """The contributions with the clusters that all of them have, in one order."""
    there = set.intersection(*(set(side.clusters) for side in sides))
    names = tuple(name for name in sides[0].clusters if name in there)
    return tuple(_in_order(side, names) for side in sides)


def _in_order(contribution: Contribution, names: tuple[str, ...]) -> Contribution:
    """The contribution with its clusters in this order; a cluster that it does not have counts for nothing."""
    if contribution.clusters == names:
        return contribution
    indices = {name: i for i, name in enumerate(contribution.clusters)}
    here = np.array([i for i, name in enumerate(names) if name in indices])
    index = np.array([indices[name] for name in names if name in indices])

    def evaluate(weights: Array) -> Array:
        full = np.zeros((len(weights), len(contribution.clusters)))
        full[:, index] = weights[:, here]
        return contribution.evaluate(full)

    totals = None
    if contribution.totals is not None:
        totals = np.zeros((len(names), contribution.totals.shape[1]))
        totals[here] = contribution.totals[index]
    sizes = None
    if contribution.sizes is not None:
        sizes = np.zeros(len(names))
        sizes[here] = contribution.sizes[index]
    strata = contribution.strata
    if strata is not None:
        strata = tuple(strata[indices[name]] if name in indices else "" for name in names)
    return replace(
        contribution, clusters=names, evaluate=evaluate, without=None, totals=totals, strata=strata, sizes=sizes
    )


def distance_from(side: Contribution, neutral: float) -> Contribution:
    """How far the value lies from the neutral point; where the metric is smooth, as the larger of two smooth pieces."""

    def evaluate(weights: Array) -> Array:
        return np.abs(side.evaluate(weights) - neutral)

    finish = side.finish
    if finish is None or side.totals is None or side.pieces is not None:
        return replace(side, evaluate=evaluate, totals=None, finish=None, pieces=None, alone=None, without=None)
    pieces = Pieces((lambda s: finish(s) - neutral, lambda s: neutral - finish(s)), bounds=(-100, 100), combine=np.max)
    return replace(side, evaluate=evaluate, finish=lambda s: np.abs(finish(s) - neutral), pieces=pieces, alone=None)


def mean_of(sides: Sequence[Contribution]) -> Contribution | None:
    """The mean of several contributions with the same clusters, each counting once; None where too many are near a kink."""
    if len(sides) == 1:
        return sides[0]

    def evaluate(weights: Array) -> Array:
        return np.asarray(np.mean([side.evaluate(weights) for side in sides], axis=0), dtype=np.float64)

    whole = Contribution(sides[0].clusters, evaluate, sum(side.n for side in sides), sum(side.ties for side in sides))
    sizes = [side.sizes for side in sides if side.sizes is not None]
    whole = replace(whole, sizes=np.mean(sizes, axis=0) if len(sizes) == len(sides) else None)
    if not any(side.pieces for side in sides) or any(side.totals is None for side in sides):
        return whole
    totals = [np.asarray(side.totals) for side in sides]
    ends = np.cumsum([0, *(columns_of_side.shape[1] for columns_of_side in totals)])
    columns = [slice(start, end) for start, end in pairwise(ends)]
    chosen = [
        tuple(product(_near_pieces(side), [columns_of_side]))
        for side, columns_of_side in zip(sides, columns, strict=True)
    ]
    ways = list(product(*chosen)) if math.prod(map(len, chosen)) <= MOST_PIECES else []
    if not ways:
        return None
    finishes = tuple(_mean_of_sums(way) for way in ways)
    bounds, combine = next((side.pieces.bounds, side.pieces.combine) for side in sides if side.pieces)
    pieces = Pieces(finishes, bounds=bounds, combine=combine, level=1 - 0.05 / max(1, len(ways) / 2))
    finish = _mean_of_sums(
        [(side.finish, columns_of_side) for side, columns_of_side in zip(sides, columns, strict=True) if side.finish]
    )
    return replace(whole, totals=np.hstack(totals), finish=finish, pieces=pieces)


def _mean_of_sums(way: Sequence[tuple[Finish, slice]]) -> Finish:
    """The mean of functions, each of its own columns of sums."""
    return lambda sums: np.asarray(np.mean([finish(sums[..., part]) for finish, part in way], axis=0))


def _near_pieces(side: Contribution) -> list[Finish]:
    """The smooth functions that may be the least (or the largest) one, as far as chance can tell."""
    if side.pieces is None or side.totals is None:
        return [side.finish] if side.finish else []
    count, whole = len(side.totals), side.totals.sum(0)
    sign = 1 if side.pieces.combine is np.min else -1
    values = [sign * float(finish(whole[None])[0]) for finish in side.pieces.finishes]
    without = [sign * finish(whole - side.totals) for finish in side.pieces.finishes]
    least = int(np.argmin(values))
    gaps = [value - values[least] for value in values]
    errors = [math.sqrt(count - 1) * float(np.std(pooled - without[least])) for pooled in without]
    kept = [gap <= FAR * error or number == least for number, (gap, error) in enumerate(zip(gaps, errors, strict=True))]
    return [finish for finish, keep in zip(side.pieces.finishes, kept, strict=True) if keep]
