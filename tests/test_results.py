"""Items and results are chosen by values and cut by position, and stay what they are."""

from __future__ import annotations

import pytest

import isogloss as ig
from isogloss.errors import UnknownName
from isogloss.results import Results
from support.builders import score, triple


@pytest.fixture
def measures():
    items = [triple(f"i{k}", f"t{k}", language="en", category=("gender", "religion")[k % 2]) for k in range(24)]
    return ig.measure(score(items, [(2, 1, 0)] * 24), metrics=["lms", "ss"], by=["category"])


def test_measures_are_filtered_by_columns_and_stay_measures(measures):
    gender = measures.filter(category="gender", metric=["ss", "lms"])
    assert isinstance(gender, Results)
    assert [(row.group["category"], row.metric) for row in gender] == [("gender", "lms"), ("gender", "ss")]
    assert gender.notes == measures.notes
    assert "religion" not in str(gender)


def test_a_slice_of_measures_is_a_table(measures):
    assert measures[:2].rows == measures.rows[:2]
    assert "category" in str(measures[:2])
    assert measures[0] is measures.rows[0]


def test_an_unknown_column_or_value_is_named_with_those_that_are_there(measures):
    with pytest.raises(UnknownName, match="No column named 'categry'"):
        measures.filter(categry="gender")
    with pytest.raises(UnknownName, match="No category named 'gendr'"):
        measures.filter(category="gendr")


def test_items_are_filtered_as_by_where():
    items = ig.read("demo", language=["en", "de"])
    chosen = items.filter(category="gender", task=["intrasentence"])
    assert len(chosen) == len(ig.read("demo", language=["en", "de"], where=["category=gender", "task=intrasentence"]))
    assert {(item.category, item.tags["task"]) for item in chosen} == {("gender", "intrasentence")}
