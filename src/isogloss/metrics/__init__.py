"""Metrics: one file each; here is what a metric is: how items, cluster by cluster, become one number under any weights."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..errors import IsoglossError
from ..stats.resampling import Array, cluster_sums

Finish = Callable[[Array], Array]
SWAPS = ("mirror", "same", "none")
DIRECTIONS = ("higher", "lower")
TIES = "ties counted as published"


@dataclass(frozen=True, slots=True)
class Origin:
    """How a metric relates to its publication: what the published code computes, and what is computed here.

    `modes` is what `paper` changes against `corrected`, as the end of "the value with ..."; None where both are the same.
    `others` names metrics that are taken for this one, each with the reason.
    """

    code: str
    ours: str
    modes: str | None = None
    others: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How values are written: in full, where space is scarce, and in full as published."""

    full: str = ".2f"
    brief: str = ".2f"
    paper: str = ".2f"


PER_CENT = NumberFormat(brief=".1f")


@dataclass(frozen=True, slots=True)
class CompetenceLimit:
    """What makes a metric a measure of competence: below `least`, other metrics of the same quantity say nothing.

    `name` is its name in a sentence. The lower end of its interval is held against the limit; with `shortfall`, a
    sentence with {value} and {least}, it is the value itself, and a value that cannot be measured counts as zero.
    """

    least: float
    name: str
    shortfall: str = ""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Smooth functions of a group's sums, of which the metric's value is the least, or with `np.max` the largest.

    `level` is that of each one's interval; where more than two may meet it is more than 0.95.
    """

    finishes: tuple[Finish, ...]
    bounds: tuple[float, float]
    combine: Callable[..., Any] = np.min
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class Contribution:
    """A group as a metric sees it: named clusters, and the value for any weights on them.

    `evaluate` maps cluster weights [r, clusters] to values [r]; weights of one give the metric's value, resampled
    counts its bootstrap, a zero the jackknife. Where clusters must be drawn apart, `strata` names each one's stratum.
    `alone` gives the value of each cluster on its own, where that is cheap. A metric that is a function of sums has
    each cluster's `totals` and the function, `finish`; if it has a kink, `pieces` are the smooth functions it joins.
    `without` gives the value without each cluster in turn, where there is a faster way than `evaluate`. `items` are the
    ids that were used; if there are none, those of the rows. `unbiased` and `homogeneous` are what a model without any
    preference, or with the same one for every cluster, is expected to get from as many items. `sizes` are the clusters'
    numbers of units, and `within` the sums of squares and products of the units' sums around their cluster's mean: what
    the degrees of freedom of an interval depend on. `related_only` is the value over the items on which both related
    candidates win over the unrelated one, where there are such candidates. `groups` are the two that are compared, where the data
    names them; values above the neutral point favor the second.
    """

    clusters: tuple[str, ...]
    evaluate: Callable[[Array], Array]
    n: int
    ties: int = 0
    strata: tuple[str, ...] | None = None
    alone: Callable[[], Array] | None = None
    without: Callable[[], Array] | None = None
    totals: Array | None = None
    finish: Finish | None = None
    pieces: Pieces | None = None
    items: Sequence[str] | pl.Series | None = None
    unbiased: float | None = None
    homogeneous: float | None = None
    sizes: Array | None = None
    within: Array | None = None
    related_only: float | None = None
    groups: tuple[str, str] | None = None

    @property
    def value(self) -> float:
        return float(self.evaluate(np.ones((1, len(self.clusters))))[0])

    @property
    def ids(self) -> set[str]:
        return set() if self.items is None else set(self.items)


@dataclass(frozen=True, slots=True)
class Metric:
    """A number over a set of items; `contribute` gets a table and a mode, and says what the value is made of.

    With `roles`, the table has one row per item: its columns, and one score column per role.
    Without, it has the long table's rows of `quantity` (also those of one candidate against another).
    `fits` says whether the group's rows are ones that the metric is for.
    `swap` is what happens when stereotype and anti-stereotype change places: "mirror" around `neutral`, "same" or "none".

    What outputs need to know of it:

    * `short` is its name as a heading, `format` how its values are written; without them, its file name and its bounds decide.
    * `better` is "higher" or "lower"; without it, nearer to `neutral` is better. A metric with neither says why in
      `undirected`, and nobody can be ranked by it.
    * `headline` is its place among the metrics that papers and pages name first. Where one `leads`, tables show
      headlines only.
    * `competence` says whether it means anything only where a model is competent; `limit` makes it a measure of that.
    * `origin` explains it, `meaning` says it in a sentence. `above` and `below` are what a model does whose value is on
      that side of neutral.
    * `notes` says what readers of its corrected values need to know about the rows that they come from.
    * `per_class` says that clusters are classes, so that the value depends on what they are.
    * `not_mean` says what it is where it is not a mean over items; changes, plans and stopping rules need a mean.
    * `chance` is the chance level, in words; tables state it.
    """

    title: str
    formula: str
    citation: str
    caution: str
    contribute: Callable[[pl.DataFrame, str], Contribution]
    bounds: tuple[float, float] = (0, 100)
    neutral: float | None = None
    swap: str = "none"
    roles: tuple[str, ...] = ()
    quantity: str = "score"
    fits: Callable[[pl.DataFrame], bool] = lambda rows: True
    order: int = 100
    short: str = ""
    format: NumberFormat | None = None
    better: str | None = None
    undirected: str = ""
    headline: int | None = None
    leads: bool = False
    competence: bool = True
    limit: CompetenceLimit | None = None
    origin: Origin | None = None
    meaning: str = ""
    above: str = ""
    below: str = ""
    notes: Callable[[pl.DataFrame], list[str]] = lambda rows: []
    per_class: bool = False
    not_mean: str = ""
    chance: str = ""

    def __post_init__(self) -> None:
        """Refuse a law that does not exist; a metric in another package has no test that would find it."""
        if self.swap not in SWAPS or (self.swap == "mirror" and self.neutral is None):
            law = (
                f"'{self.swap}'; use {', '.join(SWAPS)}" if self.swap not in SWAPS else "mirror, which needs 'neutral'"
            )
            raise IsoglossError(f"The metric '{self.title}' has the swap law {law}.")
        if self.better is not None and self.better not in DIRECTIONS:
            raise IsoglossError(
                f"The metric '{self.title}' is better when '{self.better}'; use {' or '.join(DIRECTIONS)}."
            )

    def merit(self, value: float) -> float | None:
        """How good a value is, the better the higher; nothing for a metric without a better and worse."""
        if self.better is not None:
            return value if self.better == "higher" else -value
        return None if self.neutral is None else -abs(value - self.neutral)

    @property
    def directed(self) -> bool:
        """Whether one value can be better than another."""
        return self.better is not None or self.neutral is not None

    @property
    def numbers(self) -> NumberFormat:
        """How its values are written; where it does not say so, the width of its scale decides."""
        percentages = 10 < self.bounds[1] - self.bounds[0] < float("inf")  # a scale of 10 or less needs two decimals
        return self.format or (PER_CENT if percentages else NumberFormat())


def number_clusters(clusters: Iterable[str]) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """The number of each unit's cluster, counted in the order in which the clusters come first, and their names."""
    labels: dict[str, int] = {}
    index = np.fromiter((labels.setdefault(name, len(labels)) for name in clusters), dtype=np.int64)
    return index, tuple(labels)


