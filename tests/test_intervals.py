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
    find_ends,
    find_scatter,
    fisher_ends,
    freedom_of_sizes,
    intraclass_correlation,
    paired_ends,
    unpaired_ends,
)
from isogloss.stats.resampling import (
    bootstrap_values,
    expanded_level,
    jackknife_values,
    percentile_interval,
    wilson_interval,
)
from support.builders import score, score_many, triple


def mean_of(values):
    return lambda weights: (weights @ values) / weights.sum(axis=1)


def estimate_of(values, drawn) -> Estimate:
    """The mean of independent values."""
    return Estimate(float(values.mean()), jackknife_values(mean_of(values), len(values)), drawn=drawn)


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
    assert find_scatter(estimate_of(values, None)).error == pytest.approx(values.std(ddof=1) / 3**0.5)


def positive(values) -> Estimate:
    """The mean of values from 0 on, with its resamples and their standard errors."""
    drawn = bootstrap_values(mean_of(values), len(values), resamples=500, seed=0)
    errors = np.full(len(drawn), values.std(ddof=1) / len(values) ** 0.5)
    without = jackknife_values(mean_of(values), len(values))
    return Estimate(float(values.mean()), without, (0, np.inf), drawn=drawn, drawn_errors=errors)


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


def test_where_all_clusters_agree_the_interval_is_wilsons_with_one_row_per_cluster():
    rows = measure(alone(12, 12), metrics=["ss"], by=[])
    assert (rows[0].low, rows[0].high) == pytest.approx((100 * wilson_interval(1, 12)[0], 100))
    assert rows.notes == ("the intervals of ss are Wilson's over clusters: all clusters agree",)


def test_wilsons_interval_can_be_asked_for_and_has_a_note():
    rows = measure(alone(9, 12), metrics=["ss"], by=[], interval="wilson")
    assert (rows[0].low, rows[0].high) == pytest.approx(tuple(100 * end for end in wilson_interval(0.75, 12)))
    assert rows.notes == ("the intervals of ss are Wilson's: every item is its own cluster",)


def test_a_note_on_intervals_names_a_whole_metric_only_if_all_its_rows_have_that_kind():
    row = replace(measure(alone(12, 12), metrics=["ss"], by=[])[0], metric="ss")
    kinds = {"ss": ("wilson", "jackknife"), "lms": ("constant", "jackknife"), "icat": ("constant", None)}
    rows = [replace(row, metric=metric, interval=kind) for metric, names in kinds.items() for kind in names]
    assert interval_notes(rows) == [
        "the intervals of ss are Wilson's where every item is its own cluster",
        "the intervals of icat are Wilson's over clusters: all clusters agree",
        "the intervals of lms are Wilson's over clusters where all clusters agree",
    ]


def test_the_bootstrap_can_be_asked_for_and_never_gives_a_point():
    row = measure(alone(12, 12), metrics=["ss"], by=[], interval="bootstrap", resamples=200)[0]
    assert (row.low, row.high) == pytest.approx((100 * wilson_interval(1, 12)[0], 100))


def test_the_bootstrap_is_the_expanded_percentiles():
    scored = score_many(200, clusters=20)
    row = measure(scored, metrics=["ss"], by=[], interval="bootstrap", resamples=500)[0]
    plain = measure(scored, metrics=["ss"], by=[])[0]
    assert (row.interval, plain.interval) == ("bootstrap", "jackknife")
    assert (row.low, row.high) != (plain.low, plain.high)


def test_ties_make_the_interval_of_independent_items_narrower():
    scores = [(2, 1, 0), (1, 2, 0)] * 20
    tied = [(1, 1, 0) if k % 4 < 2 else pair for k, pair in enumerate(scores)]
    items = [replace(triple(f"i{k}"), cluster=None) for k in range(40)]
    whole, half = (measure(score(items, values), metrics=["ss"], by=[])[0] for values in (scores, tied))
    assert whole.value == half.value == 50
    assert half.high - half.low < 0.8 * (whole.high - whole.low)


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
    assert row.why == "no Wilson interval: the value is not a share of items that are separate clusters"


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


# ---- the one interval, against a slow reference


def ratio(wins, sizes, *, within=None, bounds=(0, 100)) -> Estimate:
    """100 · wins / sizes with the value without each cluster; items are 0 or 1, so their scatter is known."""
    wins, sizes = np.asarray(wins, dtype=float), np.asarray(sizes, dtype=float)
    without = 100 * (wins.sum() - wins) / (sizes.sum() - sizes)
    inside = float(np.sum(wins * (1 - wins / sizes))) if within is None else within
    likeness = intraclass_correlation(wins, sizes, within=inside)
    return Estimate(100 * wins.sum() / sizes.sum(), without, bounds, sizes, likeness)


