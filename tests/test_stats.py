"""Statistics against their definitions."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import factorial

import numpy as np
import pytest

from isogloss.stats import resampling
from isogloss.stats.resampling import bootstrap_values, cluster_sums, percentile_interval, resampling_weights


def share(sums):
    return 100 * sums[..., 0] / sums[..., 1]


def weighted(sums):
    """The share as a function of cluster weights, and the number of clusters."""
    return lambda weights: share(weights @ sums), len(sums)


def bootstrap_interval(evaluate, clusters, *, level=0.95, **drawing):
    return percentile_interval(bootstrap_values(evaluate, clusters, **drawing), level=level)


def test_cluster_sums_add_the_rows_of_each_cluster():
    values = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert cluster_sums(values, np.array([1, 0, 1])).tolist() == [[2, 20], [5, 50]]


def test_every_resample_draws_as_many_clusters_as_there_are():
    weights = np.concatenate(list(resampling_weights(7, resamples=500, seed=3)))
    assert weights.shape == (500, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert (weights >= 0).all()


def test_resamples_are_drawn_with_the_multinomial_probabilities():
    # three clusters: (3,0,0) has probability 1/27, (2,1,0) 3/27, (1,1,1) 6/27
    weights = np.concatenate(list(resampling_weights(3, resamples=27_000, seed=1)))
    found = Counter(tuple(row.astype(int).tolist()) for row in weights)
    for counts in [c for c in product(range(4), repeat=3) if sum(c) == 3]:
        expected = 1000 * 6 / np.prod([factorial(c) for c in counts])
        assert found[counts] == pytest.approx(expected, abs=5 * expected**0.5)


@pytest.mark.parametrize("clusters", [3, 4])
def test_the_interval_equals_that_of_all_possible_resamples(clusters):
    sums = np.array([[1.0, 4.0], [3.0, 4.0], [9.0, 10.0], [2.0, 9.0]])[:clusters]
    exact = [share(sums[list(drawn)].sum(axis=0)) for drawn in product(range(clusters), repeat=clusters)]
    for level in (0.5, 0.8, 0.9):
        found = bootstrap_interval(*weighted(sums), level=level, resamples=200_000, seed=5)
        for percent, end in zip((50 * (1 - level), 50 * (1 + level)), found, strict=True):
            below, above = np.percentile(exact, [percent - 0.5, percent + 0.5], method="inverted_cdf")
            assert below - 1e-9 <= end <= above + 1e-9


def test_equal_clusters_leave_no_doubt():
    low, high = bootstrap_interval(*weighted(np.tile([3.0, 4.0], (12, 1))), resamples=100)
    assert (low, high) == pytest.approx((75, 75))


def test_the_interval_narrows_with_the_square_root_of_the_clusters():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, 1600), np.ones(1600)]).astype(float)
    widths = [np.diff(bootstrap_interval(*weighted(rows[:n]), seed=1))[0] for n in (100, 400, 1600)]
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.1)
    assert widths[1] / widths[2] == pytest.approx(2, rel=0.1)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    sums = np.random.default_rng(0).random((30, 2)) + 1
    first = bootstrap_interval(*weighted(sums), resamples=500, seed=7)
    assert first == bootstrap_interval(*weighted(sums), resamples=500, seed=7)
    assert first != bootstrap_interval(*weighted(sums), resamples=500, seed=8)


def test_drawing_in_blocks_gives_whole_resamples(monkeypatch):
    monkeypatch.setattr(resampling, "DRAWS_AT_ONCE", 25)
    blocks = list(resampling_weights(10, resamples=7, seed=0))
    assert [block.shape for block in blocks] == [(2, 10), (2, 10), (2, 10), (1, 10)]
    assert all((block.sum(axis=1) == 10).all() for block in blocks)


def test_strata_are_drawn_apart():
    strata = ["f", "m", "f", "m", "m"]
    weights = np.concatenate(list(resampling_weights(5, resamples=3000, seed=2, strata=strata)))
    assert (weights[:, [0, 2]].sum(axis=1) == 2).all()
    assert (weights[:, [1, 3, 4]].sum(axis=1) == 3).all()
    assert len(np.unique(weights, axis=0)) == 3 * 10