def from_sums(
    sums: Array, clusters: Iterable[str], *, finish: Finish, n: int | None = None, ties: int = 0
) -> Contribution:
    """The contribution of a metric that is a function of sums: one row of `sums` and one cluster name per unit.

    Resampling clusters is then a matrix product. `n` is the number of units, unless the items are others. Without any
    unit, n is 0 and the value is not a number.
    """
    index, names = number_clusters(clusters)
    totals = cluster_sums(sums, index)

    def evaluate(weights: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return finish(weights @ totals)

    count = len(sums) if n is None else n
    sizes = np.bincount(index, minlength=len(names)).astype(np.float64)
    within = sums.T @ sums - totals.T @ (totals / np.maximum(sizes, 1)[:, None])
    whole = Contribution(names, evaluate, count, ties, alone=lambda: finish(totals), totals=totals, finish=finish)
    return replace(whole, sizes=sizes, within=within)


def ratio(sums: Array) -> Array:
    """The first sum over the second."""
    return np.asarray(sums[..., 0] / sums[..., 1])


def percent(sums: Array) -> Array:
    """100 · the first sum over the second."""
    return np.asarray(100 * sums[..., 0] / sums[..., 1])


def from_values(values: Array, clusters: Iterable[str], *, finish: Finish = ratio, ties: int = 0) -> Contribution:
    """The contribution of the mean of one value per unit, or with `percent` of 100 times the mean."""
    sums = np.column_stack([values, np.ones(len(values))])
    return from_sums(sums, clusters, finish=finish, ties=ties)