def slow_scatter(wins, sizes) -> tuple[float, float]:
    """Error and degrees of freedom of 100 · Σ wins / Σ sizes, one step after the other, with matrices and lists of items."""
    count, total = len(wins), sum(sizes)
    value = 100 * sum(wins) / total
    left = [100 * (sum(wins) - wins[c]) / (total - sizes[c]) for c in range(count)]
    error = ((count - 1) / count * sum((theta - value) ** 2 for theta in left)) ** 0.5
    items = [[1.0] * wins[c] + [0.0] * (sizes[c] - wins[c]) for c in range(count)]
    mean = sum(map(sum, items)) / total
    inside = sum((x - np.mean(own)) ** 2 for own in items for x in own) / (total - count)
    between = sum(len(own) * (np.mean(own) - mean) ** 2 for own in items) / (count - 1)
    typical = (total - sum(n**2 for n in sizes) / total) / (count - 1)
    part = (between - inside) / typical
    likeness = min(1.0, max(0.0, part / (part + inside)))
    away = np.eye(count) - np.outer(sizes, np.ones(count)) / total
    matrix = away @ np.diag([n * (1 + (n - 1) * likeness) for n in sizes]) @ away.T
    of_sizes = np.trace(matrix) ** 2 / np.trace(matrix @ matrix)
    kurtosis = scipy_stats.kurtosis(left, fisher=False)
    return error, max(3.0, min(of_sizes, 2 * count / (kurtosis - 1) - 1))


CLUSTERS = {
    "equal": ([12, 17, 9, 14, 11, 20, 16, 13, 15, 10, 18, 12], [27] * 12),
    "unequal": ([1, 4, 20, 11, 60, 9, 7, 2, 33, 150, 12, 5], [3, 9, 27, 25, 90, 14, 20, 5, 50, 300, 20, 8]),
    "near the end": ([27, 27, 27, 26, 27, 27, 27, 27, 27, 25, 27, 27], [27] * 12),
}


@pytest.mark.parametrize("kind", CLUSTERS)
def test_error_and_degrees_of_freedom_are_those_of_the_slow_reference(kind):
    wins, sizes = CLUSTERS[kind]
    scatter = find_scatter(ratio(wins, sizes))
    assert (scatter.error, scatter.freedom) == pytest.approx(slow_scatter(wins, sizes))


@pytest.mark.parametrize("kind", CLUSTERS)
def test_the_interval_of_a_share_is_students_on_the_logit_scale(kind):
    wins, sizes = CLUSTERS[kind]
    error, freedom = slow_scatter(wins, sizes)
    share = sum(wins) / sum(sizes)
    half = scipy_stats.t.ppf(0.975, freedom) * error / 100 / (share * (1 - share))
    middle = np.log(share / (1 - share))
    expected = [100 / (1 + np.exp(-(middle + sign * half))) for sign in (-1, 1)]
    ends = find_ends(ratio(wins, sizes))
    assert (ends.low, ends.high) == pytest.approx(tuple(expected))


def test_measure_gives_the_interval_of_the_reference():
    wins, sizes = CLUSTERS["unequal"]
    items, scores = [], []
    for cluster, (won, size) in enumerate(zip(wins, sizes, strict=True)):
        items += [replace(triple(f"{cluster}-{k}"), cluster=f"c{cluster}") for k in range(size)]
        scores += [(2, 1, 0) if k < won else (1, 2, 0) for k in range(size)]
    row = measure(score(items, scores), metrics=["ss"], by=[])[0]
    ends = find_ends(ratio(wins, sizes))
    assert (row.low, row.high) == pytest.approx((ends.low, ends.high), abs=1e-6)


def test_clusters_of_one_size_have_one_degree_of_freedom_less_than_there_are():
    assert freedom_of_sizes(np.full(17, 27.0), 0.3) == pytest.approx(16)
    assert freedom_of_sizes(np.array([1.0] * 16 + [1000.0]), 0.3) < 3


