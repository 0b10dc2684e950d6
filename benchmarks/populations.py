"""Populations with a known truth: clusters of items whose preferences scatter, drawn anew for every simulated data set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from isogloss import registry
from isogloss.items import ANTI_STEREOTYPE, STEREOTYPE, UNRELATED
from isogloss.metrics import Contribution

MANY = 8_000


@dataclass(frozen=True)
class Case:
    """A metric on clusters of items; `before` is the coverage that version 0.1.0 had in the review of 2026.

    The preference of a cluster is logistic(centre + spread · normal) with the mean `share`. `sizes` are the fewest and most
    items of a cluster, or "skewed" (lognormal), "informative" (lognormal and the larger the more stereotyping), or "huge"
    (one cluster of 600). `ties` is the share of ties, `tails` the distribution of the differences between scores.
    """

    metric: str = "ss"
    clusters: int = 79
    sizes: tuple[int, int] | str = (20, 33)
    share: float = 0.6
    spread: float = 0.3
    related: float = 0.9
    ties: float = 0.03
    tails: str = "normal"
    before: float | None = None

    @property
    def title(self) -> str:
        """The case in a few words."""
        size = self.sizes if isinstance(self.sizes, str) else "{}-{} items".format(*self.sizes)
        return (
            f"{self.clusters} clusters, {size}, SS {100 * self.share:g}, LMS {100 * self.related:g}, spread {self.spread:g}"
            + (f", {self.tails}" if self.tails != "normal" else "")
        )


@cache
def centre(share: float, spread: float) -> float:
    """The centre whose logistic-normal mean is the share."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    return float(brentq(lambda c: float(weights @ expit(c + spread * nodes)) - share, -15, 15))


def draw_sizes(case: Case, effects: Any, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """How many items each cluster has."""
    count = len(effects)
    if not isinstance(case.sizes, str):
        return rng.integers(case.sizes[0], case.sizes[1] + 1, count)
    if case.sizes == "huge":
        sizes = rng.integers(20, 34, count)
        sizes[:: case.clusters] = 600
        return sizes
    z = effects if case.sizes == "informative" else rng.normal(size=count)
    return np.maximum(1, np.round(27 * np.exp(z - 0.5))).astype(np.int64)


def draw_table(
    case: Case, rng: np.random.Generator, *, latent: Any = None, clusters: int | None = None
) -> pl.DataFrame:
    """One row per item with a score for each role; `latent` is what two sides of a pair share, from `draw_latent`."""
    effects, noise, index = latent if latent is not None else draw_latent(case, rng, clusters=clusters)
    chance = expit(centre(case.share, case.spread) + case.spread * effects)
    won = ndtr(noise) < chance[index]
    size = {"normal": lambda n: np.abs(rng.normal(size=n)), "skewed": lambda n: rng.exponential(size=n)}[case.tails]
    gap = size(len(index)) * np.where(won, 1, -1)
    if case.metric == "contrast_variance":
        gap = size(len(index)) * rng.choice([-1, 1], len(index)) if case.tails == "normal" else size(len(index))
    gap = np.where(rng.random(len(index)) < case.ties, 0.0, gap)
    odd = np.where(rng.random(len(index)) < case.related, -100.0, 100.0)
    return pl.DataFrame(
        {
            "id": pl.Series(np.arange(len(index))).cast(pl.String),
            "cluster": pl.Series(index).cast(pl.String),
            STEREOTYPE: gap / 2,
            ANTI_STEREOTYPE: -gap / 2,
            UNRELATED: odd,
        }
    )


def draw_latent(case: Case, rng: np.random.Generator, *, clusters: int | None = None) -> tuple[Any, Any, Any]:
    """The effects of the clusters, the noise of the items, and the items' clusters."""
    effects = rng.normal(size=clusters or case.clusters)
    index = np.repeat(np.arange(len(effects)), draw_sizes(case, effects, rng))
    return effects, rng.normal(size=len(index)), index


def contribute(case: Case, table: pl.DataFrame) -> Contribution:
    """The table as the metric sees it: with its roles, or as the long table of a pair."""
    metric = registry.get("metric", case.metric)
    if metric.roles:
        return metric.contribute(table, "corrected")
    fixed = {"model": "m", "method": "x", "dataset": "d", "language": "en", "task": "pair", "category": "gender"}
    long = table.drop(UNRELATED).unpivot(
        [STEREOTYPE, ANTI_STEREOTYPE], index=["id", "cluster"], variable_name="role", value_name="value"
    )
    extra = [pl.lit(value).alias(name) for name, value in fixed.items()]
    return metric.contribute(
        long.with_columns(*extra, quantity=pl.lit(metric.quantity), direction=pl.lit("stereo")), "corrected"
    )


@cache
def truth_of(case: Case) -> float:
    """The value of very many clusters of the same kind; of macro ICAT at these sizes, of the corrected one at any."""
    case, rng = replace(case, before=None), np.random.default_rng(7)
    if case.metric == "icat_macro_corrected":
        chance = expit(centre(case.share, case.spread) + case.spread * rng.normal(size=10**6))
        chance = case.ties / 2 + (1 - case.ties) * chance
        return float(200 * case.related * np.minimum(chance, 1 - chance).mean())
    return contribute(case, draw_table(case, rng, clusters=MANY)).value


def draw_pair(a: Case, b: Case, rng: np.random.Generator, *, paired: bool) -> tuple[Contribution, Contribution]:
    """Two sides; paired, of the same items, whose effects and noise are half in common."""
    if not paired:
        return contribute(a, draw_table(a, rng)), contribute(b, draw_table(b, rng))
    effects, noise, index = draw_latent(a, rng)
    sides = []
    for case in (a, b):
        own = (rng.normal(size=len(effects)), rng.normal(size=len(index)))
        latent = ((effects + own[0]) / 2**0.5, (noise + own[1]) / 2**0.5, index)
        sides.append(contribute(case, draw_table(case, rng, latent=latent)))
    return sides[0], sides[1]
