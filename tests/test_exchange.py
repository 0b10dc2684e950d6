"""Import and export: another tool's scores become a run, and come out again as they were."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest

from isogloss import measure, runs
from isogloss.errors import IsoglossError
from isogloss.exchange.predictions import read_predictions
from isogloss.exchange.runs import export_runs, import_run, read_chosen
from isogloss.items import Items, Problem
from support.builders import triple

ITEMS = Items(
    (triple("a"), triple("b", "cook"), triple("c", tags={"task": "intersentence"})),
    (Problem("equal_words", "warning", "a", "", "en"),),
)


@pytest.fixture
def predictions(tmp_path):
    """A prediction file for all the items."""
    path = tmp_path / "tiny_en.json"
    scores = {c.id: n / 7 for n, c in enumerate(c for item in ITEMS for c in item.candidates)}
    rows = [{"id": name, "score": score} for name, score in scores.items()]
    path.write_text(json.dumps({"intrasentence": rows[:6], "intersentence": rows[6:]}))
    return path


def test_what_is_imported_is_exported_again_exactly(predictions, tmp_path):
    run = import_run(predictions, ITEMS, root=tmp_path / "runs")
    assert export_runs([run.folder], tmp_path / "out.json") == 9
    assert read_predictions(tmp_path / "out.json") == read_predictions(predictions)


def test_an_imported_run_is_measured_like_the_file(predictions, tmp_path):
    run = import_run(predictions, ITEMS, root=tmp_path / "runs")
    scored = runs.read_scored(runs.find_runs(tmp_path / "runs"))
    assert (run.info["model"], run.info["status"], len(scored)) == ("tiny_en", "finished", 3)
    assert measure(scored, metrics=["ss"], by=[])[0].value == 0
    assert scored.table.filter(pl.col("problems").list.contains("equal_words"))["id"].n_unique() == 1


def test_a_run_is_compared_with_a_file_that_was_published(predictions, tmp_path, command):
    run = import_run(predictions, ITEMS, root=tmp_path / "runs", model="mine")
    rows = [
        {"id": item.id, "task": item.tags.get("task", "intrasentence"), "language": "en", "bias_type": item.category,
         "target": item.cluster, "context": item.context, "dataset": item.dataset,
         "candidates": [{"id": c.id, "gold_label": c.role, "sentence": c.text, "word": c.word} for c in item.candidates]}
        for item in ITEMS
    ]  # fmt: skip
    data = tmp_path / "data_en.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ("--metrics", "ss", "--by", "dataset", "--format", "json")
    status, out, error = command("compare", run.folder, predictions, "--data", data, *words)
    assert (status, error) == (0, "")
    assert [(row["n"], row["difference"]) for row in json.loads(out)["comparisons"]] == [(3, 0)]


def test_a_file_of_one_task_imports_its_items_and_says_what_is_left_out(predictions, tmp_path):
    content = json.loads(predictions.read_text())
    predictions.write_text(json.dumps({"intersentence": content["intersentence"]}))
    run = import_run(predictions, ITEMS, root=tmp_path / "runs", model="org/tiny")
    assert run.info["notes"] == ["no scores for the 2 intrasentence items, which were left out"]
    assert runs.read_items(run)["id"].unique().to_list() == ["c"]
    assert run.folder.parent.name == "org_tiny-0a07e539"


def test_other_scores_under_the_same_name_are_another_run(predictions, tmp_path):
    first = import_run(predictions, ITEMS, root=tmp_path / "runs")
    predictions.write_text(predictions.read_text().replace("0.0", "0.5"))
    second = import_run(predictions, ITEMS, root=tmp_path / "runs")
    again = import_run(predictions, ITEMS, root=tmp_path / "runs")
    assert first.folder != second.folder == again.folder


@pytest.mark.parametrize(
    ("fact", "problem"),
    [
        ({"language": "de"}, "A run holds one language; the data has de, en. Give one of them."),
        ({"dataset": "demo"}, "A run holds one data set; the data has demo, stereoset. Give one of them."),
    ],
)
def test_a_run_holds_one_language_and_data_set(predictions, tmp_path, fact, problem):
    items = ITEMS + Items((triple("z", **fact),))
    with pytest.raises(IsoglossError) as caught:
        import_run(predictions, items, root=tmp_path / "runs")
    assert str(caught.value) == problem
    assert not (tmp_path / "runs").exists()


def test_an_unknown_layout_is_named(predictions, tmp_path):
    with pytest.raises(IsoglossError) as caught:
        import_run(predictions, ITEMS, root=tmp_path, layout="stereoset")
    assert (
        str(caught.value)
        == "No layout named 'stereoset'. Known: bbq, gest, inspect, lm-eval, lm-eval-bbq, stereoset-predictions."
    )
    with pytest.raises(IsoglossError) as caught:
        export_runs([tmp_path], tmp_path / "x.json", layout="stereoset")
    assert (
        str(caught.value)
        == "No layout to write named 'stereoset'. Known: every-eval-ever, lm-eval, stereoset-predictions."
    )


def test_a_task_that_the_data_has_in_another_language_only_is_named(predictions):
    german = replace(ITEMS[2], language="de")
    data = Items((*ITEMS[:2], german))
    notes = read_chosen(predictions, data, where={}).notes
    assert "the 1 intersentence items of the data are in de, not in en, and were left out" in notes
