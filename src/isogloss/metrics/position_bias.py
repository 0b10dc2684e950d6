"""Position bias of choices: picks of each place, and of any."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl

from ..errors import IsoglossError
from ..stats.resampling import Array
from . import Contribution, Finish, Pieces, from_sums
from ._preferences import one_row_per_item, position_metric


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per item: how often the option in each place was picked."""
    if "places" not in rows.columns:
        raise IsoglossError("This metric is for choices in several orders; these items have no column 'places'.")
    items = one_row_per_item(rows, "places")
    count = int(rows.group_by("id").len()["len"].max() or 0)  # type: ignore[arg-type]
    places = [[list(item).count(place) for place in range(count)] for item in items["places"]]
    sums = np.array(places, dtype=np.float64).reshape(items.height, count)
    pairs = tuple(permutations(range(count), 2))

    def finish(sums: Array) -> Array:
        return np.asarray(100 * (sums.max(axis=-1) - sums.min(axis=-1)) / sums.sum(axis=-1))

    picked = sums.sum(1) > 0
    kept = items.filter(pl.Series(picked))
    contribution = from_sums(sums[picked], kept["cluster"], finish=finish)
    # the largest difference is the largest of the signed ones between two places; all of them share the error of 5 %
    pieces = Pieces(
        tuple(_difference(first, second) for first, second in pairs), (-100, 100), np.max, 1 - 0.05 / max(1, len(pairs))
    )
    return replace(contribution, pieces=pieces, items=kept["id"])


def _difference(first: int, second: int) -> Finish:
    return lambda sums: np.asarray(100 * (sums[..., first] - sums[..., second]) / sums.sum(axis=-1))


metric = position_metric(
    title="Position bias of choices",
    formula="100 · (largest - smallest share of picks that one position gets), every item asked in balanced orders",
    caution="With few answers, it is above 0 by chance. With one order per item, it also reflects the order of the candidates in the data.",
    contribute=contribute,
    fits=lambda rows: "places" in rows.columns and rows["places"].null_count() < rows.height,
    short="position",
    chance="0, and more with few answers",
    order=60,
)
