"""Packed items are the items: the same objects come out, and what is refused in small sets is refused in large ones."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest

import isogloss as ig
from isogloss import packed_items
from isogloss.checks import doubtful_items, find_problems
from isogloss.errors import IsoglossError
from isogloss.items import Items
from isogloss.packed_items import PackedItems, Packer, SeenHashes
from support import builders


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(packed_items, "CHUNK", 7)
    monkeypatch.setattr(packed_items, "PACKED_FROM", 20)


def pack(items):
    packer = Packer()
    for start in range(0, len(items), 5):
        packer.add(items[start : start + 5])
    return packer.finish()


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


@pytest.mark.parametrize("name", ["demo", "shades_demo", "parallel_demo"])
def test_packed_items_are_the_items_that_were_packed(name, monkeypatch):
    packed = ig.read(name)
    monkeypatch.setattr(packed_items, "PACKED_FROM", 10**9)
    plain = ig.read(name)
    assert isinstance(packed.rows, PackedItems)
    assert isinstance(plain.rows, tuple)
    assert tuple(packed) == plain.rows
    assert packed == plain
    assert len(packed) == len(plain)
    assert repr(packed) == repr(plain)
    assert packed.to_polars().equals(plain.to_polars())


def test_items_without_context_word_category_or_tags_are_packed_too():
    candidates = (ig.Candidate("a", "stereotype", "One."), ig.Candidate("b", "contrast", "Two.", ""))
    rows = [
        ig.Item(f"i{n}", "d", "fa", None, candidates[: n % 3], derived_from=f"i{n - 1}", variant="v") for n in range(30)
    ]
    rows += [ig.Item("last", "d", "de", "x", (), tags={"entity": ("a", "b"), "task": "t"})]
    assert pack(rows) == rows


def test_indexes_and_slices_are_those_of_a_tuple():
    rows = tuple(ig.read("demo", language="en"))
    packed = pack(rows)
    for index in (0, 6, 7, -1, slice(None), slice(5, 40, 3), slice(20, 3, -2), slice(-9, None), slice(4, 4)):
        assert packed[index] == rows[index]
    with pytest.raises(IndexError):
        packed[len(rows)]


def test_few_items_stay_objects():
    assert isinstance(pack(tuple(ig.read("demo", language="en"))[:19]), tuple)


def test_large_sets_can_be_added_and_filtered():
    items = ig.read("demo", language="en")
    assert tuple(items + Items(())) == tuple(items)
    assert {item.category for item in ig.read("demo", language="en", where="category=gender")} == {"gender"}


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


@pytest.mark.parametrize("name", ["demo", "shades_demo"])
def test_problems_are_found_in_doubtful_items_only(name):
    rows = tuple(ig.read(name))
    assert find_problems(doubtful_items(pack(rows))) == find_problems(rows)


ODD = {
    "blanks": {"context": "It is BLANK, BLANK.", "candidates.0.sentence": "It is stereotype, stereotype."},
    "equal": {"candidates.1.word": "stereotype", "candidates.1.sentence": "It is stereotype."},
    "differs": {"candidates.2.sentence": "It was unrelated."},
    "invisible": {"candidates.2.word": "un\u200brelated", "candidates.2.sentence": "It is un\u200brelated."},
    "control": {"context": "It is\x07 BLANK."},
    "scripts": {"candidates.0.word": "stere\u043etype", "candidates.0.sentence": "It is stere\u043etype."},
    "plain": {},
    "next": {"task": "intersentence", "context": "It is."},
    "equal next": {"task": "intersentence", "context": "It is.", "candidates.0.sentence": "Same.", "candidates.1.sentence": "Same."},
}  # fmt: skip


def odd_row(number, changes):
    row = triple(number)
    for name, value in changes.items():
        *path, last = name.split(".")
        inner = row
        for part in path:
            inner = inner[int(part)] if part.isdigit() else inner[part]
        inner[last] = value
    return row | ({"task": "intrasentence"} if "task" not in changes else {})


def test_plain_rows_give_the_items_and_problems_of_rows_that_are_read_slowly(tmp_path):
    rows = [odd_row(number, changes) for number, changes in enumerate(ODD.values(), 100)]
    rows += [triple(number) | {"task": "intrasentence"} for number in range(40)]
    texts = [json.dumps(row, ensure_ascii=False) for row in rows]
    (tmp_path / "fast.jsonl").write_text("\n".join(texts), encoding="utf-8")
    texts[0] = texts[0][:-1] + ', "further": 1}'  # then no row is read as a structure
    (tmp_path / "slow.jsonl").write_text("\n".join(texts), encoding="utf-8")
    fast, slow = (ig.read(tmp_path / name) for name in ("fast.jsonl", "slow.jsonl"))
    assert tuple(fast) == tuple(slow)
    assert {problem.check for problem in fast.problems} > {"several_blanks", "equal_words", "sentence_differs"}
    assert [problem for problem in fast.problems if problem.check != "read_as"] == [
        problem for problem in slow.problems if problem.check != "read_as"
    ]


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
def test_a_plain_row_that_is_wrong_is_refused_as_any_other(tmp_path, changes, problem):
    rows = [*(triple(number) | {"task": "intrasentence"} for number in range(30)), odd_row(103, changes)]
    path = write(tmp_path / "rows.jsonl", rows)
    with pytest.raises(IsoglossError) as caught:
        ig.read(path)
    assert str(caught.value).startswith(f"{path}, line 31: {problem or ''}")
    assert len(ig.read(path, skip_bad=True)) == 30


def first_repeats_slowly(groups, seen):
    """The rule in plain words: a group with a key that was noted is refused whole, any other is noted whole."""
    repeats = []
    for group in groups:
        noted = [index for index, key in enumerate(group) if key in seen]
        repeats.append(noted[0] if noted else None)
        seen |= set() if noted else set(group)
    return repeats


@pytest.mark.parametrize("seed", range(20))
def test_repeats_are_those_of_a_set(seed):
    rng = random.Random(seed)
    hashes, seen = SeenHashes(), set()
    for _ in range(rng.randrange(1, 30)):
        most = rng.choice([40, 10**6])
        groups = [rng.sample(range(-most, most), rng.randrange(4)) for _ in range(rng.randrange(12))]
        keys = [key for group in groups for key in group]
        if hashes.all_new(np.array(keys, np.int64)):
            assert len(set(keys) | seen) == len(keys) + len(seen)
            seen |= set(keys)
        else:
            assert len(set(keys) | seen) < len(keys) + len(seen)
            assert hashes.first_repeats(groups) == first_repeats_slowly(groups, seen)


def test_questions_and_correct_answers_are_packed_too():
    def ask(item):
        answers = tuple(replace(one, correct=one.role == "unrelated") for one in item.candidates)
        return replace(item, question=f"What of {item.id}?", candidates=answers)

    plain = [builders.triple(f"i{n}") for n in range(30)]
    items = [ask(item) if n % 2 else item for n, item in enumerate(plain)]
    assert isinstance(pack(items), PackedItems)
    assert list(pack(items)) == items
