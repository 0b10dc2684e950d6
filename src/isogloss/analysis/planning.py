"""Planning: how many items and clusters a study needs to see a difference, from a pilot run or published scores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from ..errors import IsoglossError
from ..metrics import number_clusters
from ..scores import KEY, Scored, check_scored
from ..stats.hypotheses import LEVEL, POWER
from ..stats.resampling import FEWEST_CLUSTERS, Array, student_quantile
from .groups import check_rows
from .item_values import UNIT, default_metric, values_by_item, wide_values, with_unit

FIXED, PAIRED, INDEPENDENT = "fixed", "paired", "independent"
DESIGNS = {
    FIXED: "one run against a fixed number",
    PAIRED: "two runs on the same items, which agree as much as the two pilot runs",
    INDEPENDENT: "two runs on the same items, of whose agreement nothing is known",
}


@dataclass(frozen=True, slots=True)
class SizePlan:
    """The number of clusters and items needed to detect a difference with a given power; `at_hand` is the number in the pilot's data.

    `spread` is the standard deviation of a cluster's weighted mean, and `per_cluster` the items of one. `tokens`,
    `seconds` and `cost` are those of one run, where the pilot has them.
    """

    metric: str
    design: str
    difference: float
    power: float
    clusters: int
    items: int
    at_hand: int
    spread: float
    per_cluster: float
    smallest: float
    """The smallest difference that all clusters at hand show with this power."""
    group: Mapping[str, str] = field(default_factory=dict)
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None

    @property
    def enough(self) -> bool:
        """Whether data as large as the pilot's are enough."""
        return self.clusters <= self.at_hand


def plan_size(
    pilot: Scored,
    other: Scored | None = None,
    *,
    difference: float,
    metric: str | None = None,
    power: float = POWER,
) -> SizePlan:
    """The items and clusters that show a difference between two runs on the same items, two-sided at 5 %.

    Parameters:
        pilot: Scores of one run, or published ones, on items like those to come.
        other: Scores of a second run on the same items; without it, nothing is assumed about how far two runs agree.
        difference: The true difference that should be seen, in units of the metric.
        metric: A mean over items; without it SS, or the CrowS-Pairs score of pairs.
        power: The probability of detecting it.
    """
    tables = [
        with_unit(check_rows(check_scored(side, "plan_size")), KEY) for side in (pilot, other) if side is not None
    ]
    name = metric or default_metric(tables[0])
    if other is not None:
        return _plan(tables, name, design=PAIRED, difference=difference, power=power)
    return _plan(tables, name, design=INDEPENDENT, difference=difference, power=power)


def plan_distance(pilot: Scored, *, difference: float, metric: str | None = None, power: float = POWER) -> SizePlan:
    """The items and clusters that show that one run lies `difference` from a fixed number; otherwise as `plan_size`."""
    table = with_unit(check_rows(check_scored(pilot, "plan_distance")), KEY)
    return _plan([table], metric or default_metric(table), design=FIXED, difference=difference, power=power)


def _plan(tables: Sequence[pl.DataFrame], name: str, *, design: str, difference: float, power: float) -> SizePlan:
    if difference <= 0 or not 0 < power < 1:
        raise IsoglossError("The difference must be above 0, and the power between 0 and 1.")
    wide = wide_values({str(n): values_by_item(table, name, mode="corrected") for n, table in enumerate(tables)})
    facts = tables[0].select(UNIT, "cluster").unique(UNIT, keep="first")
    wide = wide.join(facts, on=UNIT, how="left", maintain_order="left")
    values = (wide["1"] - wide["0"] if design == PAIRED else wide["0"]).to_numpy()
    sums, sizes = _cluster_totals(values, wide["cluster"])
    if len(sizes) < FEWEST_CLUSTERS:
        raise IsoglossError(f"The pilot has {len(sizes)} clusters; a plan needs {FEWEST_CLUSTERS}.")
    deviations = (sums - sums.sum() / sizes.sum() * sizes) / sizes.mean()
    spread = float(np.sqrt((deviations**2).sum() / (len(sizes) - 1)))
    spread *= math.sqrt(2) if design == INDEPENDENT else 1.0  # two runs, each as uncertain as the pilot
    clusters = clusters_needed(spread, difference, power=power)
    smallest = _reach(len(sizes), power) * spread / math.sqrt(len(sizes))
    items = math.ceil(clusters * sizes.mean())
    return SizePlan(name, design, difference, power, clusters, items, len(sizes), spread, float(sizes.mean()), smallest)


def clusters_needed(spread: float, difference: float, *, power: float = POWER) -> int:
    """The least number of clusters, at least as many as an interval needs, whose detectable effect is the difference."""
    low, high = FEWEST_CLUSTERS, FEWEST_CLUSTERS
    while _reach(high, power) * spread / math.sqrt(high) > difference:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if _reach(middle, power) * spread / math.sqrt(middle) > difference:
            low = middle + 1
        else:
            high = middle
    return high


def _reach(clusters: int, power: float) -> float:
    """The standard errors between nothing and the smallest difference that is seen with the power."""
    return student_quantile(1 - LEVEL / 2, clusters - 1) + student_quantile(power, clusters - 1)


def _cluster_totals(values: Array, clusters: pl.Series) -> tuple[Array, Array]:
    index, names = number_clusters(clusters)
    sums, sizes = np.bincount(index, weights=values, minlength=len(names)), np.bincount(index)
    return sums.astype(np.float64), sizes.astype(np.float64)
