"""StereoSet's prediction layout: read, written, and refused with the place of what is wrong."""

from __future__ import annotations

import gzip
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import IsoglossError
from isogloss.exchange.predictions import model_of_file, read_predictions, write_predictions
from isogloss.items import Items
from isogloss.scores import Scored, join_scored, scored_from_values
from support.builders import score, score_many, triple


def message(function, *args) -> str:
    with pytest.raises(IsoglossError) as caught:
        function(*args)
    return str(caught.value)


def test_the_scores_of_both_tasks_are_read(tmp_path):
    path = tmp_path / "m.json"
    path.write_text('{"intrasentence": [{"id": "a", "score": 1}], "intersentence": [{"id": "b", "score": -2.5e-3}]}')
    assert read_predictions(path) == {"a": 1.0, "b": -0.0025}


@given(numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_what_is_written_is_read_back_exactly(tmp_path_factory, numbers):
    item = triple("a")
    path = tmp_path_factory.mktemp("out") / "m.json"
    assert write_predictions(score([item], [numbers]), path) == 3
    values = read_predictions(path)
    assert list(values.values()) == numbers
    assert scored_from_values(Items((item,)), values, model="tiny").table.equals(score([item], [numbers]).table)


def test_both_tasks_and_gzip_survive_the_round_trip(tmp_path):
    items = [triple("a"), triple("b", tags={"task": "intersentence"})]
    path = tmp_path / "m.json.gz"
    assert write_predictions(score(items, [(1, 2, 3), (4, 5, 6)]), path) == 6
    content = json.loads(gzip.decompress(path.read_bytes()))
    assert list(content) == ["intrasentence", "intersentence"]
    assert content["intersentence"][0] == {"id": "b-stereotype", "score": 4.0}
    assert len(read_predictions(path)) == 6


@pytest.mark.parametrize(("name", "model"), [("gpt2_d_en.json.gz", "gpt2_d_en"), ("x.json", "x"), ("y", "y")])
def test_a_file_names_its_model(name, model, tmp_path):
    assert model_of_file(tmp_path / name) == model


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[]", "not a prediction file: it needs 'intrasentence' or 'intersentence'."),
        ('{"data": []}', "not a prediction file: it needs 'intrasentence' or 'intersentence'."),
        ('{"intrasentence": {}}', "'intrasentence' must be a list of objects with 'id' and 'score'."),
        ('{"intrasentence": [1]}', "intrasentence prediction 1: must be an object with 'id' and 'score'."),
        (
            '{"intersentence": [{"id": 1, "score": 1}]}',
            "intersentence prediction 1: must be an object with 'id' and 'score'.",
        ),
        (
            '{"intrasentence": [{"id": "a", "score": 1}, {"id": "b"}]}',
            "intrasentence prediction 2: the score must be a finite number; it is None.",
        ),
        (
            '{"intrasentence": [{"id": "a", "score": "1"}]}',
            "intrasentence prediction 1: the score must be a finite number; it is '1'.",
        ),
        (
            '{"intrasentence": [{"id": "a", "score": true}]}',
            "intrasentence prediction 1: the score must be a finite number; it is True.",
        ),
        (
            '{"intrasentence": [{"id": "a", "score": 1e999}]}',
            "intrasentence prediction 1: the score must be a finite number; it is inf.",
        ),
        (
            '{"intrasentence": [{"id": "a", "score": [1]}]}',
            "intrasentence prediction 1: the score must be a finite number; it is a list.",
        ),
        (
            '{"intrasentence": [{"id": "a", "score": 1' + "0" * 400 + "}]}",
            "intrasentence prediction 1: the id or the score cannot be read.",
        ),
        (
            '{"intrasentence": [{"id": "a", "score": 1}], "intersentence": [{"id": "a", "score": 1}]}',
            "intersentence prediction 1: the id 'a' appears twice.",
        ),
        ('{"intrasentence": [{"id": "a", "score": NaN}]}', "not JSON: 'NaN' is not a number."),
    ],
)
def test_a_bad_file_is_named_with_the_place_of_what_is_wrong(tmp_path, content, problem):
    path = tmp_path / "m.json"
    path.write_text(content)
    assert message(read_predictions, path) == f"{path}: {problem}"


def test_only_one_model_and_language_fit_into_a_file(tmp_path):
    english, german = score_many(2, clusters=2), score_many(2, clusters=2, language="de")
    assert message(write_predictions, join_scored([english, german]), tmp_path / "x.json") == (
        "A prediction file holds one language; these runs have de, en."
    )
    other = Scored(english.table.with_columns(model=pl.lit("big")))
    assert message(write_predictions, join_scored([english, other]), tmp_path / "x.json") == (
        "A prediction file holds one model; these runs have big, tiny."
    )


def test_what_the_layout_cannot_hold_is_refused(tmp_path):
    scored, path = score_many(2, clusters=2), tmp_path / "x.json"
    assert message(write_predictions, join_scored([scored, scored]), path) == (
        "A candidate was scored by more than one method. Give the runs of one method."
    )
    assert message(write_predictions, Scored(scored.table.drop("task")), path) == (
        "This layout holds intrasentence and intersentence items; these runs have others."
    )
    empty = Scored(scored.table.with_columns(value=pl.lit(None, pl.Float64)))
    assert message(write_predictions, empty, path) == (
        "Some candidates have no score, or one that is not a number; this layout cannot say so."
    )
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    path = tmp_path / "none" / "x.json"
    assert message(write_predictions, score_many(2, clusters=2), path) == (
        f"Cannot write {path} (No such file or directory). Is the folder writable, and the disk not full?"
    )
