"""The overview of a data set: counts, duplicate contexts, characters."""

from __future__ import annotations

from dataclasses import replace

from isogloss.files.overview import describe_items, overview_as_text
from isogloss.items import Candidate, Items, Problem
from support.builders import triple

ITEMS = Items(
    (
        replace(triple("a"), context="One BLANK."),
        replace(triple("b", "cook", category="gender"), context="One BLANK."),
        replace(triple("c", tags={"task": "intersentence"}), context="One BLANK.", language="de"),
        replace(triple("d"), context=None, candidates=(Candidate("d1", "stereotype", "abc"),)),
    ),
    (Problem("equal_words", "warning", "a", ""),),
)


def test_items_are_counted_by_their_columns():
    found = describe_items(ITEMS)
    assert (found["items"], found["candidates"]) == (4, 10)
    assert found["counts"] == {
        "language": {"en": 3, "de": 1},
        "task": {"intrasentence": 3, "intersentence": 1},
        "category": {"profession": 3, "gender": 1},
        "target": {"nurse": 3, "cook": 1},
    }
    assert found["problems"] == {"equal_words": 1}


def test_contexts_are_duplicates_only_within_a_language():
    assert describe_items(ITEMS)["duplicate_contexts"] == 1


def test_characters_are_those_of_the_candidates():
    # "She is stereotype." 18, "She is anti-stereotype." 23, "She is unrelated." 17, three times; "abc" 3
    found = describe_items(ITEMS)["characters"]
    assert (found["shortest"], found["longest"]) == (3, 23)
    assert found["mean"] == (3 * (18 + 23 + 17) + 3) / 10
    assert found["distinct"] == len(set("She is stereotype. anti- unrelated abc"))


def test_several_values_of_a_column_are_counted_each():
    item = triple("a", tags={"target": ("nurse", "cook")})
    assert describe_items(Items((item,)))["counts"]["target"] == {"nurse": 1, "cook": 1}


def test_no_items_are_an_overview_too():
    assert describe_items(Items(()))["characters"] == {"distinct": 0, "shortest": 0, "mean": 0, "longest": 0}


def test_the_text_shows_twelve_values_and_how_many_there_are():
    items = Items(tuple(triple(f"i{n}", f"t{n}") for n in range(13)))
    lines = overview_as_text(describe_items(items)).splitlines()
    assert lines[0] == "13 items, 39 candidates"
    assert lines[4] == f"target: {', '.join(f't{n} 1' for n in range(12))}, … (13 in all)"
    assert lines[5] == "duplicate contexts: 12"
    assert lines[6] == "characters: 18 distinct; candidates have 17 to 23, 19.3 on average"
