"""LMS against SS: the Pareto front, and first places over weights and resamples."""

from __future__ import annotations

import numpy as np
import pytest

from isogloss.analysis.intervals import IntervalSettings
from isogloss.analysis.tradeoffs import WEIGHTS, find_tradeoffs, pareto_front
from isogloss.scores import join_scored
from support.builders import score, triple


def test_the_front_equals_its_definition():
    one, two = np.random.default_rng(0).integers(0, 4, (2, 5, 30)).astype(float)
    found = pareto_front(one, two)
    for r in range(30):
        for i in range(5):
            beaten = any(
                one[k, r] >= one[i, r] and two[k, r] >= two[i, r] and (one[k, r] > one[i, r] or two[k, r] > two[i, r])
                for k in range(5)
            )
            assert bool(found[i, r]) == (not beaten)


def test_weights_decide_between_a_competent_and_a_fair_model():
    items = [triple(f"i{n}", target=f"t{n % 8}") for n in range(24)]
    # roles: stereotype, anti-stereotype, unrelated; the first model knows language and prefers stereotypes
    competent = score(items, [[3, 2, 1]] * 24, model="competent")
    fair = score(items, [[3, 2, 2.5] if n % 2 else [2, 3, 2.5] for n in range(24)], model="fair")
    found = find_tradeoffs(join_scored([competent, fair]), settings=IntervalSettings(resamples=100))
    first, second = found
    assert (first.lms, first.ss) == (100, 100)
    assert (second.lms, second.ss) == pytest.approx((50, 50))
    assert first.on_front
    assert second.on_front
    assert first.first[-1] == 1  # all the weight on LMS
    assert second.first[0] == 1  # all on SS
    assert len(first.first) == len(WEIGHTS)
    assert second.interpretable is False  # it is near 50 because it guesses
