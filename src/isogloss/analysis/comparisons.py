"""Comparing: two sides in, differences out, each with its interval, p-values, effect size and what could have been seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from .. import registry
from ..errors import IsoglossError
from ..metrics.contributions import Contribution, Metric
from ..scores import Scored
from ..stats import RESAMPLES
from ..stats.hypotheses import adjust_bh, adjust_holm, detectable_effect, needed_items, shuffle_test, swap_test
from ..stats.resampling import FEWEST_CLUSTERS, Array, bootstrap_values, expanded_level, percentile_interval
from .competence import find_competence, judge_both
from .groups import Group, check_by, cut
from .intervals import Drawing, check_drawing
from .measures import check_mode, contribution, fitting_metrics
from .sides import Sides, match_sides

HEADLINES = ("lms", "ss", "icat")
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A difference (a minus b) with its honesty; what is missing has its reason in `why`.

    `effect` is the difference in standard deviations of the clusters, `mde` the smallest true difference that this
    many items show with 80 % power, `n_needed` the items that would show the observed one. `n` counts pairs, or unpaired all items.
    """

    a: Mapping[str, str]
    b: Mapping[str, str]
    metric: str
    group: Mapping[str, str]
    value_a: float | None
    value_b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    p_bh: float | None
    effect: float | None
    n: int
    clusters: int
    mde: float | None
    n_needed: int | None
    mode: str
    design: str
    why: str | None = None
    interpretable: bool | None = None
    doubt: str | None = None

    @property
    def p_adjusted(self) -> float | None:
        return self.p_holm


