"""Rankings: equal to a slow reference, and careful where models cannot be told apart."""

from __future__ import annotations

import numpy as np
import pytest

import isogloss as ig
from isogloss.errors import IsoglossError
from support.builders import score, triple

CLUSTERS, EACH = 24, 10


def models(**shares: float) -> ig.Scored:
    """Models that prefer the stereotype in about this share of the same items, all competent."""
    rng = np.random.default_rng(1)
    items = [triple(f"i{k}", f"t{k % CLUSTERS:02}") for k in range(CLUSTERS * EACH)]
    made = []
    for name, share in shares.items():
        wins = rng.permutation(len(items)) < share * len(items)
        made.append(score(items, [(2, 1, 0) if won else (1, 2, 0) for won in wins], model=name))
    return ig.join(*made)


def test_the_model_nearest_to_neutral_is_first_and_far_ones_are_told_apart():
    ranks = ig.rank_models(models(far=0.9, near=0.52, below=0.3), metric="ss", resamples=500)
    assert [(row.rank, row.model) for row in ranks] == [(1, "near"), (2, "below"), (3, "far")]
    assert ranks[0].better_than == ("below", "far")
    assert [(row.may_be_best, row.may_be_worst) for row in ranks] == [(True, False), (False, False), (False, True)]
    assert [row.low for row in ranks] == [1, 2, 3]


def test_models_that_cannot_be_told_apart_may_all_be_best_and_worst():
    ranks = ig.rank_models(models(a=0.55, b=0.56, c=0.54), metric="ss", resamples=500)
    assert all(row.may_be_best and row.may_be_worst and not row.better_than for row in ranks)
    assert {row.low for row in ranks} == {1}
    assert {row.high for row in ranks} == {3}


def test_probabilities_equal_those_of_resampling_by_hand():
    scored = models(a=0.55, b=0.62, c=0.7)
    ranks = {row.model: row for row in ig.rank_models(scored, metric="ss", resamples=400, seed=3)}
    names = sorted(ranks)
    rng = np.random.default_rng(3)
    wins = {}
    for name in names:
        table = scored.table.filter((scored.table["model"] == name) & (scored.table["role"] == "stereotype"))
        per = [table.filter(table["cluster"] == f"t{k:02}")["value"].to_numpy() > 1.5 for k in range(CLUSTERS)]
        wins[name] = np.array([one.sum() for one in per])
    firsts = dict.fromkeys(names, 0)
    for drawn in rng.integers(CLUSTERS, size=(400, CLUSTERS)):
        far = {name: abs(100 * wins[name][drawn].sum() / (CLUSTERS * EACH) - 50) for name in names}
        for name in names:
            firsts[name] += far[name] == min(far.values())
    assert {name: ranks[name].first for name in names} == {name: firsts[name] / 400 for name in names}


def test_the_interval_of_a_rank_counts_the_models_shown_to_be_better_and_worse():
    ranks = ig.rank_models(models(a=0.5, b=0.52, c=0.62, d=0.64, e=0.95), metric="ss", resamples=200)
    for row in ranks:
        assert (row.low, row.high) == (1 + len(row.worse_than), 5 - len(row.better_than))
    assert {row.model: (row.low, row.high) for row in ranks}["e"] == (5, 5)


def test_a_ranking_needs_two_models():
    with pytest.raises(IsoglossError) as caught:
        ig.rank_models(models(a=0.5))
    assert str(caught.value) == "A ranking needs two models with scores in one language."


def test_few_clusters_have_ranks_without_an_interval():
    items = [triple(f"i{k}", f"t{k % 4}") for k in range(40)]
    two = ig.join(*(score(items, [row] * 40, model=name) for name, row in (("a", (2, 1, 0)), ("b", (1, 2, 0)))))
    assert {row.why for row in ig.rank_models(two, metric="icat")} == {"4 clusters; an interval needs 10"}
