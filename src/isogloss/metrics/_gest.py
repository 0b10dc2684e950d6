"""What the metrics of GEST share: how far a man is more expected than a woman, by stereotype."""

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

from ..errors import IsoglossError
from ..items import ANTI_STEREOTYPE, STEREOTYPE
from ..stats.resampling import Array
from . import Contribution, Metric, from_sums

MEN, WOMEN = "men", "women"
ABOUT = "about"
gest_metric = partial(Metric, citation="Pikuliak et al. (2024)", roles=(STEREOTYPE, ANTI_STEREOTYPE))


def has_stereotypes(rows: pl.DataFrame, *, of: tuple[str, ...]) -> bool:
    """Whether the rows say whom a stereotype is about, and are about all of these."""
    return {ABOUT, "target"} <= set(rows.columns) and set(of) <= set(rows[ABOUT].drop_nulls().unique())


def male_scores(items: pl.DataFrame) -> Array:
    """Per item the score of the man's sentence minus that of the woman's."""
    if not {ABOUT, "target"} <= set(items.columns):
        raise IsoglossError(
            "GEST's metrics need to know whom each stereotype is about; these items have no such columns."
        )
    sign = np.where(items[ABOUT].to_numpy() == MEN, 1.0, -1.0)
    return np.asarray(sign * (items[STEREOTYPE] - items[ANTI_STEREOTYPE]).to_numpy(), dtype=np.float64)


def compare_stereotypes(items: pl.DataFrame, *, finish: Callable[[Array], Array]) -> Contribution:
    """A function of: the mean over men's stereotypes of their mean scores, minus the same over women's.

    Every stereotype counts once, however many sentences it has.
    """
    scores = male_scores(items)
    names, members = np.unique(items["target"].to_numpy().astype(str), return_inverse=True)
    one = np.zeros((items.height, len(names)))
    one[np.arange(items.height), members] = 1.0
    about = dict(items.select("target", ABOUT).iter_rows())
    men = np.array([about[name] == MEN for name in names])

    def difference(sums: Array) -> Array:
        totals, counts = sums[..., : len(names)], sums[..., len(names) :]
        means = np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)
        return finish(_mean(means[..., men]) - _mean(means[..., ~men]))

    ties = int((scores == 0).sum())
    return from_sums(np.hstack([one * scores[:, None], one]), items["cluster"], finish=difference, ties=ties)


def _mean(values: Array) -> Array:
    """The mean over the last axis of what is a number; a resample may lack a stereotype."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(there, values, 0.0).sum(-1) / there.sum(-1), dtype=np.float64)
