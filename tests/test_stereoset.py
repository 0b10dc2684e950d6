"""Rows of StereoSet's layout: ids that appear twice, and rows that are wrong, are named with their line."""

from __future__ import annotations

import json

import pytest

import isogloss as ig
from isogloss.errors import IsoglossError


def triple(number, *, id=None, candidate=None, language="en"):
    roles = ("stereotype", "anti-stereotype", "unrelated")
    cells = [
        {"id": f"{number}-{role}", "gold_label": role, "sentence": f"It is {role}.", "word": role} for role in roles
    ]
    cells[1]["id"] = candidate or cells[1]["id"]
    row = {"id": id or f"i{number}", "bias_type": "race", "target": f"t{number % 3}", "language": language}
    return row | {"context": "It is BLANK.", "candidates": cells}


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (triple(50, id="i3"), "the id 'i3' appears twice."),
        (triple(50, candidate="3-unrelated"), "the candidate id '3-unrelated' appears twice."),
    ],
)
def test_an_id_that_came_long_before_is_refused_with_its_line(tmp_path, row, problem):
    path = write(tmp_path / "many.jsonl", [*map(triple, range(40)), row, triple(60)])
    with pytest.raises(IsoglossError) as caught:
        ig.read(path)
    assert str(caught.value) == f"{path}, line 41: {problem}"
    items = ig.read(path, skip_bad=True)
    assert [problem.check for problem in items.problems] == ["unreadable"]
    assert [item.id for item in items] == [*(f"i{number}" for number in range(40)), "i60"]


def test_a_refused_row_reserves_no_id(tmp_path):
    again = triple(1, id="i0")  # refused; its candidates have ids that only it has until now
    path = write(tmp_path / "rows.jsonl", [triple(0), again, triple(1)])
    assert [item.id for item in ig.read(path, skip_bad=True)] == ["i0", "i1"]


def test_the_same_id_in_another_language_is_another_item(tmp_path):
    path = write(tmp_path / "rows.jsonl", [triple(0), triple(0, language="de")])
    assert [item.key for item in ig.read(path)] == [("stereoset", "i0", "en"), ("stereoset", "i0", "de")]


def test_an_item_may_have_the_id_of_a_candidate(tmp_path):
    path = write(tmp_path / "rows.jsonl", [triple(0), triple(1, id="0-unrelated")])
    assert len(ig.read(path)) == 2


def odd_row(number, changes):
    row = triple(number)
    for name, value in changes.items():
        *path, last = name.split(".")
        inner = row
        for part in path:
            inner = inner[int(part)] if part.isdigit() else inner[part]
        inner[last] = value
    return row | ({"task": "intrasentence"} if "task" not in changes else {})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"context": " "}, "'context' is missing or empty."),
        ({"context": "It is."}, "the context has no BLANK."),
        ({"bias_type": " "}, "'bias_type' is missing or empty."),
        ({"candidates.1.id": "103-unrelated"}, "two candidates have the same id."),
        ({"candidates.1.gold_label": "unrelated"}, "an item needs each of stereotype, anti-stereotype, unrelated once; found: stereotype, unrelated, unrelated."),
        ({"language": "xx-yyyyyyyyyyyyy"}, None),
    ],
)  # fmt: skip
def test_a_row_that_is_wrong_is_named_with_its_line(tmp_path, changes, problem):
    rows = [*(triple(number) | {"task": "intrasentence"} for number in range(30)), odd_row(103, changes)]
    path = write(tmp_path / "rows.jsonl", rows)
    with pytest.raises(IsoglossError) as caught:
        ig.read(path)
    assert str(caught.value).startswith(f"{path}, line 31: {problem or ''}")
    assert len(ig.read(path, skip_bad=True)) == 30
