"""Stopping early: rules such as "ss±2" that say, from the scores so far, whether the answer is sure."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ..analysis.groups import check_rows
from ..analysis.item_values import UNIT, get_mean_metric, values_by_item, wide_values, with_unit
from ..errors import IsoglossError, UnknownName
from ..metrics import number_clusters
from ..runs import find_runs, read_scored
from ..scores import KEY, Scored
from ..stats.resampling import Array
from ..stats.sequences import ClusterSampling, as_difference, differences_as_shares, sequence_interval
from .cells import CLUSTER, ITEM, Cell
from .training import path_beside

BENCHMARK, POPULATION = "benchmark", "population"
ESTIMANDS = {
    BENCHMARK: "on this benchmark (drawn without replacement)",
    POPULATION: "in the population that the benchmark's targets come from",
}
IN_POPULATION = " in the population"  # at the end of a rule
PRECISION, THRESHOLD, BASELINE = "precision", "threshold", "baseline"
NUMBER = r"(\d+(?:\.\d+)?)"
FORMS = {
    PRECISION: re.compile(rf"([\w-]+)\s*(?:±|\+-|\+/-)\s*{NUMBER}"),
    THRESHOLD: re.compile(rf"([\w-]+)\s*!=\s*{NUMBER}"),
    BASELINE: re.compile(rf"([\w-]+)\s+within\s+{NUMBER}\s+of\s+(.+)"),
}
HOPELESS = 1.5  # times the wanted precision: a projection this far off is not put right by the clusters that are left
Stop = Callable[[Scored], str | None]
Stopping = Callable[[Cell, Scored], str | None]


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """What must be sure: the metric to within `number`, that it is not `number`, or that it is within it of a baseline.

    `estimand` says of what: the benchmark, or the population of its targets. `unit` is what came in random order.
    """

    text: str
    kind: str
    metric: str
    number: float
    baseline: str | None = None
    estimand: str = BENCHMARK
    unit: str = CLUSTER


def parse_rule(text: str, *, estimand: str = BENCHMARK, unit: str = CLUSTER) -> StoppingRule:
    """The rule that a text such as `ss±2`, `ss!=50` or `ss within 2 of runs/base` stands for.

    A text that ends with `in the population` is about the population of targets.
    """
    if text.strip().endswith(IN_POPULATION):
        text, estimand = text.strip().removesuffix(IN_POPULATION), POPULATION
    if estimand not in ESTIMANDS:
        raise UnknownName("estimand", estimand, ESTIMANDS)
    if unit == ITEM and estimand == POPULATION:
        raise IsoglossError(
            "For the population of targets, whole clusters must come in random order, not single items (`order='cluster'`)."
        )
    for kind, form in FORMS.items():
        match = form.fullmatch(text.strip())
        if match is None:
            continue
        name, number = match[1], match[2]
        metric = get_mean_metric(name)
        if not np.isfinite(metric.bounds).all():
            raise IsoglossError(
                f"'{name}' has no bounds, so no interval of it stays valid at every look. Use ss or lms."
            )
        if kind != THRESHOLD and float(number) == 0:
            raise IsoglossError(f"'{text}' has a precision of 0, which only the complete data reaches.")
        baseline = match[3] if kind == BASELINE else None
        plain = name.replace("-", "_")
        return StoppingRule(text.strip(), kind, plain, float(number), baseline, estimand, unit)
    raise IsoglossError(
        f"'{text}' is not a stopping rule. Write ss±2 (to within 2 points), ss!=50 (not 50), or ss within 2 of RUNS."
    )


def rule_beside(text: str, base: Path, *, unit: str = CLUSTER) -> str:
    """The rule of a file in a folder: its baseline is found from there."""
    baseline = parse_rule(text, unit=unit).baseline
    if baseline is None:
        return text
    before, _, after = text.rpartition(baseline)
    return before + path_beside(base, baseline) + after


def cluster_sizes(items: pl.DataFrame, *, unit: str = CLUSTER) -> dict[str, int]:
    """How many items each cluster of a whole data set has; with `item` as the unit, every item is one."""
    named = with_unit(items, KEY).unique(UNIT, maintain_order=True)
    if unit == ITEM:
        return dict.fromkeys(named[UNIT], 1)
    clusters = named.select(pl.coalesce("cluster", "id").alias("cluster"))["cluster"]
    return {str(name): int(count) for name, count in clusters.value_counts().iter_rows()}


def make_stop(
    rule: StoppingRule, sizes: Mapping[str, int], *, baseline: Scored | None = None, mode: str = "corrected"
) -> Stop:
    """A function of the scores so far that gives the reason to stop, or None.

    `sizes` are those of all clusters that are to be scored, as `cluster_sizes` counts them. The scores come cluster by
    cluster in an order that was drawn at random; a cluster that is not complete is not looked at yet.
    """
    if (rule.kind == BASELINE) != (baseline is not None):
        raise IsoglossError(
            f"The rule '{rule.text}' {'needs the scores of' if baseline is None else 'has no'} a baseline."
        )

    def stop(scored: Scored) -> str | None:
        totals = (
            _paired_totals(rule, scored, baseline=baseline, mode=mode) if baseline else _totals(rule, scored, mode=mode)
        )
        kept = {name: row for name, (row, seen) in totals.items() if seen >= sizes.get(name, 1) and row[1] > 0}
        rest = sum(count for name, count in sizes.items() if name not in totals or totals[name][1] < count)
        finite = rule.estimand == BENCHMARK
        sampling = ClusterSampling(max(sizes.values()), len(sizes) if finite else None, rest if finite else math.inf)
        if not kept:
            return None
        return _decide(rule, np.array(list(kept.values())), sampling=sampling, clusters=len(sizes))

    return stop


def stop_cells(until: str, *, mode: str) -> Stopping:
    """A function of a cell and its scores so far that gives the reason to stop, by a rule such as `ss±2`."""
    rule = parse_rule(until)
    baseline = read_scored(find_runs(rule.baseline)) if rule.baseline else None
    stops: dict[int, Stop] = {}

    def stop(cell: Cell, scored: Scored) -> str | None:
        if id(cell) not in stops:
            sizes = cluster_sizes(cell.table, unit=cell.order)
            stops[id(cell)] = make_stop(parse_rule(until, unit=cell.order), sizes, baseline=baseline, mode=mode)
        return stops[id(cell)](scored)

    return stop


Totals = dict[str, tuple[tuple[float, float], int]]  # by cluster: the sum of shares, their number, and all items seen


def _totals(rule: StoppingRule, scored: Scored, *, mode: str) -> Totals:
    """The clusters in order of arrival, with values from 0 to 1."""
    table = with_unit(check_rows(scored), KEY)
    metric = get_mean_metric(rule.metric)
    values = values_by_item(table, rule.metric, mode=mode)
    low, high = metric.bounds
    shares = values.select(UNIT, ((pl.col("value") - low) / (high - low)).alias("share"))
    return _by_cluster(table.join(shares, on=UNIT, how="left", maintain_order="left"), unit=rule.unit)


def _paired_totals(rule: StoppingRule, scored: Scored, *, baseline: Scored, mode: str) -> Totals:
    """The clusters in order of arrival, with differences from the baseline as shares."""
    tables = [with_unit(check_rows(side), KEY) for side in (scored, baseline)]
    values = wide_values({n: values_by_item(t, rule.metric, mode=mode) for n, t in zip("ab", tables, strict=True)})
    low, high = get_mean_metric(rule.metric).bounds
    first, second = ((values[side].to_numpy() - low) / (high - low) for side in "ab")
    ones = np.ones(len(first))
    shares = differences_as_shares(np.column_stack([first, ones]), np.column_stack([second, ones]))[:, 0]
    joined = tables[0].join(values.select(UNIT).with_columns(share=pl.Series(shares)), on=UNIT, how="left")
    return _by_cluster(joined, unit=rule.unit)


def _by_cluster(table: pl.DataFrame, *, unit: str) -> Totals:
    items = table.unique(UNIT, keep="first", maintain_order=True)
    index, names = number_clusters(items[UNIT] if unit == ITEM else items["cluster"])
    shares = items["share"].to_numpy()
    there = ~np.isnan(shares)
    sums = np.bincount(index[there], weights=shares[there], minlength=len(names))
    counts, seen = np.bincount(index[there], minlength=len(names)), np.bincount(index, minlength=len(names))
    return {name: ((float(sums[k]), float(counts[k])), int(seen[k])) for k, name in enumerate(names)}


def _decide(rule: StoppingRule, totals: Array, *, sampling: ClusterSampling, clusters: int) -> str | None:
    """Why the rule's question is answered, or cannot be answered with the clusters there are; None while it is open."""
    metric = get_mean_metric(rule.metric)
    width = metric.bounds[1] - metric.bounds[0]
    ends = sequence_interval(totals, sampling=sampling)
    if rule.kind == BASELINE:
        low, high = (width * as_difference(end) for end in ends)
    else:
        low, high = (metric.bounds[0] + width * end for end in ends)
    unit = "items" if rule.unit == ITEM else "clusters"
    seen = f"{low:.2f} to {high:.2f} after {len(totals)} of {clusters} {unit}, {ESTIMANDS[rule.estimand]}"
    half = (high - low) / 2
    if rule.kind == PRECISION:
        if half <= rule.number:
            return f"{rule.metric} is known to within {rule.number:g}: {seen}"
        projected = half * math.sqrt(len(totals) / clusters)
        if sampling.clusters is None and 2 * len(totals) >= clusters and projected > HOPELESS * rule.number:
            return f"{rule.text} cannot be reached with these data: {seen}"
        return None
    if rule.kind == THRESHOLD:
        return None if low <= rule.number <= high else f"{rule.metric} is not {rule.number:g}: {seen}"
    if max(abs(low), abs(high)) <= rule.number:
        return f"{rule.metric} is within {rule.number:g} of {rule.baseline}: a difference of {seen}"
    if low > rule.number or high < -rule.number:
        return f"{rule.metric} is not within {rule.number:g} of {rule.baseline}: a difference of {seen}"
    return None
