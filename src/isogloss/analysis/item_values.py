"""A metric item by item: what each item adds to a mean, on several sides, for changes, stopping and planning."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from .. import registry
from ..errors import IsoglossError
from ..metrics import Contribution, Metric, percent, ratio
from ..stats.resampling import Array
from .headlines import neutral_headlines
from .measures import contribution, fitting_metrics

OFFERED = "Use a metric that is a mean over items, such as ss, lms or crows"
UNIT = "unit"  # an item's name among all of a table's


def get_mean_metric(name: str) -> Metric:
    """The metric of that name; one that is not a mean over items, such as ICAT, is refused."""
    metric: Metric = registry.get("metric", name)
    if metric.not_mean:
        raise IsoglossError(f"'{name}' is not a mean over items but {metric.not_mean}. {OFFERED}.")
    return metric


def default_metric(rows: pl.DataFrame) -> str:
    """The metric that speaks for the rows' preferences: of the means over items, the first headline with a neutral value."""
    fitting = fitting_metrics(rows)
    names = [*neutral_headlines(fitting), *(name for name in fitting if fitting[name].neutral is not None)]
    return next((name for name in names if not fitting[name].not_mean), next(iter(fitting)))


def values_by_item(rows: pl.DataFrame, name: str, *, mode: str) -> pl.DataFrame:
    """One row per item with its `value` on the metric's scale and its `weight`; items without a value are left out.

    `rows` have a column `unit` that names each item; the metric sees every item as a cluster of its own.
    """
    metric = get_mean_metric(name)
    alone = rows.with_columns(pl.col(UNIT).alias("cluster"), pl.col(UNIT).alias("id"))
    contributed = contribution(metric, alone, mode=mode)
    empty = pl.DataFrame(schema={UNIT: pl.String, "value": pl.Float64, "weight": pl.Float64})
    if contributed is None:
        return empty
    totals = totals_of(contributed, name)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = scale_of(contributed) * totals[:, 0] / totals[:, 1]
    table = pl.DataFrame({UNIT: contributed.clusters, "value": values, "weight": totals[:, 1]}, schema=empty.schema)
    return table.filter(pl.col("weight") > 0)


def totals_of(contributed: Contribution, name: str) -> Array:
    """Each cluster's sum and count; a metric that is not their ratio is refused."""
    if contributed.totals is None or contributed.totals.shape[1] != 2 or contributed.finish not in (percent, ratio):
        raise IsoglossError(f"'{name}' is not a mean over items. {OFFERED}.")
    return contributed.totals


def scale_of(contributed: Contribution) -> float:
    """What the ratio of sums is multiplied with."""
    return 100.0 if contributed.finish is percent else 1.0


def with_unit(table: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """The rows with the name of their item in `unit`: all of its key in one text."""
    return table.with_columns(pl.concat_str([pl.col(name).cast(pl.String) for name in key], separator="\t").alias(UNIT))


def wide_values(sides: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The values of the items that all sides have, one column per side."""
    wide: pl.DataFrame | None = None
    for side, table in sides.items():
        named = table.select(UNIT, pl.col("value").alias(side))
        wide = named if wide is None else wide.join(named, on=UNIT, how="inner", maintain_order="left")
    return wide if wide is not None else pl.DataFrame()
