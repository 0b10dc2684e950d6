"""What changed: two runs over the same items in, flips, noise floor and a verdict for every group out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from ..errors import IsoglossError
from ..metrics import from_values, percent
from ..metrics import number_clusters as numbered
from ..results import Results
from ..scores import KEY, Scored, check_scored
from ..stats import RESAMPLES
from ..stats.hypotheses import LEVEL, POWER
from ..stats.resampling import FEWEST_CLUSTERS, Array
from ..stats.scans import Scan, scan_clusters
from .competence import find_competence, judge_both
from .groups import check_by, make_part
from .intervals import IntervalSettings, check_interval_settings, find_interval
from .item_values import UNIT, default_metric, get_mean_metric, values_by_item, wide_values, with_unit
from .measures import check_mode
from .sides import Sides, match_sides

CHANGED, EQUIVALENT, UNDECIDED, NOT_INTERPRETABLE = "changed", "equivalent", "undecided", "not interpretable"
SCANNED = ("dataset", "language", "task", "wording", "category", "about", "target")
Mask = npt.NDArray[np.bool_]
MARGIN = 2.0  # points, as in gates
MOST_GROUPS = 200  # a scan over more columns than that adjusts everything away


@dataclass(frozen=True, slots=True)
class GroupChange:
    """The change of one group of items between two runs; interval and p are adjusted for all groups.

    `turned_to` counts items that came to prefer the stereotype, `turned_away` the others that changed. `churn` is
    the percentage of both, `floor` the same between two runs of the first side. `needed` is the number of items
    that a decision requires.
    """

    group: Mapping[str, str]
    metric: str
    state: str = UNDECIDED
    before: float | None = None
    after: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    margin: float = MARGIN
    n: int = 0
    clusters: int = 0
    turned_to: int = 0
    turned_away: int = 0
    kept_stereotype: int = 0
    kept_other: int = 0
    churn: float | None = None
    churn_low: float | None = None
    churn_high: float | None = None
    floor: float | None = None
    floor_p: float | None = None
    needed: int | None = None
    why: str | None = None


Changes = Results[GroupChange]


def change(
    before: Scored,
    after: Scored,
    *,
    metric: str | None = None,
    by: str | Sequence[str] | None = None,
    margin: float = MARGIN,
    repeat: Scored | None = None,
    mode: str = "corrected",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Changes:
    """Which groups of items changed from one run to another, which are equivalent, and how many items flipped.

    Parameters:
        before: The scores of the first run.
        after: The scores of the second run, on the same items.
        metric: A mean over items; by default SS, or the CrowS-Pairs score of pairs.
        by: Columns whose groups are compared; by default task, wording, bias type, target and language where they
            vary.
        margin: The largest change that counts as no change, in points or units of the metric.
        repeat: A second run of the first side, for the noise floor.
        mode: `corrected` or `paper`.
        resamples: How many times the signs of clusters are drawn.
        seed: Their seed.

    Example:
        >>> ig.change(ig.load("runs/mine"), ig.load("runs/other"), by=[], resamples=200)[0].n
        96
    """
    check_mode(mode)
    settings = check_interval_settings(IntervalSettings(resamples=resamples, seed=seed))
    if margin <= 0:
        raise IsoglossError(f"The margin must be above 0; it is {margin:g}.")
    sides = match_sides(check_scored(before, "change"), check_scored(after, "change"))
    name = metric or default_metric(sides.table)
    key = [*KEY[:2], *sides.matched]
    values = _paired_values(sides, name, key=key, mode=mode)
    if repeat is not None:
        again = match_sides(before, check_scored(repeat, "change"))
        floor = _paired_values(again, name, key=[*KEY[:2], *again.matched], mode=mode)
        noise = floor.select(UNIT, (pl.col("a") != pl.col("b")).cast(pl.Float64).alias("noise"))
        values = values.join(noise, on=UNIT, how="left", maintain_order="left")
    groups, notes = _groups(values, check_by(by, sides.table.columns))
    scan = _scan(values, groups, settings=settings)
    rows = [
        _describe(values.filter(pl.Series(mask)), scan, number=number, start=GroupChange(label, name, margin=margin))
        for number, (label, mask) in enumerate(groups)
    ]
    rows = [_judge(row, sides, mode=mode, settings=settings) for row in rows]
    return Changes(tuple(rows), notes=(*sides.notes, *notes, *_labels(sides)))


def _labels(sides: Sides) -> tuple[str, ...]:
    a, b = (", ".join(side.values()) for side in (sides.a, sides.b))
    return (f"before is {a}; after is {b}",)


def _paired_values(sides: Sides, name: str, *, key: Sequence[str], mode: str) -> pl.DataFrame:
    """One row per item that both sides have: its values `a` and `b`, its cluster, and its columns."""
    table = with_unit(sides.table, key)
    both = {side: values_by_item(table.filter(pl.col("side") == side), name, mode=mode) for side in "ab"}
    facts = table.filter(pl.col("side") == "a").unique(UNIT, keep="first", maintain_order=True)
    columns = [
        column for column in (*SCANNED, *facts.columns) if column in facts.columns and column not in ("a", "b", "value")
    ]
    values = wide_values(both).join(
        facts.select(UNIT, *dict.fromkeys(column for column in columns if column != UNIT)),
        on=UNIT,
        maintain_order="left",
    )
    if not values.height:
        raise IsoglossError(f"No item has a value of '{name}' on both sides.")
    return values


Groups = list[tuple[dict[str, str], Mask]]  # what each is called, and which items it has


def _groups(values: pl.DataFrame, by: Sequence[str] | None) -> tuple[Groups, list[str]]:
    """All items, and the groups of each column that varies and whose groups have enough clusters."""
    groups: Groups = [({}, np.ones(values.height, dtype=np.bool_))]
    notes = []
    for column in by if by is not None else [name for name in SCANNED if name in values.columns]:
        texts = values[column].cast(pl.String)
        kinds = sorted(texts.drop_nulls().unique())
        if len(kinds) < 2:
            continue
        chosen = [(kind, (texts == kind).fill_null(False).to_numpy()) for kind in kinds]
        if (
            by is None
            and max(values.filter(pl.Series(mask))["cluster"].n_unique() for _, mask in chosen) < FEWEST_CLUSTERS
        ):
            notes.append(f"no {column} was scanned: none has {FEWEST_CLUSTERS} clusters")
            continue
        groups += [({column: kind}, mask) for kind, mask in chosen]
    if len(groups) > MOST_GROUPS:
        raise IsoglossError(
            f"{len(groups)} groups are too many to scan (at most {MOST_GROUPS}). Name fewer columns in `by`."
        )
    return groups, notes


def _scan(values: pl.DataFrame, groups: Groups, *, settings: IntervalSettings) -> Scan:
    """All groups with enough clusters in one scan; the others have no error and a p of 1."""
    index, names = numbered(values["cluster"])
    difference = (values["b"] - values["a"]).to_numpy()
    moves, sizes = np.zeros((len(names), len(groups))), np.zeros((len(names), len(groups)))
    for number, (_, mask) in enumerate(groups):
        moves[:, number] = np.bincount(index[mask], weights=difference[mask], minlength=len(names))
        sizes[:, number] = np.bincount(index[mask], minlength=len(names))
    tested = (sizes > 0).sum(0) >= FEWEST_CLUSTERS
    nan = np.full(len(groups), math.nan)
    columns: dict[str, Array] = {name: nan.copy() for name in ("values", "errors", "p", "reach", "near")}
    if tested.any():
        scan = scan_clusters(moves[:, tested], sizes[:, tested], resamples=settings.resamples, seed=settings.seed)
        for name, column in columns.items():
            column[tested] = getattr(scan, name)
    return Scan(**columns)


def _describe(part: pl.DataFrame, scan: Scan, *, number: int, start: GroupChange) -> GroupChange:
    """The group of a number with its values, its flips, and the verdict that the scan allows."""
    a, b, clusters = part["a"].to_numpy(), part["b"].to_numpy(), part["cluster"]
    row = replace(start, before=float(a.mean()), after=float(b.mean()), n=len(a), clusters=clusters.n_unique())
    row = replace(row, difference=float((b - a).mean()))
    metric = get_mean_metric(start.metric)
    if metric.bounds[1] == 100:
        row = _count_flips(row, part, half=50.0)
    value, error = float(scan.values[number]), float(scan.errors[number])
    if math.isnan(value):
        few = f"{row.clusters} cluster{'' if row.clusters == 1 else 's'}; a verdict needs {FEWEST_CLUSTERS}"
        return replace(row, why=few)
    reach, near = float(scan.reach[number]) * error, float(scan.near[number]) * error
    row = replace(row, low=value - reach, high=value + reach, p=float(scan.p[number]))
    if abs(value) + near < row.margin:
        return replace(row, state=EQUIVALENT)
    if row.p is not None and row.p <= LEVEL:
        return replace(row, state=CHANGED)
    detectable = (float(scan.reach[number]) + NormalDist().inv_cdf(POWER)) * error
    needed = math.ceil(row.n * (detectable / row.margin) ** 2)
    near_margin = "the change lies near the margin, so many more items would be needed"
    return replace(row, needed=needed) if needed > row.n else replace(row, why=near_margin)


def _count_flips(row: GroupChange, part: pl.DataFrame, *, half: float) -> GroupChange:
    """The four cells and the churn with its interval; above the noise floor where there is one."""
    a, b = part["a"].to_numpy(), part["b"].to_numpy()
    moved = (a != b).astype(np.float64)
    counted = from_values(moved, part["cluster"], finish=percent)
    ends = find_interval(counted, IntervalSettings(resamples=1_000), bounds=(0, 100))
    row = replace(
        row,
        turned_to=int((b > a).sum()),
        turned_away=int((b < a).sum()),
        kept_stereotype=int(((a == b) & (a > half)).sum()),
        kept_other=int(((a == b) & (a <= half)).sum()),
        churn=100 * float(moved.mean()),
        churn_low=ends.low,
        churn_high=ends.high,
    )
    if "noise" not in part.columns:
        return row
    both = part.filter(pl.col("noise").is_not_null())
    noise, index = both["noise"].to_numpy(), numbered(both["cluster"])[0]
    excess = (both["a"] != both["b"]).cast(pl.Float64).to_numpy() - noise
    sums = np.column_stack([np.bincount(index, weights=excess), np.bincount(index)]).astype(np.float64)
    enough = len(sums) >= FEWEST_CLUSTERS
    p = float(scan_clusters(sums[:, :1], sums[:, 1:], resamples=2_000).p[0]) if enough else None
    return replace(row, floor=100 * float(noise.mean()), floor_p=p)


def _judge(row: GroupChange, sides: Sides, *, mode: str, settings: IntervalSettings) -> GroupChange:
    """The row, or that it is not interpretable where a side does not prefer meaningful sentences there."""
    quick = replace(settings, resamples=min(settings.resamples, 1_000))
    competence = {}
    for side, names in (("a", sides.a), ("b", sides.b)):
        rows = sides.table.filter(pl.col("side") == side)
        for column, value in row.group.items():
            rows = rows.filter(pl.col(column).cast(pl.String) == value)
        competence[", ".join(names.values())] = find_competence(make_part(rows), mode=mode, settings=quick)
    verdict = judge_both(row.metric, competence)
    if verdict.interpretable is False:
        return replace(row, state=NOT_INTERPRETABLE, why=verdict.doubt)
    return row


def list_flips(before: Scored, after: Scored, *, metric: str | None = None, mode: str = "corrected") -> pl.DataFrame:
    """The items whose preference changed: id, columns, both values, and which way it turned."""
    sides = match_sides(before, after)
    name = metric or default_metric(sides.table)
    values = _paired_values(sides, name, key=[*KEY[:2], *sides.matched], mode=mode)
    columns = [column for column in ("id", *SCANNED) if column in values.columns]
    turned = values.filter(pl.col("a") != pl.col("b"))
    way = pl.when(pl.col("b") > pl.col("a")).then(pl.lit("to")).otherwise(pl.lit("away")).alias("turned")
    return turned.select(*dict.fromkeys(columns), pl.col("a").alias("before"), pl.col("b").alias("after"), way)