@dataclass(frozen=True, slots=True)
class Comparisons:
    """A family of comparisons that were made together; the adjusted p-values hold for all of them."""

    rows: tuple[Comparison, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Comparison:
        return self.rows[index]

    def to_polars(self) -> pl.DataFrame:
        """One row per comparison; the group's columns come first, then those that tell the sides apart."""
        names = list(dict.fromkeys(name for row in self.rows for name in row.group))
        data = []
        for row in self.rows:
            sides = {f"{name}_a": value for name, value in row.a.items()}
            sides |= {f"{name}_b": value for name, value in row.b.items()}
            numbers = {key: value for key, value in asdict(row).items() if key not in ("a", "b", "group")}
            data.append({name: row.group.get(name) for name in names} | sides | numbers)
        return pl.DataFrame(data, infer_schema_length=None)

    def __str__(self) -> str:
        from ..report.comparing import comparisons_as_text

        return comparisons_as_text(self)

    def _repr_html_(self) -> str:
        from ..report.comparing import comparisons_as_html

        return comparisons_as_html(self)


def compare(
    a: Scored,
    b: Scored,
    *,
    metrics: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    mode: str = "corrected",
    design: str = "paired",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparisons:
    """How far side a lies above side b, for every metric and group, item by item on what both have.

    The p-value is two-sided, by swapping the sides of whole clusters; the interval is by bootstrap over clusters.
    Without `by`, tasks are compared one by one and together. Without `metrics`, LMS, SS and ICAT where they fit.
    """
    check_mode(mode)
    drawing = check_drawing(Drawing(resamples=resamples, seed=seed))
    names = check_by(by, a.table.columns)
    sides = match_sides(a, b, design=design)
    chosen = registry.chosen("metric", metrics)
    rows = []
    for group, part in _groups(sides, names):
        competence = [find_competence(part.filter(pl.col("side") == side), mode=mode, drawing=drawing) for side in "ab"]
        for name, metric in (chosen or _headlines(part)).items():
            shared = {**sides.shared, **group}
            nothing = _nothing(sides, name, group=shared, mode=mode, design=design)
            known = judge_both(name, (competence[0], competence[1]), names=(_called(sides.a), _called(sides.b)))
            row = _compare_one(nothing, metric, part=part, drawing=drawing)
            rows.append(replace(row, interpretable=known.interpretable, doubt=known.doubt))
    return Comparisons(_adjusted(rows), sides.notes)


def _called(side: Mapping[str, str]) -> str:
    return ", ".join(side.values())


def _headlines(part: pl.DataFrame) -> dict[str, Metric]:
    found = fitting_metrics(part)
    return {name: metric for name, metric in found.items() if name in HEADLINES} or found


def _groups(sides: Sides, by: Sequence[str] | None) -> Iterator[tuple[Group, pl.DataFrame]]:
    columns = list(dict.fromkeys(["dataset", *sides.matched, *(by or ())]))
    columns = [name for name in columns if name not in sides.a]
    if by is not None:
        yield from cut(sides.table, columns, keep_null=True)
        return
    for whole, part in cut(sides.table, columns, keep_null=False):
        tasks = list(cut(part, [*columns, "task"], keep_null=False)) if "task" in part.columns else []
        yield from tasks if len(tasks) > 1 else []
        yield (tasks[0] if len(tasks) == 1 else (whole, part))


def _nothing(sides: Sides, metric: str, *, group: Group, mode: str, design: str) -> Comparison:
    gone = dict.fromkeys(("value_a", "value_b", "difference", "low", "high", "p", "p_holm", "p_bh", "effect"))
    return Comparison(
        sides.a,
        sides.b,
        metric,
        group,
        **gone,
        n=0,
        clusters=0,
        mde=None,
        n_needed=None,
        mode=mode,
        design=design,
    )


def _compare_one(nothing: Comparison, metric: Metric, *, part: pl.DataFrame, drawing: Drawing) -> Comparison:
    """`nothing` with the metric's difference over the part's items filled in."""
    paired = nothing.design == "paired"
    rows = _complete(part, metric, paired=paired)
    found = contribution(metric, rows, mode=nothing.mode) if set(rows["side"]) == {"a", "b"} else None
    if found is None:
        return replace(nothing, why="no item of the group has all the roles on both sides")
    places = [np.array([i for i, c in enumerate(found.clusters) if c.startswith(side)]) for side in ("a/", "b/")]
    if not len(places[0]) or not len(places[1]):
        return replace(nothing, why="no item of the group has all the roles on both sides")
    if paired:
        index = {name[2:]: i for i, name in enumerate(found.clusters) if name.startswith("b/")}
        places[1] = np.array([index[found.clusters[i][2:]] for i in places[0]])
    test = _paired_test if paired else _unpaired_test
    return test(nothing, found, places=(places[0], places[1]), drawing=drawing)


def _complete(part: pl.DataFrame, metric: Metric, *, paired: bool) -> pl.DataFrame:
    """The rows that the metric can read, clusters and ids marked by side; paired, of items complete on both sides."""
    rows = part.filter((pl.col("quantity") == metric.quantity) & pl.col("value").is_not_null())
    if metric.roles:
        rows = rows.filter(pl.col("role").is_in(metric.roles))
    if paired:
        if metric.roles:
            enough = pl.col("role").n_unique() == len(metric.roles)
            whole = rows.group_by("side", "id").agg(enough).filter("role")
            rows = rows.join(whole, on=["side", "id"], how="semi")
        both = rows.group_by("id").agg(pl.col("side").n_unique() == 2).filter("side")
        rows = rows.join(both, on="id", how="semi")
    marks = [name for name in ("id", "cluster", "derived_from") if name in rows.columns]
    return rows.with_columns((pl.col("side") + "/" + pl.col(name)).alias(name) for name in marks)


def _spread(weights: Array, place: Places, *, clusters: int) -> Array:
    """The weights put where a side's clusters stand, and nothing elsewhere."""
    full = np.zeros((len(weights), clusters))
    full[:, place] = weights
    return full


def _paired_test(
    nothing: Comparison, found: Contribution, *, places: tuple[Places, Places], drawing: Drawing
) -> Comparison:
    """Clusters are drawn, or change sides, as pairs."""
    total, count = len(found.clusters), len(places[0])

    def value(weights: Array, side: int) -> Array:
        return found.evaluate(_spread(weights, places[side], clusters=total))

    def difference(weights: Array) -> Array:
        return value(weights, 0) - value(weights, 1)

    def swapped(signs: Array) -> Array:
        kept = (signs > 0).astype(np.float64)
        one = _spread(kept, places[0], clusters=total) + _spread(1 - kept, places[1], clusters=total)
        other = _spread(1 - kept, places[0], clusters=total) + _spread(kept, places[1], clusters=total)
        return found.evaluate(one) - found.evaluate(other)

    ones = np.ones((1, count))
    p, _ = swap_test(swapped, count, resamples=drawing.resamples, seed=drawing.seed)
    values = (float(value(ones, 0)[0]), float(value(ones, 1)[0]))
    row = replace(_with_values(nothing, values), p=p, n=found.n // 2, clusters=count)
    if count < FEWEST_CLUSTERS:
        least = 2 / 2**count
        why = f"{count} clusters; an interval needs {FEWEST_CLUSTERS}, and no p below {least:.3g} is possible"
        return replace(row, why=why)
    strata = [found.strata[i] for i in places[0]] if found.strata else None
    drawn = bootstrap_values(difference, count, strata=strata, resamples=drawing.resamples, seed=drawing.seed)
    error = float(np.nanstd(drawn, ddof=1)) * math.sqrt(count / (count - 1))
    return _with_interval(row, drawn, error=error, spread=error * math.sqrt(count))


def _unpaired_test(
    nothing: Comparison, found: Contribution, *, places: tuple[Places, Places], drawing: Drawing
) -> Comparison:
    """Each side's clusters are drawn on their own; for the p-value, clusters may belong to either side."""
    total = len(found.clusters)
    order = np.concatenate(places)

    def value(weights: Array, side: int) -> Array:
        return found.evaluate(_spread(weights, places[side], clusters=total))

    def moved(first: Array) -> Array:
        one, other = _spread(first, order, clusters=total), _spread(1 - first, order, clusters=total)
        return found.evaluate(one) - found.evaluate(other)

    counts = (len(places[0]), len(places[1]))
    p = shuffle_test(moved, counts, resamples=drawing.resamples, seed=drawing.seed)
    values = tuple(float(value(np.ones((1, counts[side])), side)[0]) for side in (0, 1))
    row = replace(_with_values(nothing, (values[0], values[1])), p=p, n=found.n, clusters=total)
    if min(counts) < FEWEST_CLUSTERS:
        return replace(row, why=f"{min(counts)} clusters on one side; an interval needs {FEWEST_CLUSTERS}")
    drawn = [
        bootstrap_values(
            lambda weights, side=side: value(weights, side),  # type: ignore[misc]
            counts[side],
            strata=[found.strata[i] for i in places[side]] if found.strata else None,
            resamples=drawing.resamples,
            seed=drawing.seed + side,
        )
        for side in (0, 1)
    ]
    errors = [
        float(np.nanstd(one, ddof=1)) * math.sqrt(count / (count - 1)) for one, count in zip(drawn, counts, strict=True)
    ]
    deviations = [error**2 * count for error, count in zip(errors, counts, strict=True)]
    return _with_interval(row, drawn[0] - drawn[1], error=math.hypot(*errors), spread=math.sqrt(sum(deviations) / 2))


def _with_values(nothing: Comparison, values: tuple[float, float]) -> Comparison:
    return replace(nothing, value_a=values[0], value_b=values[1], difference=values[0] - values[1])


def _with_interval(row: Comparison, drawn: Array, *, error: float, spread: float) -> Comparison:
    """The row with what follows from the resampled differences."""
    difference = row.difference or 0.0
    if error < 1e-12 and abs(difference) < 1e-12:
        return replace(row, low=0.0, high=0.0, why="the two sides never differ, so there is nothing to test")
    low, high = percentile_interval(
        drawn, level=expanded_level(row.clusters if row.design == "paired" else row.clusters // 2)
    )
    detectable = detectable_effect(error)
    return replace(
        row,
        low=low,
        high=high,
        effect=difference / spread if spread > 1e-12 else None,
        mde=detectable,
        n_needed=needed_items(row.n, detectable, difference=difference),
    )


def _adjusted(rows: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The rows with p-values adjusted for all that were computed."""
    tested = [i for i, row in enumerate(rows) if row.p is not None]
    p = [row.p for row in rows if row.p is not None]
    holm, bh = dict(zip(tested, adjust_holm(p), strict=True)), dict(zip(tested, adjust_bh(p), strict=True))
    return tuple(replace(row, p_holm=holm.get(i), p_bh=bh.get(i)) for i, row in enumerate(rows))


def comparisons_as_json(found: Comparisons) -> dict[str, Any]:
    """The comparisons as the documented JSON object."""
    if not found.rows:
        raise IsoglossError("There is nothing to compare.")
    rows = [asdict(row) | {"a": dict(row.a), "b": dict(row.b), "group": dict(row.group)} for row in found]
    return {"comparisons": rows, "notes": list(found.notes)}
