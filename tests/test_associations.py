"""Correlations and kappa against scipy and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.inter_rater import cohens_kappa

from isogloss.stats.associations import kappa, kappa_of_table, pearson, ranks, spearman

values = st.lists(st.integers(-5, 5).map(float), min_size=5, max_size=20)


@given(x=values, data=st.data())
@settings(max_examples=50)
def test_correlations_are_those_of_scipy(x, data):
    y = data.draw(st.lists(st.integers(-5, 5).map(float), min_size=len(x), max_size=len(x)))
    a, b = np.array(x), np.array(y)
    assert ranks(a).tolist() == scipy_stats.rankdata(a).tolist()
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert spearman(a, b).why == pearson(a, b).why == "one of the two never changes"
        return
    assert spearman(a, b).value == pytest.approx(scipy_stats.spearmanr(a, b).statistic, abs=1e-9)
    assert pearson(a, b).value == pytest.approx(scipy_stats.pearsonr(a, b).statistic, abs=1e-9)


def test_pearsons_interval_is_scipys():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    y = x + rng.normal(size=20)
    expected = scipy_stats.pearsonr(x, y).confidence_interval(0.95)
    found = pearson(x, y)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_spearmans_interval_is_wider_than_pearsons_for_the_same_r():
    x = np.arange(12.0)
    y = np.array([2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11.0])  # already ranks, so rho = r
    assert spearman(x, y).value == pytest.approx(pearson(x, y).value)
    assert spearman(x, y).low < pearson(x, y).low


def test_three_values_have_no_interval_and_it_says_so():
    found = pearson(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0]))
    assert (found.low, found.high, found.n, found.why) == (None, None, 3, "3 values; an interval needs 4")


def test_a_perfect_correlation_has_no_interval():
    x = np.arange(6.0)
    assert spearman(x, 2 * x).value == 1
    assert spearman(x, 2 * x).why == "the correlation is perfect, so it has no interval"


def test_kappa_by_hand():
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: seen 0.7, chance 0.5·0.6 + 0.5·0.4 = 0.5, kappa 0.4
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert kappa(a, b) == pytest.approx(0.4)
    assert kappa(a, a) == pytest.approx(1)
    assert kappa(["yes"] * 3, ["yes"] * 3) is None


def test_kappa_is_that_of_statsmodels():
    table = np.random.default_rng(0).integers(1, 30, (3, 3)).astype(float)
    assert float(kappa_of_table(table)) == pytest.approx(cohens_kappa(table).kappa)
