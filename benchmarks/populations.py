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

from benchmarks import long_tables
from isogloss import registry
from isogloss.items import ANTI_STEREOTYPE, STEREOTYPE, UNRELATED
from isogloss.metrics import Contribution

MANY, FEWER = 20_000, 4_000
SHARES = (
    "ss",
    "ss_multiclass",
    "pair_score",
    "crows",
    "crows_stereo",
    "crows_antistereo",
    "contrast_share",
    "ss_choice",
)
SENTENCES = ("mbe", "shf")
GEST = ("gest", "gest_male", "gest_rate")
STEREOTYPES = 16


@dataclass(frozen=True)
class Case:
    """A metric on clusters of items.

    The preference of a cluster is logistic(centre + spread · normal) with the mean `share`. `sizes` are the fewest and most
    items of a cluster, or "skewed" (lognormal), "informative" (lognormal and the larger the more stereotyping), "split"
    (45 where the preference is above its median, else 9), or "huge" (one cluster of 600). `ties` is the share of ties, `tails` the distribution of the differences between scores.
    A tie is no answer for metrics of choices. For MBE and Shf, `clusters` and the first of `sizes` are the numbers of sentences
    of the two groups; with "wide" tails, the second group's scores vary three times as much. Templates: `long_tables.draw_scales`.
    """

    metric: str = "ss"
    clusters: int = 79
    sizes: tuple[int, int] | str = (20, 33)
    share: float = 0.6
    spread: float = 0.3
    related: float = 0.9
    ties: float = 0.03
    tails: str = "normal"

    @property
    def data(self) -> str:
        """The data in a few words, without the number of clusters."""
        if self.metric in SENTENCES:
            words = [
                f"{self.clusters} and {self.sizes[0]} sentences",
                *([] if self.share == 0.6 else [f"MBE {100 * self.share:g}"]),
            ]
            return ", ".join([*words, *([self.tails] if self.tails != "normal" else [])])  # fmt: skip
        if long_tables.is_template(self.metric):
            words = [f"{long_tables.CONCEPTS} concepts", f"{long_tables.TERMS} terms", f"spread {self.spread:g}"]
            return ", ".join([*words, *([self.tails] if self.tails != "normal" else [])])
        size = self.sizes if isinstance(self.sizes, str) else "{}-{} items".format(*self.sizes)
        words = [size, f"SS {100 * self.share:g}", f"spread {self.spread:g}"]
        words += [f"LMS {100 * self.related:g}"] if self.related != Case.related else []
        words += [f"{100 * self.ties:g} % ties"] if self.ties != Case.ties else []
        return ", ".join([*words, *([self.tails] if self.tails != "normal" else [])])

    @property
    def title(self) -> str:
        """The case in a few words."""
        return self.data if self.metric in SENTENCES else f"{self.clusters} clusters, {self.data}"


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
    if case.sizes == "split":
        return np.where(effects > 0, 45, 9)
    z = effects if case.sizes == "informative" else rng.normal(size=count)
    return np.maximum(1, np.round(27 * np.exp(z - 0.5))).astype(np.int64)


def draw_table(
    case: Case, rng: np.random.Generator, *, latent: Any = None, clusters: int | None = None
) -> pl.DataFrame:
    """One row per item with a score for each role; `latent` is what two sides of a pair share, from `draw_latent`."""
    effects, noise, index = latent if latent is not None else draw_latent(case, rng, clusters=clusters)
    chance = expit(centre(case.share, case.spread) + case.spread * effects)
    won = ndtr(noise) < chance[index]
    size = {
        "normal": lambda n: np.abs(rng.normal(size=n)),
        "skewed": lambda n: rng.exponential(size=n),
        "laplace": lambda n: rng.exponential(size=n),
        "heavy": lambda n: np.abs(rng.standard_t(3, size=n)),
    }[case.tails]
    gap = size(len(index)) * np.where(won, 1, -1)
    if case.metric == "contrast_variance":
        gap = size(len(index)) * rng.choice([-1, 1], len(index)) if case.tails != "skewed" else size(len(index))
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


def draw(case: Case, rng: np.random.Generator, *, clusters: int | None = None) -> Contribution:
    """A data set as the metric sees it: with its roles, or as the long table of pairs, answers, templates or sentences."""
    metric = registry.get("metric", case.metric)
    if long_tables.maker_of(metric, case.metric) is None:
        return contribute(case, draw_table(case, rng, clusters=clusters))
    return metric.contribute(draw_rows(case, rng, clusters=clusters), "corrected")


def draw_rows(case: Case, rng: np.random.Generator, *, clusters: int | None = None) -> pl.DataFrame:
    """The long table of answers, templates or sentences."""
    make = long_tables.maker_of(registry.get("metric", case.metric), case.metric)
    if make is None:
        raise ValueError(f"{case.metric} is a metric of pairs or triples.")
    return make(case, rng, clusters or case.clusters)


