"""Very many rows and clusters: the fast ways give what the slow ones give."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import isogloss as ig
from isogloss.analysis import intervals
from isogloss.analysis.differences import Difference, paired_p, paired_test
from isogloss.analysis.intervals import IntervalSettings, find_estimates, find_interval
from isogloss.files.rows import read_rows
from isogloss.metrics import Contribution, from_sums, percent
from isogloss.stats import hypotheses, resampling
from support.builders import score_many

CLUSTERS = 5_000
SETTINGS = IntervalSettings(resamples=10_000, seed=3)


def shares(seed: int, *, lift: float = 0.0) -> Contribution:
    """Clusters of different sizes with a share of wins each; equal seeds give the same clusters."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 12, size=CLUSTERS)
    wins = rng.binomial(sizes, np.clip(rng.beta(6, 4, size=CLUSTERS) + lift, 0, 1))
    return from_sums(np.column_stack([wins, sizes]), map(str, range(CLUSTERS)), finish=percent, n=int(sizes.sum()))


def pair() -> Difference:
    return paired_test(shares(1), shares(1, lift=0.004), bounds=(0, 100), settings=SETTINGS)


def test_the_linearised_bootstrap_agrees_with_the_drawn_one(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = IntervalSettings("bootstrap", resamples=10_000, seed=3)
    drawn = find_interval(shares(1), settings, bounds=(0, 100))
    monkeypatch.setattr(intervals, "MOST_DRAWN", CLUSTERS - 1)
    linear = find_interval(shares(1), settings, bounds=(0, 100))
    width = drawn.high - drawn.low
    assert linear != drawn
    assert linear.low == pytest.approx(drawn.low, abs=0.02 * width)
    assert linear.high == pytest.approx(drawn.high, abs=0.02 * width)


def test_the_jackknife_of_many_clusters_agrees_with_the_bootstrap() -> None:
    drawn = find_interval(shares(1), IntervalSettings("bootstrap", resamples=10_000, seed=3), bounds=(0, 100))
    plain = find_interval(shares(1), SETTINGS, bounds=(0, 100))
    assert (plain.low, plain.high) == pytest.approx((drawn.low, drawn.high), abs=0.02 * (drawn.high - drawn.low))


def test_strata_keep_their_sizes_in_linearised_sums() -> None:
    rng = np.random.default_rng(0)
    totals = np.column_stack([rng.normal(size=400) + np.repeat([0.0, 50.0], 200), np.ones(400)])
    strata = ["a"] * 200 + ["b"] * 200
    linear = resampling.normal_sums(totals, resamples=20_000, seed=1, strata=strata)
    weights = np.concatenate(list(resampling.resampling_weights(400, resamples=20_000, seed=1, strata=strata)))
    drawn = weights @ totals
    assert linear.mean(0) == pytest.approx(drawn.mean(0), rel=1e-3)
    assert linear[:, 0].std() == pytest.approx(drawn[:, 0].std(), rel=0.03)
    assert linear[:, 1].std() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("strata", [None, tuple("ab" * 20)])
def test_resamples_do_not_depend_on_how_many_are_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch, strata: tuple[str, ...] | None
) -> None:
    def weights() -> np.ndarray:
        for seed in (6, 7):  # the draws of two seeds are kept: these replace those of seed 5
            list(resampling.resampling_weights(40, resamples=300, seed=seed, strata=strata))
        return np.concatenate(list(resampling.resampling_weights(40, resamples=300, seed=5, strata=strata)))

    whole = weights()
    for at_once in (40, 999, 5_000):
        monkeypatch.setattr(resampling, "DRAWS_AT_ONCE", at_once)
        assert (weights() == whole).all()
    assert (whole.sum(1) == 40).all()


def test_signs_do_not_depend_on_how_many_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def signs() -> list[np.ndarray]:
        drawn: list[np.ndarray] = []
        hypotheses.swap_test(lambda rows: (drawn.append(rows), rows[:, 0])[1], 40, resamples=300, seed=5)
        return drawn[1:]  # the first are those of the observed value

    (whole,) = signs()
    monkeypatch.setattr(hypotheses, "DRAWS_AT_ONCE", 999)
    blocks = signs()
    assert len(blocks) == 13  # 999 // 40 = 24 rows each
    assert (np.concatenate(blocks) == whole).all()


@pytest.mark.parametrize("interval", ["auto", "bca", "wilson"])
@pytest.mark.parametrize(("clusters", "known"), [(12, True), (5, None)])
def test_competence_from_a_measured_lms_is_that_found_alone(interval: str, clusters: int, known: bool | None) -> None:
    scored = score_many(60, clusters=clusters)
    (alone,), (_, beside) = (
        ig.measure(scored, metrics=names, by=[], interval=interval) for names in (["ss"], ["lms", "ss"])
    )
    assert alone.interpretable is known
    assert beside == alone


def test_p_values_of_a_ranking_are_those_of_the_paired_test() -> None:
    one, two = shares(1), shares(1, lift=0.004)
    sides = tuple(find_estimates(side, SETTINGS, bounds=(0, 100)) for side in (one, two))
    assert paired_p(sides, None) == pair().p


def test_text_in_another_normal_form_is_still_changed_when_lines_are_cleaned_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": "cafe\\u0301"}\n{"a": "cafe\u0301"}\n{"a": "caf\u00e9"}\n{"a": "cafe"}\n', encoding="utf-8")
    assert [row["a"] for _, row in read_rows(path)] == ["caf\u00e9", "caf\u00e9", "caf\u00e9", "cafe"]
    table = tmp_path / "x.csv"
    table.write_text("a\ncafe\u0301\ncafe\n", encoding="utf-8")
    assert [row["a"] for _, row in read_rows(table)] == ["caf\u00e9", "cafe"]


def test_equal_tags_and_words_of_many_items_are_one_object(tmp_path: Path) -> None:
    words = {"stereotype_word": "kind", "anti_stereotype_word": "lazy", "unrelated_word": "green"}
    rows = [
        {"id": f"{i}", "bias_type": "race", "context": "They are BLANK.", "target": "they", **words} for i in (1, 2)
    ]
    path = tmp_path / "x_en.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    first, second = ig.read(path)
    assert first.tags is second.tags
    assert first.cluster is second.cluster
    assert first.candidates[0].word is second.candidates[0].word
