"""Explaining metrics, and sentences that never over-claim."""

from __future__ import annotations

import json

import pytest

from isogloss import measure
from isogloss.analysis.explanations import explain_scores
from isogloss.analysis.measures import Measure
from isogloss.items import Items, Problem
from isogloss.reports.text.analyses import explanations_as_text
from isogloss.reports.text.sentences import explain_measure, explain_measures
from isogloss.scores import scored_from_values
from support.builders import score, triple


def differences(scored, metric: str) -> dict[str, tuple[float, float, int]]:
    found = explain_scores(scored, metrics=[metric])[0]
    return {one.what: (one.ours, one.points, one.n) for one in found.differences}


def test_ties_and_pooling_by_hand():
    # intra: win, tie, win -> 2.5 of 3; inter: loss -> pooled 62.5, paper 50, mean of the tasks (83.3 + 0) / 2 = 41.7
    items = [triple(f"i{k}", f"t{k}") for k in range(3)] + [triple("i3", "t3", tags={"task": "intersentence"})]
    found = differences(score(items, [(2, 1, 0), (1, 1, 0), (2, 1, 0), (1, 2, 0)]), "ss")
    assert found["ties counted as published"] == pytest.approx((62.5, -12.5, 1))
    pooled = "the mean of the tasks instead of all items pooled"
    assert found[pooled] == pytest.approx((62.5, 250 / 6 - 62.5, 4))


def test_classes_can_be_bias_types_or_translated_terms():
    # terms a: 1, b: 0, c: 1 -> 66.7; bias types x: (a, b, b) 1/3, y: (c) 1 -> 66.7; translated A: (a, b, b), C -> the same
    rows = [("a", "x", "A", 1), ("b", "x", "A", 0), ("b", "x", "A", 0), ("c", "y", "C", 1)]
    items = [triple(f"i{k}", t, category=c, tags={"target_term": w}) for k, (t, c, w, _) in enumerate(rows)]
    found = differences(score(items, [(2, 1, 0) if w else (1, 2, 0) for *_, w in rows]), "ss_multiclass")
    assert found["bias types as classes, as the paper says"] == pytest.approx((200 / 3, 0, 2))
    assert found["translated terms as classes"] == pytest.approx((200 / 3, 0, 2))


def test_items_with_two_blanks_are_weighed():
    items = Items((triple("a"), triple("b")), (Problem("several_blanks", "warning", "a", "", "en"),))
    values = {
        c.id: {"stereotype": 2.0, "anti-stereotype": 1.0}.get(c.role, 0.0) for item in items for c in item.candidates
    }
    values["b-stereotype"] = 0.5
    found = differences(scored_from_values(items, values, model="m"), "ss")
    assert found["without the items that have more than one BLANK"] == pytest.approx((50, -50, 1))


def test_explanations_can_be_shown_and_written():
    items = [triple(f"i{k}", f"t{k % 12}") for k in range(48)]
    found = explain_scores(score(items, [(k % 3, 1, 0.5) for k in range(48)]))
    assert [one.metric for one in found][:3] == ["lms", "ss", "icat"]
    rows = json.loads(found.to_json())["explanations"]
    assert {"metric", "definition", "published_code", "ours", "caution", "differences"} <= set(rows[0])
    text = explanations_as_text(found)
    assert "published code  Compares strictly: a tie counts for the anti-stereotype" in text
    assert "the width of the interval, if items of one target were independent" in text


def row(value, low, high, *, metric="ss", n=2106, why=None) -> Measure:
    return Measure(metric, {"model": "m", "language": "en"}, value, low, high, n, 0, 79, "corrected", why)


SENTENCES = {
    "SS 52.4, 95 % CI 49.8-55.0, n = 2106: not distinguishable from 50": row(52.4, 49.8, 55.0),
    "SS 58.0, 95 % CI 55.7-60.1, n = 2106: above 50": row(58.0, 55.7, 60.1),
    "SS 42.0, 95 % CI 40.1-44.3, n = 2106: below 50": row(42.0, 40.1, 44.3),
    "LMS 70.0, 95 % CI 68.0-72.0, n = 2106": row(70.0, 68.0, 72.0, metric="lms"),
    "SS 61.0, n = 30: no interval (9 clusters; an interval needs 10)": row(
        61.0, None, None, n=30, why="9 clusters; an interval needs 10"
    ),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_says_what_the_interval_allows_and_no_more(sentence):
    assert explain_measure(SENTENCES[sentence]) == sentence


def test_all_ties_are_not_told_from_no_preference():
    items = [triple(f"i{k}", f"t{k % 10}") for k in range(40)]
    scored = score(items, [(1, 1, 0)] * 40)
    groups = explain_measures(measure(scored, metrics=["ss"], by="category", resamples=100))
    assert groups.startswith("tiny, en, profession: SS 50.0")
    shown = explain_measures(measure(scored, metrics=["ss"], resamples=100))
    assert shown.splitlines()[0] == "tiny, en: SS 50.0, 95 % CI 23.7-76.3, n = 40: not distinguishable from 50."
