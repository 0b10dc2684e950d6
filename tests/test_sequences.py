"""Confidence sequences equal a slow reference and the formulas of another package, and hold however often one looks."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from isogloss.stats.sequences import (
    FRACTIONS,
    ClusterSampling,
    as_difference,
    differences_as_shares,
    log_capital,
    sequence_interval,
)


def clusters(count: int, *, seed: int, mean: float = 0.6, largest: int = 5) -> np.ndarray:
    """Clusters of 1 to `largest` items, each with its own mean."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest + 1, size=count)
    own = rng.beta(4 * mean, 4 * (1 - mean), size=count)
    return np.column_stack([rng.binomial(sizes, own), sizes]).astype(float)


def slow_capital(totals: np.ndarray, mean: float, *, largest: float, count: int | None) -> list[float]:
    """One bettor per fraction, one cluster after another."""
    purses = [1.0] * len(FRACTIONS)
    seen_sum = seen_size = 0.0
    history = []
    for number, (value, size) in enumerate(totals):
        expected = 0.0 if count is None else (mean * seen_size - seen_sum) / (count - number)
        if mean * largest + expected < 0:  # no cluster can be so far below: the mean is impossible
            return history + [math.inf] * (len(totals) - number)
        for bettor, fraction in enumerate(FRACTIONS):
            stake = fraction / (mean * largest + expected)
            purses[bettor] *= 1 + stake * (value - mean * size - expected)
        seen_sum, seen_size = seen_sum + value, seen_size + size
        history.append(math.log(sum(purses) / len(purses)))
    return history


@pytest.mark.parametrize("count", [None, 60])
def test_capital_equals_its_slow_reference(count: int | None) -> None:
    totals = clusters(40, seed=1)
    for mean in (0.3, 0.5, 0.62):
        wanted = slow_capital(totals, mean, largest=5, count=count)
        assert log_capital(totals, mean, sampling=ClusterSampling(5, count)) == pytest.approx(wanted)


@pytest.mark.parametrize("count", [None, 100])
def test_single_items_equal_confseq(count: int | None) -> None:
    """With one item per cluster and one fraction, the capital is that of the package of the method's authors."""
    betting = pytest.importorskip("confseq.betting")
    values = np.random.default_rng(3).binomial(1, 0.7, size=80).astype(float)
    totals = np.column_stack([values, np.ones(80)])
    for mean in (0.6, 0.75):
        each = [
            betting.betting_mart(
                values,
                mean,
                lambdas_fn_positive=lambda x, m: np.full(len(x), 1e9),  # always cut to trunc_scale / mean
                N=count,
                theta=1,
                trunc_scale=float(fraction),
            )
            for fraction in FRACTIONS
        ]
        ours = log_capital(totals, mean, sampling=ClusterSampling(1, count))
        assert np.exp(ours) == pytest.approx(np.mean(each, axis=0))


def test_an_end_of_the_interval_is_where_the_capital_reaches_its_limit() -> None:
    totals, sampling = clusters(200, seed=2), ClusterSampling(5)
    low, high = sequence_interval(totals, sampling=sampling)
    assert log_capital(totals, low, sampling=sampling).max() == pytest.approx(math.log(40), abs=1e-6)
    mirrored = np.column_stack([totals[:, 1] - totals[:, 0], totals[:, 1]])
    assert log_capital(mirrored, 1 - high, sampling=sampling).max() == pytest.approx(math.log(40), abs=1e-6)


@pytest.mark.parametrize("count", [None, 150])
def test_capital_falls_with_the_mean(count: int | None) -> None:
    totals = clusters(100, seed=5)
    curves = [log_capital(totals, mean, sampling=ClusterSampling(5, count)) for mean in np.linspace(0.05, 0.95, 19)]
    assert all((later <= earlier + 1e-9).all() for earlier, later in itertools.pairwise(curves))


def test_all_clusters_seen_give_the_exact_mean() -> None:
    totals = clusters(30, seed=4)
    exact = totals[:, 0].sum() / totals[:, 1].sum()
    low, high = sequence_interval(totals, sampling=ClusterSampling(5, 30, rest=0))
    assert (low, high) == (pytest.approx(exact), pytest.approx(exact))


def test_without_replacement_is_never_much_wider_and_in_the_end_far_narrower() -> None:
    totals = clusters(400, seed=6)
    rest = float(totals[300:, 1].sum())
    drawn = sequence_interval(totals[:300], sampling=ClusterSampling(5, 400, rest))
    population = sequence_interval(totals[:300], sampling=ClusterSampling(5))
    assert drawn[1] - drawn[0] < 0.75 * (population[1] - population[0])


@pytest.mark.parametrize("finite", [True, False])
def test_the_truth_is_missed_at_any_look_in_at_most_five_of_a_hundred(finite: bool) -> None:
    """600 sequences of 80 clusters; looked at after every cluster. 7 % is three standard errors above 5 %."""
    missed = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        if finite:
            totals = clusters(80, seed=9)[rng.permutation(80)]
            truth, sampling = totals[:, 0].sum() / totals[:, 1].sum(), ClusterSampling(5, 80)
        else:
            totals, truth, sampling = clusters(80, seed=seed), 0.6, ClusterSampling(5)
        mirrored = np.column_stack([totals[:, 1] - totals[:, 0], totals[:, 1]])
        peaks = [
            log_capital(rows, mean, sampling=sampling).max() for rows, mean in ((totals, truth), (mirrored, 1 - truth))
        ]
        missed += max(peaks) >= math.log(40)
    assert missed / 600 < 0.07


def test_paired_differences_are_means_too() -> None:
    first, second = clusters(300, seed=7, mean=0.8), clusters(300, seed=7, mean=0.8)
    low, high = sequence_interval(differences_as_shares(first, second), sampling=ClusterSampling(5))
    assert as_difference(low) < 0 < as_difference(high)
    second[:, 0] = np.maximum(second[:, 0] - 1, 0)
    low, high = sequence_interval(differences_as_shares(first, second), sampling=ClusterSampling(5))
    true = float((first[:, 0] - second[:, 0]).sum() / first[:, 1].sum())
    assert 0 < as_difference(low) < true < as_difference(high)
