"""Annotators: how far people agree on the labels of a data set, and what models prefer where they all agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from .. import registry
from ..errors import IsoglossError
from ..items import ANNOTATORS, Item, Items
from ..metrics import from_sums
from ..results import Results
from ..scores import Scored
from ..stats import RESAMPLES
from ..stats.associations import ac1_of_sums, agreement_sums, alpha_of_sums
from ..stats.resampling import FEWEST_CLUSTERS, Array, expanded_level, percentile_interval
from .alignment import NOTHING, align
from .differences import paired_test
from .groups import check_rows, group_rows
from .intervals import IntervalSettings, find_interval
from .measures import check_mode

ROLES = ("stereotype", "anti_stereotype")  # unrelated candidates are easy to label, and would raise the agreement
AGREE = f"{ANNOTATORS}_agree"
FINISHES = (alpha_of_sums, ac1_of_sums)
ITEMS, PEOPLE, BOTH = OVER = ("items", "annotators", "both")  # what an interval of agreement resamples
MOST_DRAWS = 1_000  # of clusters and annotators together


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """How far annotators agree on a group of items: Krippendorff's alpha and Gwet's AC1 with 95 % intervals.

    Intervals resample clusters of items, and annotators too if at least ten are known by name. `unanimous` is the
    share of items (or units) on which all agree.
    """

    group: Mapping[str, str]
    alpha: float
    alpha_low: float | None
    alpha_high: float | None
    ac1: float
    ac1_low: float | None
    ac1_high: float | None
    unanimous: float
    n: int
    clusters: int


def measure_annotators(
    items: Items, *, by: Sequence[str] = (), resamples: int = RESAMPLES, seed: int = 0
) -> Results[LabelAgreement]:
    """The agreement of the annotators in each group of items; a candidate that is about the target is a unit, and its labels are nominal."""
    labels = sorted({label for item in items for role in ROLES for label in _labels(item, role)})
    if not labels:
        raise IsoglossError("These items have no annotators' labels. StereoSet's own JSON has them.")
    settings = IntervalSettings(resamples=resamples, seed=seed)
    groups: dict[tuple[str, ...], list[Item]] = {}
    for item in items:
        columns = {**item.tags, "category": item.category, "language": item.language}
        groups.setdefault(tuple(str(columns.get(name, "none")) for name in by), []).append(item)
    rows = []
    for key, members in sorted(groups.items()):
        clusters = [item.cluster or item.id for item in members for _ in ROLES]
        counts = [[_labels(item, role).count(name) for name in labels] for item in members for role in ROLES]
        ends = find_agreement(np.array(counts, dtype=np.float64), clusters, settings=settings)
        complete = all(len(item.tags.get(ANNOTATORS, ())) == len(_labels(item, ROLES[0])) for item in members)
        people = {name for item in members for name in item.tags.get(ANNOTATORS, ())}
        if complete and ends[0][1] is not None and len(people) >= FEWEST_CLUSTERS:
            both = _draw_both(members, labels, clusters=clusters, settings=settings)
            ends = [(end[0], *pair) for end, pair in zip(ends, both, strict=True)]
        share = float(np.mean([item.tags.get(AGREE) == "yes" for item in members]))
        names = dict(zip(by, key, strict=True))
        rows.append(LabelAgreement(names, *ends[0], *ends[1], share, len(members), len(set(clusters))))
    return Results(tuple(rows))


def find_agreement(
    counts: Array, clusters: Sequence[str], *, settings: IntervalSettings
) -> list[tuple[float, float | None, float | None]]:
    """Krippendorff's alpha and Gwet's AC1 of units with counts of labels [units, labels], each with its interval over clusters."""
    sums = agreement_sums(counts)
    ends = []
    for finish in FINISHES:
        contribution = from_sums(sums, clusters, finish=finish, n=len(sums))
        interval = find_interval(contribution, settings, bounds=(-1, 1))
        ends.append((contribution.value, interval.low, interval.high))
    return ends


def _draw_both(
    items: Sequence[Item], labels: Sequence[str], *, clusters: Sequence[str], settings: IntervalSettings
) -> list[tuple[float, float]]:
    """The intervals of alpha and AC1 when clusters and annotators are drawn again."""
    listed = [_labels(item, role) for item in items for role in ROLES]
    unit = np.repeat(np.arange(len(listed)), [len(entry) for entry in listed])
    label = np.array([labels.index(entry) for several in listed for entry in several])
    who = [name for item in items for role in ROLES for name in item.tags[ANNOTATORS][: len(_labels(item, role))]]
    return draw_agreement(GivenLabels(unit, label, who, clusters), over=BOTH, settings=settings)


@dataclass(frozen=True, slots=True)
class GivenLabels:
    """Labels one by one: the number of the unit and of the label, and who gave it; and the cluster of each unit."""

    unit: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    who: Sequence[str]
    clusters: Sequence[str]


def draw_agreement(entries: GivenLabels, *, over: str, settings: IntervalSettings) -> list[tuple[float, float]]:
    """The intervals of alpha and AC1 when clusters of items, annotators, or both are drawn again with replacement (Owen 2007)."""
    people, person = np.unique(entries.who, return_inverse=True)
    targets, target = np.unique(entries.clusters, return_inverse=True)
    width, units = int(entries.label.max()) + 1, len(entries.clusters)
    rng, drawn = np.random.default_rng(settings.seed), []
    for _ in range(min(settings.resamples, MOST_DRAWS)):
        times, again = (np.bincount(rng.integers(n, size=n), minlength=n) for n in (len(people), len(targets)))
        weights = times[person].astype(np.float64) if over != ITEMS else np.ones(len(person))
        counts = _add_up(entries.unit * width + entries.label, weights, count=units * width).reshape(units, -1)
        sums = agreement_sums(counts, _add_up(entries.unit, weights**2, count=units))
        total = sums.T @ again[target] if over != PEOPLE else sums.sum(axis=0)
        drawn.append([float(finish(total)) for finish in FINISHES])
    fewest = min(len(targets) if over != PEOPLE else len(people), len(people) if over != ITEMS else len(targets))
    level = expanded_level(fewest)
    return [percentile_interval(values, level=level) for values in np.array(drawn).T]


def _add_up(places: npt.NDArray[np.int64], weights: Array, *, count: int) -> Array:
    return np.bincount(places, weights=weights, minlength=count).astype(np.float64)


def _labels(item: Item, role: str) -> tuple[str, ...]:
    return tuple(item.tags.get(f"{ANNOTATORS}_{role}", ()))


def join_agreement(scored: Scored, items: Items) -> Scored:
    """The scores with the annotators' agreement of the items with the same ids, such as those of their translation."""
    agreement = {item.id: str(item.tags[AGREE]) for item in items if AGREE in item.tags}
    table = scored.table.drop(AGREE, strict=False)
    column = pl.col("id").replace_strict(agreement, default=None, return_dtype=pl.String).alias(AGREE)
    return Scored(table.with_columns(column), scored.skipped, scored.notes, scored.builds)


