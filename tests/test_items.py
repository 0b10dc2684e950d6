"""Items: their keys, their hash, and drawing some of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.items import Items, Problem, items_hash, problem_counts, sample_items
from support.builders import triple

CHANGES = {
    "id": "other",
    "dataset": "other",
    "language": "de",
    "category": "race",
    "context": "He is BLANK.",
    "cluster": "other",
    "tags": {"task": "intersentence"},
    "derived_from": "x",
    "candidates": triple("z").candidates,
}


def test_the_key_is_data_set_id_and_language():
    assert triple("a", language="de").key == ("stereoset", "a", "de")


@pytest.mark.parametrize("name", CHANGES)
def test_the_hash_changes_when_anything_changes(name):
    item = triple("a")
    assert items_hash((item,)) != items_hash((replace(item, **{name: CHANGES[name]}),))
    assert items_hash((item,)) == items_hash((triple("a"),))


def test_sets_of_items_can_be_added_with_what_was_odd_in_them():
    odd = Problem("equal_words", "warning", "a", "")
    both = Items((triple("a"),), (odd,)) + Items((triple("b"),), (odd,))
    assert ([item.id for item in both], len(both)) == (["a", "b"], 2)
    assert problem_counts(both.problems) == {"equal_words": 2}


@given(limit=st.integers(1, 40), seed=st.integers(0, 9))
def test_a_limit_draws_the_same_items_in_every_language_and_keeps_their_order(limit, seed):
    english = [triple(f"i{n:02}", f"t{n % 5}") for n in range(30)]
    german = [replace(item, language="de") for item in reversed(english)]
    first, second = (sample_items(Items(tuple(rows)), limit=limit, seed=seed) for rows in (english, german))
    assert len(first) == min(limit, 30)
    assert [item.id for item in first] == sorted(item.id for item in second)
    assert [item.id for item in first] == sorted(item.id for item in first)


def test_a_limit_keeps_derived_items_with_their_items():
    real = [triple(f"i{n:02}", f"t{n % 5}") for n in range(30)]
    controls = [replace(item, id=f"{item.id}~negated", derived_from=item.id, variant="negated") for item in real[:20]]
    kept = sample_items(Items((*real, *controls)), limit=12)
    alone = [item.id for item in sample_items(Items(tuple(real)), limit=12)]
    assert [item.id for item in kept] == [*alone, *(f"{name}~negated" for name in alone if name < "i20")]
    assert len(sample_items(Items((*real, *controls)), limit=30)) == 50
    assert len(sample_items(Items(tuple(controls)), limit=7)) == 7  # control items whose items are not there


def test_a_limit_takes_from_every_cluster_in_turn():
    items = Items(tuple(triple(f"i{n:02}", f"t{n % 5}") for n in range(30)))
    counts = Counter(item.cluster for item in sample_items(items, limit=12))
    assert sorted(counts.values()) == [2, 2, 2, 3, 3]
