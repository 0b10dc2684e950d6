"""Intervals: their definitions, their choice, and how often they cover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

from isogloss import measure
from isogloss.analysis.intervals import IntervalSettings, find_interval
from isogloss.analysis.measures import interval_notes
from isogloss.analysis.structure import rho_of_sums
from isogloss.errors import IsoglossError
from isogloss.metrics import from_sums
from isogloss.stats.estimates import (
    Estimate,
    bca_interval,
    difference_ends,
    effective_count,
    find_ends,
    fisher_ends,
    recovered_p,
)
from isogloss.stats.resampling import (
    bootstrap_values,
    expanded_level,
    jackknife_values,
    percentile_interval,
    resampling_weights,
    wilson_interval,
)
from support.builders import score, score_many, triple


def mean_of(values):
    return lambda weights: (weights @ values) / weights.sum(axis=1)


def estimate_of(values, drawn) -> Estimate:
    """The mean of independent values; a pseudo-value of a mean is the value itself."""
    return Estimate(float(values.mean()), drawn, values, (-np.inf, np.inf), len(values))


def alone(wins: int, n: int):
    """`n` items that are each their own cluster; the first `wins` prefer the stereotype."""
    items = [replace(triple(f"i{k}"), cluster=None) for k in range(n)]
    return score(items, [(2, 1, 0) if k < wins else (1, 2, 0) for k in range(n)])


@pytest.mark.parametrize(("wins", "n"), [(0, 10), (7, 10), (50, 100), (1508, 1508)])
def test_wilson_is_scipys(wins, n):
    expected = scipy_stats.binomtest(wins, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(wins / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_bca_is_scipys_when_every_row_is_a_cluster():
    values = np.random.default_rng(0).exponential(size=60)
    drawn = bootstrap_values(mean_of(values), 60, resamples=40_000, seed=1)
    expected = scipy_stats.bootstrap((values,), np.mean, n_resamples=40_000, method="BCa", rng=2).confidence_interval
    found = bca_interval(estimate_of(values, drawn))
    assert found == pytest.approx((expected.low, expected.high), abs=0.01)


def test_bca_leans_towards_the_long_tail():
    values = np.random.default_rng(0).exponential(size=40)
    drawn = bootstrap_values(mean_of(values), 40, resamples=4000, seed=1)
    low, high = percentile_interval(drawn, level=0.95)
    assert bca_interval(estimate_of(values, drawn)) > (low, high)


def test_the_jackknife_leaves_out_each_cluster_once():
    values = np.array([1.0, 2.0, 6.0])
    assert jackknife_values(mean_of(values), 3).tolist() == [4, 3.5, 1.5]
    assert estimate_of(values, values).error == pytest.approx(values.std(ddof=1) / 3**0.5)


def positive(values) -> Estimate:
    """The mean of values from 0 on, with its resamples and their standard errors."""
    drawn = bootstrap_values(mean_of(values), len(values), resamples=500, seed=0)
    errors = np.full(len(drawn), values.std(ddof=1) / len(values) ** 0.5)
    return Estimate(float(values.mean()), drawn, values, (0, np.inf), len(values), errors)


def test_few_values_with_a_long_tail_have_the_upper_end_of_a_lognormal_mean():
    logs = np.linspace(-2, 2, 11)
    half = scipy_stats.t.ppf(0.975, 10) * (logs.var(ddof=1) / 11 + logs.var(ddof=1) ** 2 / 20) ** 0.5
    assert find_ends(positive(np.exp(logs))).high == pytest.approx(np.exp(logs.mean() + logs.var(ddof=1) / 2 + half))


def test_a_single_value_near_zero_does_not_stretch_the_interval_upwards():
    plain, near = np.linspace(1, 2, 11), np.linspace(1, 2, 11)
    near[0] = 1e-9
    assert find_ends(positive(near)).high < 1.5 * find_ends(positive(plain)).high


def test_the_expanded_level_is_hesterbergs_and_vanishes_with_many_clusters():
    t = scipy_stats.t.ppf(0.975, 9) * (10 / 9) ** 0.5
    assert expanded_level(10) == pytest.approx(1 - 2 * scipy_stats.norm.cdf(-t))
    assert 0.95 < expanded_level(100_000) < 0.95001


def test_independent_items_get_wilsons_interval_and_a_note():
    found = measure(alone(12, 12), metrics=["ss"], by=[])
    assert (found[0].low, found[0].high) == pytest.approx((100 * wilson_interval(1, 12)[0], 100))
    assert found.notes == ("the intervals of ss are Wilson's: every item is its own cluster",)


def test_a_note_on_intervals_names_a_whole_metric_only_if_all_its_rows_have_that_kind():
    row = replace(measure(alone(12, 12), metrics=["ss"], by=[])[0], metric="ss")
    kinds = {"ss": ("wilson", "percentile"), "lms": ("near", "percentile"), "icat": ("near", "constant", None)}
    rows = [replace(row, metric=metric, interval=kind) for metric, names in kinds.items() for kind in names]
    assert interval_notes(rows) == [
        "the intervals of ss are Wilson's where every item is its own cluster",
        "the intervals of icat are Wilson's with the effective number of items: near the end of the scale",
        "the intervals of lms are Wilson's with the effective number of items near the end of the scale",
    ]


def test_the_bootstrap_can_be_asked_for_and_never_gives_a_point():
    row = measure(alone(12, 12), metrics=["ss"], by=[], interval="bootstrap", resamples=200)[0]
    assert (row.low, row.high) == pytest.approx((100 * wilson_interval(1, 12)[0], 100))


def test_metrics_that_are_no_shares_keep_the_bootstrap():
    rows = {row.metric: row for row in measure(score_many(40, clusters=40), by=[], resamples=200)}
    boot = {row.metric: row for row in measure(score_many(40, clusters=40), by=[], interval="bootstrap", resamples=200)}
    assert rows["icat"] == boot["icat"]
    assert rows["lms"] == boot["lms"]
    assert rows["ss"] != boot["ss"]


def test_a_scale_without_an_end_has_no_shares():
    values = np.linspace(1, 12, 20)
    sums = np.column_stack([values, np.ones(20)])
    names = [f"c{number}" for number in range(20)]
    mean = from_sums(sums, names, finish=lambda total: total[..., 0] / total[..., 1], n=20)
    found = find_interval(mean, IntervalSettings(resamples=200), bounds=(0, np.inf))
    assert found.low is not None
    assert 0 < found.low < 6.5 < found.high < np.inf


def test_wilson_for_clustered_items_is_refused_with_a_reason():
    row = measure(score_many(60, clusters=12), metrics=["ss"], by=[], interval="wilson")[0]
    assert (row.low, row.high) == (None, None)
    assert row.why == "no Wilson interval: the value is not a share of items that are each a cluster of their own"


def test_bca_can_be_asked_for():
    found = measure(score_many(200, clusters=20), metrics=["icat"], by=[], interval="bca", resamples=500)
    assert found[0].low < found[0].value < found[0].high
    assert found.notes == ("the intervals are bias-corrected and accelerated (BCa)",)


def test_an_unknown_interval_and_too_few_resamples_are_refused():
    with pytest.raises(IsoglossError) as caught:
        measure(alone(3, 6), interval="wilsons")
    assert str(caught.value) == (
        "No interval named 'wilsons'. Did you mean 'wilson'? Known: auto, bca, bootstrap, wilson."
    )
    with pytest.raises(IsoglossError) as caught:
        measure(alone(3, 6), resamples=10)
    assert str(caught.value) == "10 resamples are too few for an interval; give 100 or more."


# ---- intervals of values that clusters of different sizes bias, of correlations, and of unpaired sides near the end


def ratio_estimate(wins, sizes) -> Estimate:
    wins, sizes = np.asarray(wins, dtype=float), np.asarray(sizes, dtype=float)
    weights = np.concatenate(list(resampling_weights(len(wins), resamples=2000, seed=0)))
    value, count = 100 * wins.sum() / sizes.sum(), len(wins)
    pseudo = count * value - (count - 1) * 100 * (wins.sum() - wins) / (sizes.sum() - sizes)
    return Estimate(value, 100 * (weights @ wins) / (weights @ sizes), pseudo, (0, 100), count)


@pytest.mark.parametrize(("clusters", "times"), [(20, 8), (60, 4)])
def test_an_interval_holds_students_around_the_jackknifes_value_where_cluster_sizes_bias_the_value(clusters, times):
    sizes = np.round(27 * np.exp(np.linspace(-1.5, 2.0, clusters)))
    estimate = ratio_estimate(np.round(sizes * np.linspace(0.4, 0.75, clusters)), sizes)
    bias = estimate.pseudo.mean() - estimate.value
    assert abs(bias) > 0.05 * estimate.error
    half = scipy_stats.t.ppf(0.975, effective_count(estimate) - 1) * estimate.error
    found = find_ends(estimate)
    assert found.low <= estimate.value + times * bias - half + 1e-9
    assert found.high == pytest.approx(estimate.value + times * bias + half)


@pytest.mark.parametrize("clusters", [12, 40, 60])
def test_clusters_of_one_size_keep_the_percentiles_or_few_of_them_students_where_it_reaches_further(clusters):
    rng = np.random.default_rng(0)
    estimate = ratio_estimate(rng.binomial(30, 0.55, size=clusters), np.full(clusters, 30))
    low, high = percentile_interval(estimate.drawn, level=expanded_level(clusters))
    if clusters <= 40:
        half = scipy_stats.t.ppf(0.975, clusters - 1) * scipy_stats.sem(estimate.pseudo)
        low, high = min(low, estimate.value - half), max(high, estimate.value + half)
    found = find_ends(estimate)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_the_p_of_unpaired_sides_near_the_end_is_where_their_interval_reaches_zero():
    a = ratio_estimate([30, 29, 30, 28, 30, 30, 29, 30, 30, 30, 27, 30], [30] * 12)
    b = ratio_estimate([29, 26, 30, 28, 25, 30, 29, 27, 30, 30, 24, 30], [30] * 12)
    p = recovered_p(a, b)
    sides = [(find_ends(one, level=1 - p), one.value) for one in (a, b)]
    (one, x), (two, y) = sides
    assert 0 < p < 1
    assert x - y == pytest.approx(np.hypot(x - one.low, two.high - y), abs=1e-4)
    even = ratio_estimate([12, 15, 18] * 4, [30] * 12)
    assert recovered_p(even, even) == 0


@pytest.mark.parametrize(("clusters", "widened"), [(10, True), (40, True), (41, False)])
def test_the_interval_of_a_paired_difference_of_few_clusters_holds_students(clusters, widened):
    rng = np.random.default_rng(clusters)
    sizes = rng.integers(20, 34, clusters)
    a, b = (ratio_estimate(rng.binomial(sizes, chance), sizes) for chance in (0.55, 0.5))
    percentiles = percentile_interval(a.drawn - b.drawn, level=expanded_level(clusters))
    gaps = a.pseudo - b.pseudo
    half = scipy_stats.t.ppf(0.975, clusters - 1) * gaps.std(ddof=1) / clusters**0.5
    student = a.value - b.value - half, a.value - b.value + half
    ends = difference_ends(a, b, count=clusters, related=True)
    outer = min(percentiles[0], student[0]), max(percentiles[1], student[1])
    assert (ends.low, ends.high) == pytest.approx(outer if widened else percentiles)


def test_the_interval_of_a_correlation_is_students_with_the_jackknife_on_fishers_scale():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(15, 6))
    y = x + rng.normal(size=(15, 6))

    def correlation(keep) -> float:
        return float(np.corrcoef(x[keep].ravel(), y[keep].ravel())[0, 1])

    each = [np.delete(np.arange(15), k) for k in range(15)]
    value = np.arctanh(correlation(np.arange(15)))
    pseudo = np.array([15 * value - 14 * np.arctanh(correlation(keep)) for keep in each])
    spread = pseudo - pseudo.mean()
    kurtosis = 15 * (spread**4).sum() / (spread**2).sum() ** 2
    half = scipy_stats.t.ppf(0.975, min(15, 2 * 15 / (kurtosis - 1)) - 1) * pseudo.std(ddof=1) / 15**0.5
    sums = np.stack([np.full(15, 6), x.sum(1), y.sum(1), (x * x).sum(1), (y * y).sum(1), (x * y).sum(1)], axis=1)
    assert fisher_ends(rho_of_sums, sums) == pytest.approx((np.tanh(value - half), np.tanh(value + half)))
