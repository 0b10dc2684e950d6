"""Pair score, CrowS-Pairs score, MBE and its tests: by hand, against dense references, and on real text."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from isogloss import read
from isogloss.analysis import intervals
from isogloss.analysis.groups import check_rows
from isogloss.analysis.intervals import IntervalSettings, find_interval
from isogloss.analysis.mbe_tests import check_mbe, mcnemar, shuffled_score
from isogloss.analysis.measures import MODES, contribution, fitting_metrics, measure
from isogloss.errors import IsoglossError
from isogloss.items import Candidate, Item, Items
from isogloss.library import score
from isogloss.metrics import Contribution
from isogloss.registry import get
from isogloss.reports.text.sentences import explain_measures
from isogloss.scores import Row, Scored, item_table, make_scored, row_table
from isogloss.stats.hypotheses import shuffle_test
from isogloss.stats.pairwise import BLOCK, count_wins, left_out_shares, rank, studentised_share, unit, weighted_share
from support import references_pairs, tiny

LABELS = {"model": "m", "method": "x", "family": "masked"}
ROLES = ("stereotype", "anti-stereotype")


def pairs(
    numbers: Sequence[tuple[float, float, str]], *, quantity: str = "shared", roles: Sequence[str] = ROLES
) -> Scored:
    """Pairs with their two scores and their direction."""
    items, rows = [], []
    for number, (more, less, direction) in enumerate(numbers):
        found = tuple(Candidate(f"{number}-{role}", role, role) for role in roles)
        tags = {"task": "pair", "direction": direction}
        item = Item(str(number), "crows_pairs", "en", "gender", found, cluster=str(number), tags=tags)
        items.append(item)
        for one, other, value in zip(found, found[::-1], (more, less), strict=True):
            against = other.id if quantity == "shared" else None
            rows.append(Row(item, one.id, value, quantity=quantity, against=against))
    return make_scored(item_table(Items(tuple(items))), row_table(rows), labels=LABELS)


def sentences(scores: Sequence[float], vectors: np.ndarray, groups: Sequence[str]) -> Scored:
    items, rows = [], []
    for number, (value, vector, group) in enumerate(zip(scores, vectors, groups, strict=True)):
        one = Candidate(f"{number}-{group}", group, "text")
        item = Item(str(number), "sentences", "de", "gender", (one,), cluster=str(number), tags={"task": "sentence"})
        items.append(item)
        rows.append(Row(item, one.id, float(value), vector=tuple(vector.tolist())))
    return make_scored(item_table(Items(tuple(items))), row_table(rows), labels=LABELS)


def value(scored: Scored, name: str, mode: str = "corrected") -> Contribution:
    found = contribution(get("metric", name), check_rows(scored), mode=mode)
    assert found is not None
    return found


# more, less, direction      exact   three decimals
FOUR = [
    (-1.0, -2.0, "stereo"),      # won     won
    (-2.0, -1.0, "stereo"),      # lost    lost
    (-1.0, -1.0001, "stereo"),   # won     neutral
    (-3.0, -3.0, "antistereo"),  # tied    neutral
    (-1.0, -2.0, "antistereo"),  # won     won
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "mode", "wanted", "ties"),
    [
        ("crows", "corrected", 100 * 3.5 / 5, 1),
        ("crows", "paper", 100 * 2 / 5, 2),
        ("crows_stereo", "corrected", 100 * 2 / 3, 0),
        ("crows_stereo", "paper", 100 * 1 / 2, 1),
        ("crows_antistereo", "corrected", 100 * 1.5 / 2, 1),
        ("crows_antistereo", "paper", 100.0, 1),
    ],
)
def test_crows_pairs_scores_by_hand(name: str, mode: str, wanted: float, ties: int) -> None:
    found = value(pairs(FOUR), name, mode)
    assert (found.value, found.ties) == (pytest.approx(wanted), ties)


def test_pair_score_by_hand() -> None:
    scored = pairs(FOUR, quantity="score")
    assert value(scored, "pair_score").value == pytest.approx(100 * 3.5 / 5)
    assert value(scored, "pair_score", "paper").value == pytest.approx(100 * 3 / 5)


def test_a_pair_of_two_groups_counts_the_second() -> None:
    scored = pairs([(-1, -2, "x"), (-1, -3, "x"), (-2, -1, "x")], quantity="score", roles=("male", "female"))
    assert value(scored, "pair_score").value == pytest.approx(100 * 2 / 3)


def test_pairs_and_sentences_get_their_own_metrics() -> None:
    assert list(fitting_metrics(check_rows(pairs(FOUR)))) == ["crows", "crows_stereo", "crows_antistereo"]
    assert list(fitting_metrics(check_rows(pairs(FOUR, quantity="score")))) == ["pair_score"]
    one = sentences([1, 2], np.eye(2), ["female", "male"])
    assert list(fitting_metrics(check_rows(one))) == ["mbe", "shf"]


def test_a_metric_that_does_not_fit_says_so() -> None:
    one = sentences([1, 2], np.eye(2), ["female", "male"])
    with pytest.raises(IsoglossError) as caught:
        measure(one, metrics=["pair_score"])
    assert str(caught.value) == "These are single sentences, not pairs, so no sentence can be set against another."
    with pytest.raises(IsoglossError) as caught:
        measure(pairs(FOUR, quantity="score"), metrics=["mbe"])
    assert str(caught.value) == (
        "MBE needs the vectors of single sentences; score what isogloss data build split writes with `method='aula'`."
    )
    with pytest.raises(IsoglossError) as caught:
        measure(sentences([1, 2], np.eye(2), ["female", "female"]), metrics=["mbe"])
    assert str(caught.value) == "Two groups are compared, but the sentences are of: female."


def test_the_explanation_speaks_of_the_metrics_that_were_measured() -> None:
    said = explain_measures(measure(pairs(FOUR, quantity="score")))
    assert said.splitlines() == [
        "m, en: pair score 70.0, n = 5: no interval (5 clusters; an interval needs 10).",
        f"pair score: {get('metric', 'pair_score').caution}",
    ]


def test_a_part_without_pairs_has_no_value_and_says_why() -> None:
    only = pairs([(-1, -2, "stereo")])
    assert measure(only, metrics=["crows_antistereo"])[0].why == "no item of the group has what this metric needs"
    tied = pairs([(-1, -1, "stereo")])
    row = measure(tied, metrics=["crows_stereo"], mode="paper")[0]
    assert (row.value, row.n, row.why) == (None, 1, "the value is a division by zero here")


numbers = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=12)


@given(rows=numbers)
@settings(max_examples=20)
def test_the_laws_of_the_pair_metrics(rows: list[tuple[int, int]]) -> None:
    plain = pairs([(float(a), float(b), "stereo") for a, b in rows])
    swapped = pairs([(float(b), float(a), "stereo") for a, b in rows])
    for name in ("crows", "crows_stereo"):
        assert value(swapped, name).value == pytest.approx(100 - value(plain, name).value)
        for mode in MODES:
            found = value(plain, name, mode).value
            assert math.isnan(found) or 0 <= found <= 100


scores_and_groups = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30).filter(
    lambda rows: len({male for _, male in rows}) == 2
)


@given(rows=scores_and_groups, seed=st.integers(0, 99))
@settings(max_examples=40)
def test_mbe_equals_the_dense_way_with_ties(rows: list[tuple[int, bool]], seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(len(rows), 5)).astype(np.float32) + 1
    numbers, male = np.array([float(a) for a, _ in rows]), np.array([b for _, b in rows])
    scored = sentences(numbers.tolist(), vectors, ["male" if m else "female" for m in male])
    for mode in MODES:
        wanted = references_pairs.mbe(numbers, vectors.astype(np.float64), male, cosine=mode == "corrected")
        found = value(scored, "mbe", mode)
        assert found.value == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        assert found.ties == int((numbers[male][:, None] == numbers[~male][None]).sum())


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_mbe_equals_the_dense_way_over_many_blocks(decimals: int) -> None:
    rng = np.random.default_rng(1)
    count = 5 * BLOCK + 7
    numbers, vectors = rng.normal(size=count).round(decimals), rng.normal(size=(count, 8)) + 0.5
    male = rng.random(count) < 0.4
    for cosine, ties in ((True, 0.5), (False, 0.0)):
        ranked = rank(numbers, unit(vectors) if cosine else vectors, ties=ties)
        found = weighted_share(ranked, male[None].astype(float), second=(~male)[None].astype(float))
        assert 100 * found[0] == pytest.approx(references_pairs.mbe(numbers, vectors, male, cosine=cosine), abs=1e-9)


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_mbe_without_each_sentence_equals_the_slow_way(decimals: int) -> None:
    rng = np.random.default_rng(1)
    count = 2 * BLOCK + 7
    numbers, vectors = rng.normal(size=count).round(decimals), rng.normal(size=(count, 8)) + 0.5
    male = rng.random(count) < 0.4
    for cosine, ties in ((True, 0.5), (False, 0.0)):
        found = left_out_shares(rank(numbers, unit(vectors) if cosine else vectors, ties=ties), male)
        for left in (0, 50, count - 1):
            kept = np.arange(count) != left
            wanted = references_pairs.mbe(numbers[kept], vectors[kept], male[kept], cosine=cosine)
            assert 100 * found[left] == pytest.approx(wanted, abs=1e-9)


def test_very_many_sentences_have_about_the_interval_that_resampling_gives(monkeypatch) -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(500, 8)).astype(np.float32) + 1
    found = value(sentences(rng.normal(size=500).tolist(), vectors, ["female"] * 400 + ["male"] * 100), "mbe")
    settings_, bounds = IntervalSettings(resamples=4000), (float("-inf"), float("inf"))
    slow = find_interval(found, settings_, bounds=bounds)
    monkeypatch.setattr(intervals, "MOST_DRAWN", 499)
    fast = find_interval(found, settings_, bounds=bounds)
    width = slow.high - slow.low
    assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), abs=0.06 * width)


def test_weights_are_as_good_as_repeated_sentences() -> None:
    rng = np.random.default_rng(2)
    numbers, vectors = rng.normal(size=20).round(1), rng.normal(size=(20, 4)).astype(np.float32) + 1
    groups = ["female"] * 9 + ["male"] * 11
    found = value(sentences(numbers.tolist(), vectors, groups), "mbe")
    times = rng.integers(0, 3, size=20)
    repeated = np.repeat(np.arange(20), times)
    male = np.array([groups[k] == "male" for k in repeated])
    wanted = references_pairs.mbe(numbers[repeated], vectors[repeated].astype(np.float64), male, cosine=True)
    order = [int(name) for name in found.clusters]
    assert found.evaluate(times[order][None].astype(float))[0] == pytest.approx(wanted)
    assert found.strata == tuple(groups[number] for number in order)


def test_mbe_mirrors_when_the_groups_change_places() -> None:
    rng = np.random.default_rng(3)
    numbers, vectors = rng.normal(size=12).tolist(), rng.normal(size=(12, 4)).astype(np.float32) + 1
    plain = sentences(numbers, vectors, ["female", "male"] * 6)
    swapped = sentences(numbers, vectors, ["male", "female"] * 6)
    assert value(swapped, "mbe").value == pytest.approx(100 - value(plain, "mbe").value)


def test_wins_and_ties_of_all_pairs_are_counted() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, 5, 30).astype(float), rng.integers(0, 5, 20).astype(float)
    above, equal = first[:, None] > second[None], first[:, None] == second[None]
    assert count_wins(first, second) == (int(above.sum()), int(equal.sum()))


@pytest.mark.parametrize(("decimals", "ties"), [(9, 0.5), (1, 0.5), (1, 0.0), (-1, 0.5)])
def test_the_studentised_share_is_that_of_the_matrix_of_pairs(decimals: int, ties: float) -> None:
    rng, count = np.random.default_rng(7), 2 * BLOCK + 7
    numbers, vectors = rng.normal(size=count).round(decimals), unit(rng.normal(size=(count, 5)) + 1)
    first = (rng.random((3, count)) < 0.4).astype(float)
    found = studentised_share(rank(numbers, vectors, ties=ties), first, second=1 - first)
    for members, t in zip(first > 0, found, strict=True):
        likeness = vectors[members] @ vectors[~members].T
        above, equal = (compare(numbers[members][:, None], numbers[~members]) for compare in (np.greater, np.equal))
        share = (likeness * (above + ties * equal)).sum() / likeness.sum()
        parts = [(likeness * (above + ties * equal - share)).sum(axis) for axis in (1, 0)]
        variance = sum(len(part) / (len(part) - 1) * part @ part for part in parts) / likeness.sum() ** 2
        error = max(variance**0.5, 0.5 / (members.sum() * (~members).sum()))
        assert t == pytest.approx((share - 0.5) / error)


def test_the_studentised_share_of_sentences_that_are_all_alike_is_brunner_and_munzels() -> None:
    rng = np.random.default_rng(8)
    first, second = rng.normal(size=20), 2 * rng.normal(size=30) + 0.5
    members = np.repeat([1.0, 0.0], [20, 30])[None]
    found = studentised_share(rank(np.concatenate([first, second]), np.ones((50, 1)), ties=0.5), members, second=1 - members)  # fmt: skip
    assert found[0] == pytest.approx(scipy_stats.brunnermunzel(second, first).statistic)


def test_the_permutation_of_labels_agrees_with_all_permutations() -> None:
    rng = np.random.default_rng(5)
    numbers, vectors = rng.normal(size=8), rng.normal(size=(8, 3)) + 2
    ranked = rank(numbers, unit(vectors), ties=0.5)

    def statistic(first: np.ndarray) -> np.ndarray:
        return studentised_share(ranked, first, second=1 - first)

    ways = np.array([[k in chosen for k in range(8)] for chosen in itertools.combinations(range(8), 4)], dtype=float)
    exact = np.mean(np.abs(statistic(ways)) >= abs(statistic(ways[:1])[0]) - 1e-9)
    assert shuffle_test(statistic, (4, 4), resamples=20_000, seed=1) == pytest.approx(exact, abs=0.02)


def test_mcnemar_is_sure_of_a_clear_preference_and_not_of_none() -> None:
    rng = np.random.default_rng(6)
    assert mcnemar(np.arange(50) + 100.0, np.arange(50.0)) < 1e-100
    assert mcnemar(np.zeros(0), np.zeros(0)) == 1.0
    even = [mcnemar(x := rng.permutation(40).astype(float), x + 0.5, seed=seed) for seed in range(20)]
    assert np.mean(even) > 0.1
    assert shuffled_score(np.array([2.0, 3.0]), np.array([1.0, 1.0])) == 100


def test_mbe_is_measured_with_its_tests() -> None:
    rng = np.random.default_rng(7)
    groups = ["female", "male"] * 30
    numbers = rng.normal(size=60) + np.array([0.0, 1.5] * 30)
    scored = sentences(numbers.tolist(), rng.normal(size=(60, 6)).astype(np.float32) + 2, groups)
    found = check_mbe(scored, measure(scored, resamples=300), permutations=300)[0]
    assert found.value == pytest.approx(measure(scored, metrics=["mbe"], resamples=300)[0].value)
    assert found.low is not None
    assert found.low < found.value < (found.high or 0)
    assert (found.preferred, dict(found.sentences)) == ("male", {"female": 30, "male": 30})
    assert found.p_permutation < 0.02
    assert found.p_mcnemar < found.p_permutation
    assert len(check_mbe(pairs(FOUR), measure(pairs(FOUR), resamples=100))) == 0


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_a_model_of_every_family_gets_a_value_on_the_demonstration_set(name: str) -> None:
    scored = score(read("parallel_demo", language="de"), model=tiny.model(name))
    row = measure(scored, resamples=200)[0]
    assert (row.metric, row.n, row.clusters) == ("mbe", 126, 126)
    assert row.value is not None
    assert row.low is not None


def test_portuguese_news_equal_the_dense_way(real_data: Path) -> None:
    items = []
    for group in ("female", "male"):
        with gzip.open(real_data / "parallel" / f"news_pt_{group}.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        assert len(rows) == 1078
        for row in rows[:120]:
            one = Candidate(f"{group}-{row['i']}", group, row["text_detokenised"])
            items.append(Item(one.id, "news", "pt", "gender", (one,), cluster=one.id, tags={"task": "sentence"}))
    scored = score(Items(tuple(items)), model=tiny.model("bert"))
    main = scored.table.filter(scored.table["quantity"] == "score")
    numbers, male = main["value"].to_numpy(), (main["role"] == "male").to_numpy()
    vectors = np.array(main["vector"].to_list())
    for mode in MODES:
        wanted = references_pairs.mbe(numbers, vectors, male, cosine=mode == "corrected")
        assert value(scored, "mbe", mode).value == pytest.approx(wanted, abs=1e-7)


def test_random_pairs_equal_their_definition():
    scores, roles = [0.1, 0.9, 0.4, 0.2, 0.7, 0.7], ["female", "male"] * 3
    one = sentences(scores, np.eye(6), roles)
    ids = list(one.table["id"])
    lots = sorted(range(6), key=lambda n: hashlib.sha256(ids[n].encode()).hexdigest())
    males, females = ([scores[n] for n in lots if roles[n] == role] for role in ("male", "female"))
    wanted = 100 * np.mean([(m > f) + 0.5 * (m == f) for m, f in zip(males, females, strict=True)])
    assert measure(one, metrics=["shf"])[0].value == pytest.approx(wanted)
