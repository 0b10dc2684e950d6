"""The demonstration set: large enough, parallel, and well-formed in every language."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import isogloss
from isogloss.items import BLANK
from support.builders import TRIPLE

TAGS = ("en", "de", "es", "fr", "tr")
each = pytest.mark.parametrize("tag", TAGS)


@pytest.fixture(scope="module")
def demo():
    return {tag: isogloss.read("demo", language=tag) for tag in TAGS}


@each
def test_there_are_forty_eight_items_of_each_task(demo, tag):
    counts = Counter(item.tags["task"] for item in demo[tag])
    assert set(counts) == {"intrasentence", "intersentence"}
    assert min(counts.values()) >= 48


@each
def test_there_are_forty_targets_and_all_four_bias_types(demo, tag):
    assert len({item.cluster for item in demo[tag]}) >= 40
    assert {item.category for item in demo[tag]} == {"gender", "profession", "race", "religion"}


@each
def test_every_item_has_the_three_roles_and_nothing_odd(demo, tag):
    assert all(sorted(c.role for c in item.candidates) == sorted(TRIPLE) for item in demo[tag])
    assert demo[tag].problems == ()


@each
def test_blank_stands_once_where_a_word_is_missing_and_nowhere_else(demo, tag):
    for item in demo[tag]:
        expected = 1 if item.tags["task"] == "intrasentence" else 0
        assert item.context.count(BLANK) == expected
        assert not any(BLANK in candidate.text for candidate in item.candidates)


@each
def test_candidates_differ_from_each_other(demo, tag):
    for item in demo[tag]:
        assert len({candidate.text for candidate in item.candidates}) == 3


@each
def test_items_are_parallel_to_the_english_ones(demo, tag):
    def shape(item):
        return item.id, item.category, item.cluster, item.tags["task"], [(c.id, c.role) for c in item.candidates]

    assert [shape(item) for item in demo[tag]] == [shape(item) for item in demo["en"]]


@pytest.mark.parametrize("tag", TAGS[1:])
def test_items_are_translated(demo, tag):
    same = [a.id for a, b in zip(demo[tag], demo["en"], strict=True) if a.context == b.context]
    assert same == []


def test_the_card_says_what_the_set_is_and_is_not():
    card = (Path(isogloss.__file__).parent / "data" / "demo" / "CARD.md").read_text(encoding="utf-8")
    for words in ("Written for demonstration", "not validated by native speakers", "Content note", "Licence"):
        assert words in card
