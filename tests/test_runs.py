"""The store: parts written in one step, resumed when missing, and never trusted when altered."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss import atomic_files, run_names, runs
from isogloss.errors import BadData, IsoglossError
from isogloss.items import Items, items_hash
from isogloss.scores import ROW_SCHEMA, item_table
from support.builders import score_many, triple

ITEMS = [triple(f"i{n}", f"t{n}") for n in range(6)]
ROWS = score_many(6, clusters=6).table.select(ROW_SCHEMA.keys())
FACTS = {"weights": "abc", "data": items_hash(tuple(ITEMS)), "method": "likelihood", "options": {"case": "d"}}


def open_run(root: Path, *, parts: int = 3, facts=FACTS) -> runs.Run:
    info = {"model": "org/tiny@main", "dataset": "demo", "language": "en", "method": "likelihood", "parts": parts}
    return runs.open_run(root, info=info | {"fingerprint": facts}, items=item_table(Items(tuple(ITEMS))))


def write_parts(run: runs.Run, numbers=(0, 1, 2)) -> None:
    for number in numbers:
        runs.write_part(run, number, rows=ROWS[number * 6 : number * 6 + 6])


def message(function, *args) -> str:
    with pytest.raises(IsoglossError) as caught:
        function(*args)
    return str(caught.value)


def test_a_run_lies_under_its_model_data_language_and_method(tmp_path):
    run = open_run(tmp_path)
    mark = run_names.fingerprint(FACTS)[:8]
    assert run.folder.parent.parent == tmp_path
    assert re.fullmatch("org_tiny_main-[0-9a-f]{8}", run.folder.parent.name)
    assert run.folder.name == f"demo-en-likelihood-{mark}"
    assert json.loads((run.folder / "run.json").read_text())["status"] == "started"


def test_what_is_written_is_read_back(tmp_path):
    run = open_run(tmp_path)
    write_parts(run)
    scored = runs.read_scored([runs.finish_run(run, seconds=1.5)])
    assert scored.table.select(ROWS.columns).equals(ROWS)
    assert scored.table["role"].to_list()[:3] == ["stereotype", "anti-stereotype", "unrelated"]
    assert set(scored.table["model"]) == {"org/tiny@main"}
    assert runs.read_run(run.folder).info["seconds"] == 1.5


@pytest.mark.parametrize("numbers", [(0, 1, 2), (0, 2), (1,), (2,)])
def test_large_tables_and_parts_in_any_number_are_read_as_small_ones_are(tmp_path, monkeypatch, numbers):
    run = open_run(tmp_path)
    write_parts(run, numbers)
    small = runs.read_scored([run])
    monkeypatch.setattr(atomic_files, "LARGE", 0)
    assert runs.read_scored([run]).table.equals(small.table)
    rows = pl.concat([ROWS[number * 6 : number * 6 + 6] for number in numbers])
    assert small.table.select(ROWS.columns).equals(rows)
    assert small.table["cluster"].to_list() == [f"t{name[1:]}" for name in rows["id"]]


def test_broken_items_do_not_hide_broken_parts(tmp_path):
    run = open_run(tmp_path)
    write_parts(run)
    for name in ("items", "part-00001"):
        (run.folder / f"{name}.parquet").write_bytes(b"PAR1")
    problems: list[str] = []
    assert not list(runs.each_scored([run], problems))
    assert [name in problem for name, problem in zip(("items.parquet", "part-00001"), problems, strict=True)] == [
        True
    ] * 2


def asked(item, correct: bool | None = None):
    """The item with a question, its first candidate being correct or not."""
    first, *rest = item.candidates
    candidates = (replace(first, correct=correct), *(replace(one, correct=False) for one in rest))
    return replace(item, question="Who was late?", candidates=candidates)


def test_a_question_and_its_correct_answer_are_read_back(tmp_path):
    items = Items((asked(ITEMS[0], True), ITEMS[1]))
    info = {"model": "tiny", "dataset": "demo", "language": "en", "method": "likelihood", "parts": 1}
    run = runs.open_run(tmp_path, info=info | {"fingerprint": FACTS}, items=item_table(items))
    runs.write_part(run, 0, rows=ROWS[:6])
    table = runs.read_items(run)
    assert table["question"].to_list() == ["Who was late?"] * 3 + [None] * 3
    assert table["correct"].to_list() == [True, False, False, None, None, None]
    assert "question" not in runs.read_items(run, texts=False).columns
    assert runs.read_scored([run]).table["correct"].to_list() == table["correct"].to_list()


def test_items_without_a_question_have_neither_the_columns_nor_another_hash():
    assert not {"question", "correct"} & set(item_table(Items(tuple(ITEMS))).columns)
    assert (
        items_hash(ITEMS[:1]) == "40dfbc9ee37460c78e8187a3a7108fe2c255047e21bf1c6e360779b0bd8bb654"
    )  # as before items had questions
    hashes = {items_hash([item]) for item in (ITEMS[0], asked(ITEMS[0]), asked(ITEMS[0], True))}
    assert len(hashes) == 3


def test_lists_and_missing_values_survive(tmp_path):
    odd = {"logprobs": [[1.0, None], [], None], "why": ["x", None, ""], "value": [float("nan"), None, -0.0]}
    rows = ROWS[:3].with_columns(pl.Series(name, values, dtype=ROW_SCHEMA[name]) for name, values in odd.items())
    run = open_run(tmp_path)
    runs.write_part(run, 0, rows=rows)
    assert runs.read_part(run, 0).equals(rows)


def test_opening_a_run_again_keeps_what_it_holds(tmp_path):
    write_parts(open_run(tmp_path), [0])
    again = open_run(tmp_path)
    assert runs.missing_parts(again) == [1, 2]
    assert runs.read_part(again, 0).height == 6


def test_resume_means_the_parts_that_are_not_there(tmp_path):
    run = open_run(tmp_path)
    assert runs.missing_parts(run) == [0, 1, 2]
    write_parts(run, [1])
    assert runs.missing_parts(run) == [0, 2]
    write_parts(run)
    assert runs.missing_parts(run) == []


def test_an_unfinished_run_says_how_many_parts_are_missing(tmp_path):
    run = open_run(tmp_path)
    write_parts(run, [0])
    assert runs.read_scored([run]).notes == (f"{run.folder.name}: 2 of 3 parts are missing",)


def test_runs_without_any_part_are_refused(tmp_path):
    assert message(runs.read_scored, [open_run(tmp_path)]) == (
        "None of the runs has a finished part. Run the same command again to resume."
    )


def test_the_same_run_given_twice_is_read_once(tmp_path):
    run = open_run(tmp_path)
    write_parts(run)
    assert runs.read_scored([run, runs.read_run(run.folder)]).table.height == ROWS.height


@pytest.mark.parametrize(
    ("name", "value"), [("weights", "abd"), ("data", "x"), ("method", "pll"), ("options", {"case": "e"}), ("new", None)]
)
def test_the_fingerprint_differs_when_any_fact_differs(tmp_path, name, value):
    other = FACTS | {name: value}
    assert run_names.fingerprint(other) != run_names.fingerprint(FACTS)
    assert open_run(tmp_path, facts=other).folder != open_run(tmp_path).folder


def test_the_fingerprint_does_not_depend_on_the_order_of_facts():
    assert run_names.fingerprint(dict(reversed(FACTS.items()))) == run_names.fingerprint(FACTS)


def test_two_fingerprints_in_one_folder_are_refused(tmp_path):
    run = open_run(tmp_path)
    runs.write_info(runs.Run(run.folder, run.info | {"fingerprint": {"weights": "other"}}))
    assert message(open_run, tmp_path) == (
        f"{run.folder / 'run.json'}: it describes another run ({run_names.fingerprint({'weights': 'other'})[:8]}) than the "
        "folder's name. Put the right file back."
    )


def test_writing_leaves_no_temporary_file_and_replaces_in_one_step(tmp_path):
    run = open_run(tmp_path)
    write_parts(run, [0, 0])
    assert sorted(path.name for path in run.folder.iterdir()) == ["items.parquet", "part-00000.parquet", "run.json"]


def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path, monkeypatch):
    run = open_run(tmp_path)
    before = (run.folder / "run.json").read_bytes()
    monkeypatch.setattr(
        atomic_files.os, "fsync", lambda number: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    assert message(runs.finish_run, run) == (
        f"Cannot write {run.folder / 'run.json'} (No space left on device). "
        "Is the folder writable, and the disk not full?"
    )
    assert [path.name for path in run.folder.iterdir() if path.name.startswith(".")] == []
    assert (run.folder / "run.json").read_bytes() == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    text = message(open_run, tmp_path / "file")
    assert text.startswith(f"Cannot make the folder {tmp_path / 'file'}")
    assert text.endswith("(Not a directory). Choose another with `out`.")


BREAKS = {
    "emptied": lambda raw: b"",
    "truncated": lambda raw: raw[: len(raw) // 2],
    "nonsense": lambda raw: b"nonsense",
    "bit flipped": lambda raw: raw[:40] + bytes([raw[40] ^ 1]) + raw[41:],
    "last bit flipped": lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]),
    "hash altered": lambda raw: raw.replace(atomic_files.SEAL.encode(), b"isogloss:sha257:"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_part_is_set_aside_and_scored_again(tmp_path, name):
    run = open_run(tmp_path)
    write_parts(run)
    path = runs.part_path(run, 1)
    path.write_bytes(BREAKS[name](path.read_bytes()))
    problem = f"{path}: the part is broken or was altered. Delete it and run the same command again."
    assert message(runs.read_part, run, 1) == problem
    with pytest.warns(UserWarning, match="set aside") as told:
        assert runs.missing_parts(run) == [1]
    assert str(told[0].message) == f"{problem} It was set aside as part-00001.parquet.broken and is scored again."
    assert (run.folder / "part-00001.parquet.broken").exists()


@given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
@settings(max_examples=100)
def test_any_flipped_bit_of_a_part_is_noticed(tmp_path_factory, place, bit):
    run = open_run(tmp_path_factory.mktemp("run"))
    write_parts(run, [0])
    path = runs.part_path(run, 0)
    raw = bytearray(path.read_bytes())
    raw[place % len(raw)] ^= 1 << bit
    path.write_bytes(raw)
    with pytest.raises(BadData):
        runs.read_part(run, 0)


def test_a_whole_part_gives_no_warning(tmp_path):
    run = open_run(tmp_path)
    write_parts(run)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert runs.missing_parts(run) == []


def test_altered_items_are_refused(tmp_path):
    run = open_run(tmp_path)
    write_parts(run)
    path = run.folder / "items.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    assert message(runs.read_scored, [run]) == (
        f"{path}: the table of items is broken or was altered. Delete the run's folder and run again."
    )
    path.unlink()
    assert message(runs.read_scored, [run]) == (
        f"{path}: the table of items cannot be read (No such file or directory). Delete the run's folder and run again."
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "the file is broken. Delete the run's folder and run again."),
        ("[" * 5000, "the file is broken. Delete the run's folder and run again."),
        ("[]", "schema version None; this Isogloss reads versions 1, 2, 3."),
        ('{"schema": 99}', "schema version 99; this Isogloss reads versions 1, 2, 3."),
        ('{"schema": 1}', "'model' is missing or wrong. Delete the run's folder and run again."),
    ],
)
def test_a_run_file_that_cannot_be_understood_is_refused(tmp_path, text, problem):
    path = tmp_path / "run.json"
    path.write_text(text)
    assert message(runs.read_run, tmp_path) == f"{path}: {problem}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("parts", 0),
        ("parts", "3"),
        ("parts", 10**9),
        ("fingerprint", []),
        ("notes", "x"),
        ("skipped", {"a": "b"}),
        ("labels", []),
    ],
)
def test_a_run_file_with_a_wrong_fact_names_it(tmp_path, name, value):
    run = open_run(tmp_path)
    runs.write_info(runs.Run(run.folder, run.info | {name: value}))
    assert message(runs.read_run, run.folder) == (
        f"{run.folder / 'run.json'}: '{name}' is missing or wrong. Delete the run's folder and run again."
    )


def test_runs_are_found_below_a_folder(tmp_path):
    first, second = open_run(tmp_path / "a"), open_run(tmp_path / "b", facts={"weights": "x"})
    assert [run.folder for run in runs.find_runs(tmp_path)] == [first.folder, second.folder]
    assert [run.folder for run in runs.find_runs(first.folder)] == [first.folder]


def test_a_folder_without_runs_says_how_to_make_one(tmp_path):
    assert message(runs.find_runs, tmp_path) == (
        f"No runs in {tmp_path}. Make one with: isogloss eval MODEL --data demo"
    )
    assert message(runs.find_runs, tmp_path / "none").startswith(f"No such run: {tmp_path / 'none'}. Make one with: ")
    assert message(runs.read_run, tmp_path) == f"{tmp_path} is not a run: it has no run.json."


@given(st.text(max_size=30))
def test_a_slug_is_a_safe_file_name(name):
    slug = run_names.slug(name)
    assert slug
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    assert not slug.startswith(".")