@dataclass(frozen=True, slots=True)
class UnanimousDifference:
    """A metric where all annotators agree and elsewhere, with the difference, its 95 % interval and p, paired by target."""

    group: Mapping[str, str]
    metric: str
    unanimous: float
    others: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    n: int
    clusters: int
    mde: float | None


def compare_unanimous(
    scored: Scored, *, metric: str = "ss", by: Sequence[str] = (), mode: str = "corrected", resamples: int = RESAMPLES
) -> list[UnanimousDifference]:
    """For each model and language: the metric where all annotators agree, minus that elsewhere."""
    check_mode(mode)
    if AGREE not in scored.table.columns:
        raise IsoglossError("These scores do not know what annotators said. Join it with join_agreement.")
    chosen, settings = registry.get("metric", metric), IntervalSettings(resamples=resamples)
    rows = []
    for group, part in group_rows(check_rows(scored), ["model", "language", *by], keep_null=True):
        sides = [part.filter(pl.col(AGREE) == value) for value in ("yes", "no")]
        aligned = align(sides, [chosen] * 2, mode=mode) if all(side.height for side in sides) else None
        if aligned is None or aligned.common == NOTHING:
            continue
        a, b = aligned.sides
        test = paired_test(a, b, bounds=chosen.bounds, settings=settings)
        values = (test.low, test.high, test.p, a.n + b.n, len(a.clusters), test.mde)
        rows.append(UnanimousDifference(group, metric, a.value, b.value, a.value - b.value, *values))
    return rows
