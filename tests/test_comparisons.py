"""Comparing two sides: by hand, by exact enumeration, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from isogloss import compare, measure
from isogloss.analysis.agreements import agree
from isogloss.analysis.sides import match_sides, select
from isogloss.errors import IsoglossError
from isogloss.reports.text.comparisons import (
    agreement_grid,
    comparisons_as_text,
    grid,
)
from isogloss.reports.text.sentences import explain_comparison
from isogloss.reports.text.table import as_csv, as_latex, as_text
from isogloss.scores import Scored, join_scored
from support.builders import TRIPLE, score, triple


def side(wins, *, model="m", language="en", clusters=10, **facts) -> Scored:
    """One item per win (1), loss (0) or tie (0.5), dealt out over the clusters."""
    items = [triple(f"i{k}", f"t{k % clusters}", language=language, **facts) for k in range(len(wins))]
    return score(items, [{1: (2, 1, 0), 0: (1, 2, 0), 0.5: (1, 1, 0)}[w] for w in wins], model=model)


def random_wins(n: int, share: float, *, seed: int) -> list[int]:
    return (np.random.default_rng(seed).random(n) < share).astype(int).tolist()


A, B = random_wins(60, 0.8, seed=1), random_wins(60, 0.5, seed=2)


def by_cluster(wins, clusters=10):
    return np.array([sum(wins[k] for k in range(len(wins)) if k % clusters == c) for c in range(clusters)], dtype=float)


def test_the_difference_is_that_of_the_two_measures():
    found = compare(side(A, model="x"), side(B, model="y"), metrics=["ss"], resamples=200)[0]
    values = [measure(side(wins), metrics=["ss"], by=[])[0].value for wins in (A, B)]
    assert (found.value_a, found.value_b) == pytest.approx(values)
    assert found.difference == pytest.approx(values[0] - values[1])
    assert (dict(found.a), dict(found.b), found.n, found.clusters) == ({"model": "x"}, {"model": "y"}, 60, 10)
    assert dict(found.group) == {
        "language": "en",
        "method": "predictions",
        "dataset": "stereoset",
        "task": "intrasentence",
    }


def test_interval_p_effect_and_power_are_students_with_the_jackknifes_error():
    row = compare(side(A), side(B), metrics=["ss"])[0]
    differences = 100 * (by_cluster(A) - by_cluster(B)) / 6  # ten clusters of six items
    error = differences.std(ddof=1) / 10**0.5
    freedom = min(9, 2 * 10 / (scipy_stats.kurtosis(differences, fisher=False) - 1) - 1)
    student = scipy_stats.t(freedom)
    assert row.difference == pytest.approx(differences.mean())
    assert (row.low, row.high) == pytest.approx(
        (row.difference - student.ppf(0.975) * error, row.difference + student.ppf(0.975) * error)
    )
    assert row.p == pytest.approx(2 * student.sf(abs(row.difference) / error))
    assert row.effect == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert row.mde == pytest.approx((student.ppf(0.975) + student.ppf(0.8)) * error)


def test_the_p_of_icat_is_students_of_the_piece_that_decides():
    # all SS below 50, so that ICAT is LMS · SS / 50 on both sides and its other piece decides nothing
    rng = np.random.default_rng(0)
    items = [triple(f"i{k}", f"t{k % 12:02}") for k in range(120)]
    won = [rng.random(120) < share for share in (0.3, 0.15)]
    odd = [rng.random(120) < 0.2 for _ in "ab"]
    rows = [
        [(2, 1, 3 * o) if w else (1, 2, 3 * o) for w, o in zip(*one, strict=True)] for one in zip(won, odd, strict=True)
    ]
    a, b = (score(items, one) for one in rows)

    def icat(side, left_out=None):
        kept = np.array([k % 12 != left_out for k in range(120)])
        return 2 * 100 * (1 - odd[side][kept].mean()) * won[side][kept].mean()

    difference = icat(0) - icat(1)
    left = np.array([icat(0, c) - icat(1, c) for c in range(12)])
    error = np.sqrt(11 / 12 * np.sum((left - difference) ** 2))
    freedom = max(3, min(11, 2 * 12 / (scipy_stats.kurtosis(left, fisher=False) - 1) - 1))
    row = compare(a, b, metrics=["icat"])[0]
    assert row.difference == pytest.approx(difference)
    assert row.p == pytest.approx(2 * scipy_stats.t.sf(abs(difference) / error, freedom))


def test_the_p_is_below_five_percent_exactly_where_the_interval_does_not_hold_zero():
    rng = np.random.default_rng(8)
    for share in (0.3, 0.4, 0.45, 0.5):
        other = side((rng.random(60) < share).astype(float).tolist())
        for design in ("paired", "unpaired"):
            for row in compare(side(A), other, by=[], design=design):
                if row.low is not None:
                    assert (row.p < 0.05) is not (row.low <= 0 <= row.high)


def test_exchanging_the_sides_turns_the_difference_around():
    there, back = (compare(*pair, by=[], resamples=500) for pair in ((side(A), side(B)), (side(B), side(A))))
    for one, two in zip(there, back, strict=True):
        assert one.difference == pytest.approx(-two.difference)
        assert one.p == pytest.approx(two.p)
        if one.low is not None:
            assert (one.low, one.high) == pytest.approx((-two.high, -two.low))


def test_a_side_compared_with_itself_never_differs():
    found = compare(side(A), side(A), resamples=100)[0]
    assert (found.difference, found.low, found.high, found.p, found.effect, found.mde) == (0, None, None, 1, None, None)
    assert found.why == "the two sides never differ, so there is nothing to test"
    assert (dict(found.a), dict(found.b)) == ({"side": "A"}, {"side": "B"})


def test_all_ties_are_no_difference():
    found = compare(side([0.5] * 40, model="x"), side([0.5] * 40, model="y"), metrics=["ss"], resamples=100)[0]
    assert (found.value_a, found.difference, found.p) == (50, 0, 1)
    assert explain_comparison(found) == (
        "en, intrasentence, SS: 50.0 for x and 50.0 for y, difference +0.0, p = 1.000 (adjusted = 1.000), n = 40 pairs; "
        "no interval (the two sides never differ, so there is nothing to test)."
    )


def test_languages_are_paired_on_ids_and_grouped_by_the_first_sides_columns():
    a, b = side(A, language="en"), side(B, language="de")
    b = replace(b, table=b.table.with_columns(target=pl.lit("Ziel")))
    found = compare(a, b, metrics=["ss"], by=["language", "target"], resamples=100)
    assert [row.group["target"] for row in found] == [f"t{k}" for k in range(10)]
    assert (dict(found[0].a), dict(found[0].b), found[0].n) == ({"language": "en"}, {"language": "de"}, 6)


def test_items_of_one_side_only_are_left_out_and_named():
    found = compare(side(A, language="en"), side(B[:57], language="de"), metrics=["ss"], resamples=100)
    assert (found[0].n, found.notes) == (57, ("3 items are on one side only and were left out",))


def test_an_item_without_a_score_on_one_side_leaves_the_pair_out():
    a = side(A, model="x")
    lost = pl.when((pl.col("id") == "i3") & (pl.col("role") == TRIPLE[0])).then(None).otherwise(pl.col("value"))
    found = compare(
        replace(a, table=a.table.with_columns(value=lost)), side(B, model="y"), metrics=["ss"], resamples=100
    )
    assert found[0].n == 59


def test_models_with_several_languages_are_compared_language_by_language():
    a = join_scored([side(A, model="x"), side(A, model="x", language="de")])
    b = join_scored([side(B, model="y"), side(B, model="y", language="de"), side(B, model="y", language="fr")])
    found = compare(a, b, metrics=["ss"], by=[], resamples=100)
    assert [row.group["language"] for row in found] == ["en", "de"]
    assert found.notes == ("on one side only, and left out: language fr",)


def test_tasks_are_compared_one_by_one_and_together():
    items = [triple(f"i{k}", f"t{k % 10}", tags={"task": ["intrasentence", "intersentence"][k % 2]}) for k in range(40)]
    a = score(items, [(2, 1, 0)] * 40, model="x")
    b = score(items, [(1, 2, 0)] * 40, model="y")
    assert [(row.group.get("task"), row.n) for row in compare(a, b, metrics=["ss"], resamples=100)] == [
        ("intrasentence", 20),
        ("intersentence", 20),
        (None, 40),
    ]


def test_unpaired_sides_are_compared_as_independent_samples():
    items = [triple(f"j{k}", f"u{k % 12}") for k in range(60)]
    b = score(items, [(2, 1, 0) if w else (1, 2, 0) for w in B], model="y")
    found = compare(side(A, model="x"), b, metrics=["ss"], design="unpaired", resamples=2000)[0]
    assert (found.n, found.clusters, found.design) == (120, 22, "unpaired")
    assert found.low < found.difference < found.high
    paired = compare(side(A), side(B), metrics=["ss"], resamples=2000)[0]
    assert found.p == pytest.approx(paired.p, abs=0.05)


def test_the_adjusted_values_hold_for_the_whole_table():
    found = compare(side(A), side(B), by=["category"])
    assert len(found) == 3
    assert all(row.p <= row.p_bh <= row.p_holm for row in found)


def test_the_result_does_not_depend_on_the_seed():
    first, other = (compare(side(A, clusters=20), side(B, clusters=20), seed=seed) for seed in (1, 2))
    assert first == other


# ---- refused


def refusal(*arguments, **options) -> str:
    with pytest.raises(IsoglossError) as caught:
        compare(*arguments, **options)
    return str(caught.value)


def test_sides_that_are_not_parallel_are_refused_and_unpaired_is_offered():
    other = score([triple(f"z{k}") for k in range(40)], [(2, 1, 0)] * 40)
    assert refusal(side(A), other) == (
        "Only 0 of 40 items are on both sides, so they cannot be compared item by item; "
        "use `design='unpaired'` to compare them as independent samples."
    )


def test_equal_ids_of_different_things_are_refused():
    assert refusal(side(A), side(B, category="race")) == (
        "Item 'i0' is about 'profession' on one side and 'race' on the other, so equal ids are not equal items here; "
        "use `design='unpaired'` to compare them as independent samples."
    )


def test_scores_that_are_not_numbers_are_refused():
    items = [triple("a"), triple("b")]
    broken = score(items, [(3, 2, 1), (1, float("nan"), 3)])
    assert refusal(broken, score(items, [(3, 2, 1)] * 2)) == "1 scores are not numbers; the first belongs to item 'b'."


def test_several_languages_against_another_one_are_refused():
    a = join_scored([side(A), side(A, language="de")])
    assert refusal(a, side(B, language="fr")) == (
        "One side has the languages de, en, the other fr, so it is not clear which belong together. "
        "Choose one for each side, such as `a='language=de'` and `b='language=fr'`."
    )


def test_a_language_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(IsoglossError) as caught:
        select(side(A), {"language": "de"})
    assert str(caught.value) == "No language named 'de'. Known: en."
    with pytest.raises(IsoglossError) as caught:
        select(side(A), {"langauge": "en"})
    assert str(caught.value).startswith("No column named 'langauge'. Did you mean 'language'? Known: language, ")


def test_an_unknown_design_is_refused():
    assert refusal(side(A), side(B), design="pair") == (
        "No design named 'pair'. Did you mean 'paired'? Known: paired, unpaired."
    )


def test_fewer_than_ten_clusters_give_neither_an_interval_nor_a_p():
    found = compare(side(A, clusters=4), side(B, clusters=4), metrics=["ss"])[0]
    assert (found.low, found.mde, found.p, found.clusters) == (None, None, None, 4)
    assert found.why == "4 clusters; an interval needs 10"


def test_matching_says_what_tells_the_sides_apart():
    sides = match_sides(side(A, model="x", language="en"), side(B, model="x", language="de"))
    assert (dict(sides.a), dict(sides.b), sides.matched) == ({"language": "en"}, {"language": "de"}, ())
    assert dict(sides.shared) == {"model": "x", "method": "predictions"}


# ---- shown


def test_the_json_holds_every_number_and_can_be_read_again():
    found = compare(side(A), side(B), metrics=["ss"], resamples=100).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert set(found["comparisons"][0]) == {
        *("a", "b", "metric", "group", "value_a", "value_b", "difference", "low", "high", "p", "p_holm", "p_bh"),
        *("effect", "n", "clusters", "mde", "mode", "design", "why", "interpretable", "doubt"),
        *("unbiased_a", "unbiased_b", "competence_low", "above", "below"),
    }


def test_tables_in_all_forms_name_the_sides_and_the_tests():
    found = compare(side(A, model="x_1"), side(B, model="y"), metrics=["ss"], resamples=100)
    for text in (comparisons_as_text(found), str(found), as_csv(found, grid(found)), found._repr_html_()):
        assert "a is x_1; b is y" in text
        assert "Holm and BH adjust p for the 1 test of this table" in text
    assert r"\begin{tabular}{llll" in as_latex(grid(found))
    assert found.to_polars().height == 1


def test_without_a_test_no_adjustment_is_mentioned():
    found = compare(side(A[:2], model="x"), side(B[:2], model="y"), metrics=["ss"], resamples=100)
    assert [row.p for row in found] == [None]
    assert "Holm" not in comparisons_as_text(found).splitlines()[-1]
    assert not any("Holm and BH adjust" in line for line in comparisons_as_text(found).splitlines())


def test_a_difference_is_claimed_only_after_correction():
    clear = compare(side([1] * 60), side([0] * 60), metrics=["ss"], resamples=100)[0]
    assert explain_comparison(clear).endswith("n = 60 pairs: they differ.")
    hint = replace(clear, p=0.03, p_holm=0.3)
    assert explain_comparison(hint).endswith(
        "a hint, not a finding: it does not survive the correction for all tests made here."
    )
    nothing = replace(clear, low=-3.0, high=5.0, p=0.4, p_holm=1.0, mde=4.2)
    assert explain_comparison(nothing).endswith(
        "they are not distinguishable; a true difference below 4.2 points would often be missed."
    )


# ---- agreement


def models(shares, **facts) -> Scored:
    """One model per share of stereotypes, each on twenty items."""
    return join_scored([side([1] * s + [0] * (20 - s), model=f"m{k}", **facts) for k, s in enumerate(shares)])


def test_agreement_by_hand():
    # SS en: 40 60 70 80 90, de: 45 65 60 90 80 -> differences -5 -5 10 -10 10; all on the same side of 50
    a = measure(models([8, 12, 14, 16, 18]), metrics=["ss"], by=[])
    b = measure(models([9, 13, 12, 18, 16], language="de"), metrics=["ss"], by=[])
    found = agree(a, b)[0]
    assert (found.n, found.direction) == (5, 1.0)
    assert (found.mean_difference, found.mean_absolute_difference) == pytest.approx((0, 8))
    assert found.spearman.value == pytest.approx(0.8)
    assert found.spearman.low < 0.8 < found.spearman.high
    assert "0.80 [" in as_text(agreement_grid([found]))


def test_two_metrics_can_be_asked_whether_they_agree():
    scored = models([8, 12, 14, 16, 18])
    found = agree(measure(scored, metrics=["ss"], by=[]), measure(scored, metrics=["icat"], by=[]))[0]
    assert (found.metric, found.other, found.direction) == ("ss", "icat", None)


def test_agreement_over_one_language_or_model_is_refused():
    one = measure(models([8]), metrics=["ss"], by=[])
    with pytest.raises(IsoglossError) as caught:
        agree(one, one)
    assert str(caught.value) == (
        "Agreement needs at least 3 models or languages that both sides have; here there is 1. Give more runs."
    )


def test_two_halves_of_a_data_set_are_called_what_tells_them_apart():
    parts = [side(wins, category=name) for wins, name in ((A, "gender"), (B, "religion"))]
    found = compare(*parts, metrics="ss", design="unpaired", by=[])[0]
    assert (dict(found.a), dict(found.b)) == ({"category": "gender"}, {"category": "religion"})
    few = compare(
        *(side(wins[:5], category=name) for wins, name in ((A, "gender"), (B, "religion"))),
        metrics="ss",
        by=[],
        design="unpaired",
    )
    assert "for religion, difference" in explain_comparison(few[0])
    assert " p " not in explain_comparison(few[0])