def test_a_bias_of_cluster_sizes_widens_the_interval():
    sizes = np.array([3.0, 5, 8, 12, 18, 27, 40, 60, 90, 140])
    goes_along, even = (
        ratio(np.round(sizes * np.linspace(0.2, 0.8, 10)), sizes),
        ratio([9, 12, 15, 18, 21] * 2, [27] * 10),
    )
    for estimate, wider in ((goes_along, True), (even, False)):
        around_mean = np.sqrt(9 / 10 * np.sum((estimate.without - estimate.without.mean()) ** 2))
        assert bool(find_scatter(estimate).error > 1.005 * around_mean) is wider


def test_a_paired_difference_is_students_with_the_jackknife_on_the_plain_scale():
    rng = np.random.default_rng(3)
    sizes = rng.integers(5, 60, 14)
    a, b = (ratio(rng.binomial(sizes, share), sizes) for share in (0.55, 0.5))
    gaps = a.without - b.without
    error = np.sqrt(13 / 14 * np.sum((gaps - (a.value - b.value)) ** 2))
    kurtosis = 2 * 14 / (scipy_stats.kurtosis(gaps, fisher=False) - 1) - 1
    freedom = min(freedom_of_sizes(sizes, max(a.likeness, b.likeness)), kurtosis)
    half = scipy_stats.t.ppf(0.975, freedom) * error
    ends = paired_ends(a, b)
    assert (ends.low, ends.high) == pytest.approx((a.value - b.value - half, a.value - b.value + half))


def test_an_unpaired_difference_of_means_is_welchs():
    rng = np.random.default_rng(4)
    x, y = rng.normal(1, 1, 14), rng.normal(0, 3, 23)
    expected = scipy_stats.ttest_ind(x, y, equal_var=False).confidence_interval()
    sides = [Estimate(float(v.mean()), jackknife_values(mean_of(v), len(v))) for v in (x, y)]
    kurtoses = [2 * len(v) / (scipy_stats.kurtosis(v, fisher=False) - 1) - 1 for v in (x, y)]
    assert (
        min(k - len(v) + 1 for k, v in zip(kurtoses, (x, y), strict=True)) > 0
    )  # the sizes decide here, as Welch's do
    ends = unpaired_ends(*sides)
    assert (ends.low, ends.high) == pytest.approx((expected.low, expected.high))


def test_strata_add_their_squared_errors_as_two_independent_means_do():
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0, 1, 12), rng.uniform(0, 3, 30)
    value = float(x.mean() - y.mean())
    without = np.concatenate([(x.sum() - x) / 11 - y.mean(), x.mean() - (y.sum() - y) / 29])
    scatter = find_scatter(Estimate(value, without, strata=("x",) * 12 + ("y",) * 30))
    errors = x.var(ddof=1) / 12, y.var(ddof=1) / 30
    assert scatter.error == pytest.approx(sum(errors) ** 0.5)
    assert scatter.freedom == pytest.approx(sum(errors) ** 2 / (errors[0] ** 2 / 11 + errors[1] ** 2 / 29))


def test_few_wide_templates_do_not_give_an_upper_end_without_meaning():
    rng = np.random.default_rng(6)
    values = rng.exponential(size=20) * np.where(np.arange(20) == 0, 25, 1)
    drawn = bootstrap_values(mean_of(values), 20, resamples=2000, seed=0)
    square = bootstrap_values(mean_of(values**2), 20, resamples=2000, seed=0)
    errors = np.sqrt(np.maximum(square - drawn**2, 0) / 19)
    estimate = replace(positive(values), drawn=drawn, drawn_errors=errors)
    assert find_ends(estimate).high < 100 * values.mean()


def test_the_interval_of_a_correlation_is_students_with_the_jackknife_on_fishers_scale():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(15, 6))
    y = x + rng.normal(size=(15, 6))

    def correlation(keep) -> float:
        return float(np.corrcoef(x[keep].ravel(), y[keep].ravel())[0, 1])

    each = [np.delete(np.arange(15), k) for k in range(15)]
    value = np.arctanh(correlation(np.arange(15)))
    left = np.array([np.arctanh(correlation(keep)) for keep in each])
    error = (14 / 15 * ((left - value) ** 2).sum()) ** 0.5
    half = scipy_stats.t.ppf(0.975, min(14, 2 * 15 / (scipy_stats.kurtosis(left, fisher=False) - 1) - 1)) * error
    sums = np.stack([np.full(15, 6), x.sum(1), y.sum(1), (x * x).sum(1), (y * y).sum(1), (x * y).sum(1)], axis=1)
    assert fisher_ends(rho_of_sums, sums) == pytest.approx((np.tanh(value - half), np.tanh(value + half)))