def contribute(case: Case, table: pl.DataFrame) -> Contribution:
    """The table as the metric sees it: with its roles, or as the long table of a pair."""
    metric = registry.get("metric", case.metric)
    if case.metric in GEST:
        stereotype = pl.col("cluster").cast(pl.Int64) % STEREOTYPES
        about = pl.when(stereotype < STEREOTYPES // 2).then(pl.lit("women")).otherwise(pl.lit("men"))
        table = table.with_columns(target=stereotype.cast(pl.String), about=about)
    if metric.quantity == "choice":
        scores = table.select(metric.roles).to_numpy()
        picks = (scores == scores.max(1, keepdims=True)) & (scores[:, :1] != scores[:, 1:2])
        table = table.with_columns(pl.Series(role, picks[:, i] * 1.0) for i, role in enumerate(metric.roles))
    if metric.roles:
        return metric.contribute(table, "corrected")
    long = table.drop(UNRELATED).unpivot(
        [STEREOTYPE, ANTI_STEREOTYPE], index=["id", "cluster"], variable_name="role", value_name="value"
    )
    direction = "antistereo" if case.metric == "crows_antistereo" else "stereo"
    kind = "explicit" if case.metric == "contrast_other" else "implicit"
    extra = {**long_tables.FIXED, "task": "pair", "direction": direction, "statement": kind}
    marked = long.with_columns(pl.lit(value).alias(name) for name, value in extra.items())
    if case.metric == "validity_gap":  # every other cluster holds stereotypes that the language does not know
        known = pl.when(pl.col("cluster").cast(pl.Int64) % 2 == 0).then(pl.lit("yes")).otherwise(pl.lit("no"))
        marked = marked.with_columns(valid=known)
    return metric.contribute(marked.with_columns(quantity=pl.lit(metric.quantity)), "corrected")


@cache
def truth_of(case: Case) -> float:
    """The value in the population; of macro ICAT at these sizes, of the corrected one at any."""
    rng = np.random.default_rng(7)
    if case.metric in SHARES or case.metric in ("icat", "icat_micro", "icat_macro_corrected"):
        effects = rng.normal(size=2 * 10**6)
        sizes = draw_sizes(case, effects, rng) if case.sizes in ("informative", "split") else np.ones(len(effects))
        sizes = (
            np.ones(len(effects)) if case.metric in ("ss_multiclass", "icat_micro", "icat_macro_corrected") else sizes
        )
        chance = expit(centre(case.share, case.spread) + case.spread * effects)
        chance = chance if case.metric == "ss_choice" else case.ties / 2 + (1 - case.ties) * chance
        if case.metric == "icat_macro_corrected":
            return float(200 * case.related * np.minimum(chance, 1 - chance).mean())
        share = float(np.average(chance, weights=sizes))
        return 100 * share if case.metric in SHARES else 200 * case.related * min(share, 1 - share)
    if case.metric in GEST:  # a gap has the mean of the half-normal distribution, and its sign the mean 2 · share - 1
        gap = (1 - case.ties) * (2 / np.pi) ** 0.5 * (2 * case.share - 1)
        return float({"gest": 2 * gap, "gest_male": 0.0, "gest_rate": 10 ** (2 * gap)}[case.metric])
    if case.metric in long_tables.QUESTIONS:
        return _truth_of_questions(case)
    simple = {"shf": case.share, "coverage_choice": 1 - case.ties}
    simple |= dict.fromkeys(("lms", "lms_multiclass", "sense_choice"), case.related)
    if case.metric in simple:
        return 100 * simple[case.metric]
    if case.metric in ("cb", "cb_normalised"):
        return (1 - 1 / long_tables.TERMS) * long_tables.mean_square_scale(case)
    if case.metric == "contrast_variance" and case.tails == "heavy":
        return 3.0
    whole = replace(case, sizes=(FEWER, FEWER)) if case.metric == "mbe" else case
    slow = long_tables.maker_of(registry.get("metric", case.metric), case.metric) is not None
    return draw(whole, rng, clusters=FEWER if slow else MANY).value


def _truth_of_questions(case: Case) -> float:
    """The true value of a metric of questions.

    Of answers without information the share `related` is right; of the others half of the wrong ones are right by luck.
    """
    if case.metric.startswith("accuracy"):
        lucky = 0.0 if case.metric in long_tables.AMBIGUOUS_METRICS else 0.5
        return 100 * (case.related + (1 - case.related) * lucky)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    biased = float(weights @ expit(np.log(case.share / (1 - case.share)) + case.spread * nodes) / weights.sum())
    bias = (1 - case.related) * (2 * biased - 1)
    if case.metric == "bias_adjusted_accuracy":
        return 100 * max(0.0, case.related - abs(bias))
    if case.metric == "cbbq_bias":
        wrong = (1 - case.related) * biased
        return 100 * (0.4 * wrong + 0.6 * (case.related / 2 + wrong))
    return 100 * bias


def draw_pair(a: Case, b: Case, rng: np.random.Generator, *, paired: bool) -> tuple[Contribution, Contribution]:
    """Two sides; paired, of the same clusters; items of pairs and triples have effects and noise that are half in common."""
    if not paired or long_tables.maker_of(registry.get("metric", a.metric), a.metric) is not None:
        return draw(a, rng), draw(b, rng)
    effects, noise, index = draw_latent(a, rng)
    sides = []
    for case in (a, b):
        own = (rng.normal(size=len(effects)), rng.normal(size=len(index)))
        latent = ((effects + own[0]) / 2**0.5, (noise + own[1]) / 2**0.5, index)
        sides.append(contribute(case, draw_table(case, rng, latent=latent)))
    return sides[0], sides[1]
