"""Intervals over two kinds of clusters at once: over new targets and new wordings, where items share both."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from ..errors import IsoglossError
from ..metrics import Contribution, Metric
from ..stats.estimates import Estimate, Scatter, find_scatter, is_constant, student_ends
from .groups import Part, make_part
from .intervals import Interval, IntervalSettings, clusters_needed, fewest, find_estimates, too_few

KIND = "two-way"
OF_CLUSTERS = "its value depends on the clusters, so it has no interval over two kinds of them"
Contribute = Callable[[Metric, Part], Contribution | None]


def check_over(table: pl.DataFrame, column: str) -> None:
    """Refuse a column whose values cannot be clusters."""
    if column not in table.columns or table[column].null_count():
        raise IsoglossError(f"Intervals cannot be over '{column}': not every score has a value in that column.")


def find_two_way(
    metric: Metric, part: Part, *, column: str, contribute: Contribute, settings: IntervalSettings
) -> Interval:
    """The interval over new clusters and new values of a column (Cameron, Gelbach and Miller 2011).

    The variance is that over clusters plus that over the column minus that over both together, and no smaller than either
    of the first two; Student's degrees of freedom are the fewer of the two.
    """
    both = pl.concat_str(pl.col("cluster", column).cast(pl.String), separator="\x1f")
    clusters = [pl.col("cluster"), pl.col(column).cast(pl.String), both]
    sides = [contribute(metric, make_part(part.rows.with_columns(cluster=one))) for one in clusters]
    if any(side is None for side in sides):
        return Interval(None, None, KIND, "no item of the group has what this metric needs")
    scatters = [side for side in sides if side is not None]
    if max(abs(side.value - scatters[0].value) for side in scatters) > 1e-9 * max(1.0, abs(scatters[0].value)):
        return Interval(None, None, KIND, OF_CLUSTERS)
    least = min(fewest(side) for side in scatters[:2])
    if least < clusters_needed(metric.bounds):
        return Interval(None, None, KIND, too_few(least, bounds=metric.bounds))
    estimates = [find_estimates(side, settings, bounds=metric.bounds) for side in scatters]
    ends = [_ends(pieces) for pieces in zip(*estimates, strict=True)]
    if any(end is None for end in ends):
        return Interval(None, None, KIND, "the values do not vary, so there is no interval")
    pieces = scatters[0].pieces
    combine = pieces.combine if pieces else np.min
    low, high = (float(np.clip(combine([end[k] for end in ends if end]), *metric.bounds)) for k in (0, 1))
    return Interval(low, high, KIND)


def _ends(sides: Sequence[Estimate]) -> tuple[float, float] | None:
    """The ends of one piece from its estimates over clusters, over the column, and over both together."""
    if any(np.isnan(side.without).any() for side in sides) or all(map(is_constant, sides)):
        return None
    scatters = [find_scatter(side) for side in sides]
    first, second, together = (scatter.error**2 for scatter in scatters)
    error = max(first, second, first + second - together) ** 0.5
    freedom = min(scatter.freedom for scatter in scatters[:2])
    ends = student_ends(sides[0], Scatter(error, freedom), level=0.95)
    return ends.low, ends.high
