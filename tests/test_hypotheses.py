"""Tests of hypotheses against exact enumeration, scipy and statsmodels, and under the null."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

from isogloss.stats.hypotheses import (
    adjust_bh,
    adjust_holm,
    detectable_effect,
    shuffle_test,
    swap_test,
)


def sign_flip_test(differences, **options) -> float:
    """The p of a sum of paired differences whose signs are chance."""
    return swap_test(lambda signs: signs @ differences, len(differences), **options)[0]


p_values = st.lists(st.floats(0, 1, allow_nan=False), min_size=1, max_size=12)


def enumerate_signs(differences):
    """The definition: the share of all 2^c sign patterns whose sum is as far from 0 as the observed one."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(value >= observed - 1e-9 for value in sums) / len(sums)


@pytest.mark.parametrize("clusters", [1, 2, 5, 10, 12])
def test_up_to_twelve_clusters_the_p_is_that_of_all_sign_patterns(clusters):
    differences = np.random.default_rng(clusters).integers(-3, 5, clusters).astype(float)
    assert sign_flip_test(differences) == pytest.approx(enumerate_signs(differences), abs=1e-12)


def test_the_exact_p_is_scipys():
    differences = np.random.default_rng(3).normal(0.4, 1, 11)
    expected = scipy_stats.permutation_test(
        (differences, np.zeros(11)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_test(differences) == pytest.approx(expected.pvalue, abs=1e-12)


def test_the_random_p_comes_near_the_exact_one():
    differences = np.random.default_rng(1).normal(0.3, 1, 16)
    ways = np.array(list(product((1, -1), repeat=16)))
    exact = np.mean(np.abs(ways @ differences) >= abs(differences.sum()) - 1e-9)
    assert sign_flip_test(differences, resamples=20_000, seed=4) == pytest.approx(exact, abs=0.012)


def test_the_random_p_is_never_zero_and_the_seed_decides_it():
    differences = np.ones(40)
    assert sign_flip_test(differences, resamples=999) == pytest.approx(1 / 1000)
    noisy = np.random.default_rng(0).normal(0, 1, 40)
    assert sign_flip_test(noisy, resamples=500, seed=1) == sign_flip_test(noisy, resamples=500, seed=1)


def test_no_difference_at_all_is_no_finding():
    assert sign_flip_test(np.zeros(30), resamples=100) == 1
    assert swap_test(lambda signs: signs @ np.zeros(4), 4) == (1, True)


def test_turning_all_differences_around_changes_nothing():
    differences = np.random.default_rng(5).normal(0.5, 1, 9)
    assert sign_flip_test(differences) == sign_flip_test(-differences)


def test_shuffling_clusters_comes_near_scipys_permutation_test():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.8, 1, 6), rng.normal(0, 1, 5)
    both = np.concatenate([a, b])

    def statistic(first):
        return (first @ both) / 6 - ((1 - first) @ both) / 5

    expected = scipy_stats.permutation_test((a, b), lambda x, y: np.mean(x) - np.mean(y), n_resamples=np.inf)
    found = shuffle_test(statistic, (6, 5), resamples=20_000, seed=3)
    # scipy doubles the smaller tail, ours counts both: they agree when the null is nearly symmetric
    assert found == pytest.approx(expected.pvalue, abs=0.03)


@given(p=p_values)
@settings(max_examples=50)
def test_the_adjusted_values_are_those_of_statsmodels(p):
    assert adjust_holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist(), abs=1e-12)
    assert adjust_bh(p) == pytest.approx(multipletests(p, method="fdr_bh")[1].tolist(), abs=1e-12)


@given(p=p_values)
@settings(max_examples=50)
def test_adjusting_never_lowers_a_p_and_holm_is_the_stricter(p):
    holm, bh = adjust_holm(p), adjust_bh(p)
    assert all(a >= b - 1e-12 >= c - 2e-12 for a, b, c in zip(holm, bh, p, strict=True))
    assert max(holm) <= 1


def test_nothing_to_adjust_is_nothing():
    assert (adjust_holm([]), adjust_bh([])) == ([], [])


@pytest.mark.parametrize("freedom", [11, 78, 10_000])
def test_the_detectable_effect_has_the_power_it_claims(freedom):
    effect = detectable_effect(1.0, freedom)
    reached = 1 - scipy_stats.nct.cdf(scipy_stats.t.ppf(0.975, freedom), freedom, effect)
    assert reached == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("clusters", "size"), [(10, 20), (30, 25), (79, 27)])
def test_under_the_null_the_test_is_wrong_in_at_most_five_and_a_half_percent(clusters, size):
    rng = np.random.default_rng(clusters)
    wrong = 0
    for trial in range(2000):
        # two sides with the same, cluster-dependent preferences: any difference is chance
        share = 1 / (1 + np.exp(-rng.normal(0.2, 0.8, clusters)))
        a, b = rng.binomial(size, share), rng.binomial(size, share)
        wrong += sign_flip_test((a - b).astype(float), resamples=499, seed=trial) <= 0.05
    assert wrong / 2000 <= 0.055
