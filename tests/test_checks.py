"""Checks: each finds what it says, and the report names every check."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import triple
from isogloss.checks import READING, check_items, find_problems
from isogloss.items import Candidate, Items, Problem


def filled(context: str, *words: str):
    roles = ("stereotype", "anti-stereotype", "unrelated")
    candidates = tuple(
        Candidate(f"c{i}", role, context.replace("BLANK", word), word)
        for i, (role, word) in enumerate(zip(roles, words, strict=True))
    )
    return replace(triple("a"), context=context, candidates=candidates)


def test_a_good_item_has_no_problem():
    assert find_problems([filled("She is BLANK.", "kind", "rude", "fish")]) == ()


@pytest.mark.parametrize(
    ("item", "check", "message"),
    [
        (filled("BLANK is BLANK.", "a", "b", "c"), "several_blanks", "the context has BLANK 2 times"),
        (filled("She is BLANK.", "a", "a", "c"), "equal_words", "stereotype and anti-stereotype are both 'a'"),
        (
            replace(filled("She is BLANK.", "a", "b", "c"), context="He is BLANK."),
            "sentence_differs",
            "the sentence is not the context with 'a' filled in",
        ),
    ],
)
def test_each_check_finds_what_it_looks_for(item, check, message):
    assert find_problems([item]) == (Problem(check, "warning", "a", message, "en"),)


def test_sentences_that_are_equal_are_found_without_words_too():
    item = triple("a")
    same = tuple(Candidate(c.id, c.role, "They left.") for c in item.candidates)
    found = find_problems([replace(item, context="I met a nurse.", candidates=same)])
    assert [problem.check for problem in found] == ["equal_words"]


def test_the_report_names_every_check_also_those_that_found_nothing():
    odd = filled("BLANK is BLANK.", "a", "b", "c")
    items = Items((odd,), (Problem("unreadable", "error", "line 3", "x.csv, line 3: bad."), *find_problems([odd])))
    found = {one["check"]: (one["severity"], one["count"], one["items"]) for one in check_items(items)}
    assert list(found) == ["unreadable", *(check.name for check in READING)]
    assert found["unreadable"] == ("error", 1, ["x.csv, line 3: bad."])
    assert found["several_blanks"] == ("warning", 1, ["a"])
    assert found["equal_words"] == ("warning", 0, [])
