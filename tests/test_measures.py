"""Measuring: groups, levels, intervals and what is said when there is none."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import isogloss as ig
from isogloss import measure
from isogloss.analysis.groups import check_rows, default_parts, pivot_roles
from isogloss.errors import IsoglossError
from isogloss.items import Items, Problem
from isogloss.scores import Scored, join_scored, scored_from_values
from support.builders import TRIPLE, score, score_many, triple


def groups(found):
    return list(dict.fromkeys(tuple(sorted(row.group.items())) for row in found))


def two_tasks() -> Scored:
    items = [triple("a"), triple("b", tags={"task": "intersentence"})]
    return score(items, [(3, 2, 1), (1, 2, 3)])


def test_by_default_there_is_a_row_per_task_and_one_overall():
    found = measure(two_tasks(), metrics=["ss"])
    assert [(row.group.get("task"), row.value, row.n) for row in found] == [
        ("intrasentence", 100, 1),
        ("intersentence", 0, 1),
        (None, 50, 2),
    ]
    assert all(row.group["model"] == "tiny" and row.group["language"] == "en" for row in found)


def test_overall_pools_the_items_of_both_tasks_instead_of_averaging():
    items = [triple("a"), triple("b"), triple("c"), triple("d", tags={"task": "intersentence"})]
    found = measure(score(items, [(3, 2, 1), (3, 2, 1), (3, 2, 1), (1, 2, 3)]), metrics=["ss"])
    assert found[-1].value == pytest.approx(75)


def test_a_single_task_is_not_repeated_as_overall():
    assert [row.group["task"] for row in measure(score_many(4, clusters=2), metrics=["ss"])] == ["intrasentence"]


def test_all_metrics_that_fit_come_in_their_order():
    names = [row.metric for row in measure(score_many(4, clusters=2), by=[])]
    assert names[:3] == ["lms", "ss", "icat"]
    assert names[3:7] == ["lms_multiclass", "ss_multiclass", "icat_macro", "icat_micro"]


def test_chosen_metrics_keep_the_order_they_were_asked_in_and_hyphens_are_fine():
    found = measure(score_many(4, clusters=2), metrics=["icat-macro", "ss"], by=[])
    assert [row.metric for row in found] == ["icat_macro", "ss"]


def test_by_gives_a_group_for_each_combination_of_values():
    items = [triple(f"i{n}", f"t{n % 2}", category=["race", "gender"][n // 2]) for n in range(4)]
    found = measure(score(items, [(2, 1, 0)] * 4), metrics=["ss"], by=["category", "target"])
    assert [(row.group["category"], row.group["target"]) for row in found] == [
        ("race", "t0"),
        ("race", "t1"),
        ("gender", "t0"),
        ("gender", "t1"),
    ]


@pytest.mark.parametrize(("word", "column"), [("bias_type", "category"), ("target_original", "target")])
def test_the_words_of_the_field_mean_our_columns(word, column):
    scored = score_many(4, clusters=2)
    assert list(measure(scored, by=[word])) == list(measure(scored, by=[column]))


def test_an_item_with_several_values_counts_in_each_of_its_groups():
    items = [
        triple("a", tags={"region": ("Chile", "Peru")}),
        triple("b", tags={"region": ("Peru",)}),
        triple("c", tags={"region": ()}),
    ]
    found = measure(score(items, [(2, 1, 0), (1, 2, 0), (2, 1, 0)]), metrics=["ss"], by=["region"])
    assert {row.group["region"]: (row.value, row.n) for row in found} == {
        "Chile": (100, 1),
        "Peru": (50, 2),
        "none": (100, 1),
    }


def test_items_without_the_column_are_not_mistaken_for_all_items():
    items = [triple("a", tags={"saying": "yes"}), triple("b")]
    found = measure(score(items, [(2, 1, 0), (1, 2, 0)]), metrics=["ss"], by=["saying"])
    assert [(row.group["saying"], row.n) for row in found] == [("yes", 1), ("none", 1)]


def test_models_and_languages_are_never_pooled():
    parts = [score_many(4, clusters=2), score_many(4, clusters=2, language="de")]
    other = Scored(parts[0].table.with_columns(model=pl.lit("big")))
    found = measure(join_scored([*parts, other]), metrics=["ss"], by=[])
    assert [(row.group["model"], row.group["language"], row.n) for row in found] == [
        ("tiny", "en", 4),
        ("tiny", "de", 4),
        ("big", "en", 4),
    ]


def test_two_methods_on_the_same_items_are_kept_apart():
    first = score_many(4, clusters=2)
    second = Scored(first.table.with_columns(method=pl.lit("other")))
    found = measure(join_scored([first, second]), metrics=["ss"], by=[])
    assert [row.group["method"] for row in found] == ["predictions", "other"]


def test_the_interval_contains_the_value_and_only_the_bootstrap_depends_on_the_seed():
    scored = score_many(200, clusters=20)
    first, other = (measure(scored, by=[], seed=seed) for seed in (1, 2))
    assert list(first) == list(other)
    drawn = [list(measure(scored, by=[], interval="bootstrap", resamples=500, seed=seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(row.low <= row.value <= row.high and row.why is None for row in first)


@pytest.mark.parametrize(("clusters", "has"), [(9, False), (10, True)])
def test_below_ten_clusters_there_is_no_interval_and_it_says_why(clusters, has):
    row = measure(score_many(60, clusters=clusters), metrics=["ss"], by=[])[0]
    assert (row.low is not None, row.high is not None, row.clusters) == (has, has, clusters)
    assert row.why == (None if has else "9 clusters; an interval needs 10")


def test_items_without_a_cluster_are_resampled_one_by_one():
    items = [replace(triple(f"i{n}"), cluster=None) for n in range(12)]
    row = measure(score(items, [(2, 1, 0)] * 12), metrics=["ss"], by=[])[0]
    assert row.clusters == 12


def test_the_json_has_the_documented_layout():
    found = measure(two_tasks(), metrics=["ss"]).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert list(found) == ["measures", "problems", "notes"]
    assert found["measures"][0] == {
        "metric": "ss",
        "group": {"model": "tiny", "dataset": "stereoset", "language": "en", "task": "intrasentence"},
        "value": 100.0,
        "low": None,
        "high": None,
        "n": 1,
        "ties": 0,
        "clusters": 1,
        "mode": "corrected",
        "why": "1 cluster; an interval needs 10",
        "interpretable": None,
        "doubt": "LMS 100.0 has no interval: 1 cluster; an interval needs 10",
        "unbiased": None,
        "homogeneous": None,
        "interval": None,
        "competence_low": None,
        "related_only": 100.0,
        "above": None,
        "below": None,
    }


def test_the_table_has_one_row_per_measure():
    table = measure(two_tasks(), metrics=["ss", "lms"]).to_polars()
    assert table.shape == (6, 22)
    assert table["task"].to_list() == ["intrasentence", "intrasentence", "intersentence", "intersentence", None, None]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_score_that_is_not_a_number_is_refused(number):
    scored = score([triple("a"), triple("b")], [(3, 2, 1), (1, number, 3)])
    with pytest.raises(IsoglossError) as caught:
        measure(scored)
    assert str(caught.value) == "1 scores are not numbers; the first belongs to item 'b'."


def test_items_that_lack_a_score_are_left_out_and_named():
    scored = two_tasks()
    value = pl.when((pl.col("id") == "a") & (pl.col("role") == TRIPLE[2])).then(None).otherwise(pl.col("value"))
    found = measure(Scored(scored.table.with_columns(value.alias("value"))), metrics=["lms"], by=[])
    assert (found[0].n, found.notes) == (1, ("1 items lack a score, such as 'a', and were left out",))


def test_a_group_without_any_complete_item_has_no_value():
    scored = two_tasks()
    value = pl.when(pl.col("id") == "a").then(None).otherwise(pl.col("value"))
    row = measure(Scored(scored.table.with_columns(value.alias("value"))), metrics=["ss"])[0]
    assert (row.value, row.n, row.why) == (None, 0, "no item of the group has all the roles")


def test_an_unknown_column_is_named_with_the_known_ones():
    with pytest.raises(IsoglossError) as caught:
        measure(two_tasks(), by=["languages"])
    assert str(caught.value) == (
        "No column named 'languages'. Did you mean 'language'? "
        "Known: language, target, cluster, dataset, task and 4 more."
    )


def test_an_unknown_mode_is_named_with_the_known_ones():
    with pytest.raises(IsoglossError) as caught:
        measure(two_tasks(), mode="papers")
    assert str(caught.value) == "No mode named 'papers'. Did you mean 'paper'? Known: corrected, paper."


def test_a_metric_that_needs_other_roles_gives_no_value_and_says_why():
    row = measure(score([triple("a", roles=TRIPLE[:2])], [(2, 1)]), metrics=["lms"])[0]
    assert (row.value, row.n, row.why) == (None, 0, "no item of the group has all the roles")


def test_items_that_no_metric_fits_are_refused():
    with pytest.raises(IsoglossError) as caught:
        measure(score([triple("a", roles=["left", "right"])], [(2, 1)]))
    assert str(caught.value) == "No metric fits items with the roles left, right."


def test_controls_are_measured_only_when_asked_for():
    items = [triple("a"), replace(triple("b"), variant="negated", derived_from="a")]
    scored = score(items, [(2, 1, 0), (1, 2, 0)])
    assert [row.value for row in measure(scored, metrics=["ss"])] == [100]
    found = measure(scored, metrics=["ss"], by=["variant"])
    assert {row.group["variant"]: row.value for row in found} == {"none": 100, "negated": 0}


def test_odd_items_and_skipped_rows_are_counted_once_each():
    odd = Problem("equal_words", "warning", "a", "", "en")
    items = Items((triple("a"), triple("b")), (odd, Problem("unreadable", "error", "x.csv", "")))
    values = {candidate.id: 1.0 for item in items for candidate in item.candidates}
    assert measure(scored_from_values(items, values, model="m")).problems == {"equal_words": 1, "unreadable": 1}


def test_the_same_candidate_scored_twice_is_refused():
    scored = two_tasks()
    with pytest.raises(IsoglossError) as caught:
        measure(join_scored([scored, scored]))
    assert str(caught.value) == (
        "Item 'a' was scored twice by 'tiny' with the method 'predictions', as when samples of two sizes lie in one "
        "folder. Give one of the runs; isogloss show FOLDER lists them."
    )


def test_a_table_without_scores_is_refused():
    with pytest.raises(IsoglossError, match=r"^There are no scores to measure\.$"):
        measure(Scored(two_tasks().table.clear()))


def test_a_missing_score_is_refused_and_a_missing_task_is_noted():
    items = Items((triple("a"), triple("b", tags={"task": "intersentence"})))
    values = {candidate.id: 1.0 for candidate in items[0].candidates}
    scored = scored_from_values(items, values | {"elsewhere": 2.0}, model="m")
    assert scored.notes == (
        "no scores for the 1 intersentence items, which were left out",
        "1 scores belong to no item of the data and were left out",
    )
    with pytest.raises(IsoglossError) as caught:
        scored_from_values(items, {"a-stereotype": 1.0}, model="m")
    assert str(caught.value) == (
        "2 candidates of the data have no score; the first is 'a-anti-stereotype'. "
        "Are the predictions and the data of the same language and version?"
    )


def test_scores_of_other_data_are_refused():
    with pytest.raises(IsoglossError) as caught:
        scored_from_values(Items((triple("a"),)), {"x": 1.0}, model="m")
    assert str(caught.value) == "None of the scores belongs to an item of the data. Is it the right data file?"


@pytest.mark.parametrize("by", [None, ["category"], ["tags"], ["category", "task"]])
def test_one_table_for_all_groups_gives_what_each_groups_rows_give(by):
    rng, rows = np.random.default_rng(0), []
    for k in range(120):
        tags = {"task": ("intra", "inter")[k % 2], "tags": ("x", "y") if k % 3 else ("y",)}
        cells = tuple(ig.Candidate(f"{k}-{role}", role, f"text {k} {role}") for role in TRIPLE[: 2 + (k % 5 > 0)])
        rows.append(ig.Item(f"i{k}", "sim", "en", f"kind {k % 4}", cells, cluster=f"c{k % 13}", tags=tags))
    values = {cell.id: float(rng.normal()) for item in rows for cell in item.candidates}
    scored = scored_from_values(ig.Items(tuple(rows)), values, model="m")
    for part in default_parts(check_rows(scored), by):
        slow = pivot_roles(part.rows).sort("cluster", maintain_order=True)
        fast = part.items("score").sort("cluster", "id")
        assert fast.select(slow.columns).equals(slow.sort("cluster", "id"))


def test_rows_in_turn_and_rows_in_any_order_give_the_same_table():
    items = [triple(f"i{number}") for number in range(12)]
    table = check_rows(score(items, np.random.default_rng(0).normal(size=(12, 3)).tolist()))
    slow = pivot_roles(table.sample(fraction=1, shuffle=True, seed=1))
    assert pivot_roles(table).equals(
        slow.select(pivot_roles(table).columns).sort(pl.col("id").str.slice(1).cast(pl.Int64))
    )
