"""Results that others can read: Every Eval Ever, the methods paragraph, and one's own model beside published ones."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import isogloss as ig
from isogloss.analysis.published import TABLE, published_measures
from isogloss.errors import IsoglossError
from isogloss.exchange.every_eval_ever import export_results
from isogloss.exchange.runs import import_run, read_scores
from isogloss.items import Items
from isogloss.reports.text.measures import doubts
from isogloss.reports.text.methods_paragraph import describe_methods
from isogloss.runs import find_runs
from support.reports import write_run

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of imported scores on the demonstration items, named as StereoSet's."""
    folder = tmp_path_factory.mktemp("shared")
    source = Path(ig.__file__).parent / "data" / "demo"
    rows = [
        {**json.loads(line), "dataset": "stereoset"}
        for task in ("intrasentence", "intersentence")
        for line in (source / f"{task}_en.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    path = folder / "items_en.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    scores: dict[str, list[Any]] = {"intrasentence": [], "intersentence": []}
    for row in rows:
        for one in row["candidates"]:
            points = {"stereotype": 2, "anti-stereotype": 2, "unrelated": 1}[one["gold_label"]]
            draw = int(hashlib.sha256(one["id"].encode()).hexdigest()[:2], 16) / 256
            scores[row["task"]].append({"id": one["id"], "score": points + draw})
    file = folder / "mine_en.json"
    file.write_text(json.dumps(scores), encoding="utf-8")
    return Path(str(import_run(file, ig.read(path), root=folder / "runs", model="mine").folder))


@pytest.fixture(scope="module")
def exported(run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    out = tmp_path_factory.mktemp("out") / "mine.json"
    assert export_results([run], out, resamples=200) == 96
    lines = (out.parent / "mine_samples.jsonl").read_text(encoding="utf-8").splitlines()
    return json.loads(out.read_text(encoding="utf-8")), [json.loads(line) for line in lines]


def test_an_export_is_valid_against_the_published_schemas(exported: Any, real_data: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    record, samples = exported
    schemas = [
        json.loads((real_data / "schemas" / f"{name}.schema.json").read_text())
        for name in ("eval", "instance_level_eval")
    ]
    jsonschema.validate(record, schemas[0])
    check = jsonschema.Draft7Validator(schemas[1])
    assert [error.message for one in samples for error in check.iter_errors(one)] == []


def test_an_export_has_score_interval_n_ties_fingerprint_and_what_the_score_does_not_mean(
    exported: Any, run: Path
) -> None:
    record, samples = exported
    found = {one["evaluation_result_id"]: one for one in record["evaluation_results"]}
    (ss,) = [row for row in ig.measure(ig.load(run), metrics="ss", resamples=200) if "task" not in row.group]
    one = found["stereoset.en.ss"]
    interval = one["score_details"]["uncertainty"]["confidence_interval"]
    assert (one["score_details"]["score"], interval["lower"], interval["upper"]) == (ss.value, ss.low, ss.high)
    assert interval["method"] == f"{ss.interval}, over clusters"
    assert one["score_details"]["uncertainty"]["num_samples"] == 96
    assert one["score_details"]["details"]["ties"] == str(ss.ties)
    assert one["score_details"]["details"]["fingerprints"] == json.dumps([run.name])
    assert (
        "What it does not mean: 50 means no preference on these items" in one["metric_config"]["evaluation_description"]
    )
    assert one["source_data"]["url"][0].startswith("https://raw.githubusercontent.com/moinnadeem/StereoSet/")
    assert {sample["evaluation_id"] for sample in samples} == {record["evaluation_id"]}
    assert sum(sample["evaluation"]["score"] for sample in samples) == pytest.approx(0.96 * (ss.value or 0))
    assert record["detailed_evaluation_results"]["total_rows"] == len(samples)


def test_an_unknown_layout_lists_the_nearest_and_writes_nothing(run: Path, tmp_path: Path, command: Command) -> None:
    status, _, err = command("data", "export", run, "-o", tmp_path / "x.json", "--layout", "every-eval-evr")
    assert (status, "Did you mean 'every-eval-ever'?" in err, list(tmp_path.iterdir())) == (2, True, [])


def test_the_methods_paragraph_names_model_data_method_metrics_and_their_papers(run: Path, command: Command) -> None:
    status, out, err = command("methods", run)
    assert status == 0, err
    first, *rest = out.split("\n\n")
    for part in ("We measured mine", "English (96 items)", "license CC BY-SA 4.0", "'predictions'", "10,000 resamples"):
        assert part in first
    assert "\n" not in first
    assert [entry.partition("{")[0] for entry in rest].count("@software") == 1
    assert "nadeem2021stereoset" in out
    assert "ozturk2023stereotypical" in out


# ---- beside published models


def test_a_table_shows_the_published_models_of_the_same_language_and_task(run: Path) -> None:
    rows = csv.DictReader(ig.table([run, "published"], format="csv", metrics="ss", resamples=200).splitlines())
    found = list(rows)
    models = {row["model"] for row in found}
    assert "mine" in models
    assert "bert-base-cased_BertLM_BertNextSentence_en" in models
    assert {row["language"] for row in found} == {"en"}


@pytest.mark.slow
def test_the_plane_of_a_figure_and_of_a_report_has_the_published_models(
    run: Path, tmp_path: Path, command: Command
) -> None:
    page = tmp_path / "report.html"
    status, _, err = command("report", run, "--beside", "published", "--out", page, "--resamples", "100")
    assert status == 0, err
    assert "gpt2_GPT2LM_GPT2LM_d_en" in page.read_text(encoding="utf-8")
    assert ig.figure("plane", [run, "published"], out=tmp_path / "plane.png", resamples=100).path is not None
    assert "No set of models to add named 'all'" in command("table", run, "--beside", "all")[2]


def test_a_known_fault_is_the_doubt_of_a_published_number() -> None:
    own = [row for row in published_measures_of("fr") if row.group["model"].startswith("flaubert")]
    assert own
    assert all(row.interpretable is False and "known fault" in str(row.doubt) for row in own)


def test_published_measures_say_why_they_are_marked() -> None:
    weak = ig.load_published(model="mt5-base_mT5LM_mT5LM", languages="en", metrics="ss")
    assert [row.interpretable for row in weak] == [False]
    assert weak[0].doubt == "LMS 50.6, 49.3 to 52.0: its lower end is below 60"
    faulty = ig.load_published(model="flaubert", metrics="ss")
    marks = [line for line in doubts([*weak, *faulty]) if line.startswith("†")]
    assert [mark.split(": ")[1].split(" (")[0] for mark in marks] == [
        "below our competence limit",
        "published scores with a known fault",
    ]
    depending = ig.load_published(model="plguillou", metrics="ss")
    assert any("the mark depends on the limit" in line for line in doubts(depending))


def published_measures_of(language: str) -> list[Any]:
    from isogloss.analysis.measures import Measure

    group = {"model": "x", "dataset": "stereoset", "language": language}
    return published_measures([Measure("ss", group, 50, 40, 60, n=9, ties=0, clusters=9, mode="corrected")])


def test_there_are_49_published_files_and_their_numbers_are_whole() -> None:
    with TABLE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len({row["model"] for row in rows}) == 49
    assert {row["metric"] for row in rows} == {"lms", "ss", "icat"}
    assert all(0 <= float(row["value"]) <= 100 and int(row["n"]) > 0 for row in rows)
    assert all(float(row["low"]) < float(row["value"]) < float(row["high"]) for row in rows if row["low"])


@pytest.mark.parametrize("name", ["gpt2_GPT2LM_GPT2LM_d_en", "bert-base-multilingual-cased_BertLM_BertNextSentence_tr"])
def test_the_table_of_published_measures_is_recomputed_from_the_scores(name: str, real_data: Path) -> None:
    language = name[-2:]
    items = [ig.read(real_data / "stereoset" / f"{task}sentence_{language}.jsonl.gz") for task in ("intra", "inter")]
    scored = read_scores(real_data / "predictions" / f"{name}.json.gz", items[0] + items[1])[0]
    with TABLE.open(encoding="utf-8") as file:
        known = {
            (row["metric"], row["task"]): row
            for row in csv.DictReader(file)
            if row["model"] == name and not row["category"]
        }
    for row in ig.measure(scored, metrics=["lms", "ss"]):
        one = known[row.metric, row.group.get("task", "")]
        assert [float(one[key]) for key in ("value", "low", "high")] == pytest.approx(
            [row.value, row.low, row.high], abs=1e-3
        )
        assert int(one["n"]) == row.n


def test_an_unknown_model_set_is_refused_before_anything_is_read() -> None:
    from isogloss.analysis.published import check_beside

    assert check_beside(None) == []
    with pytest.raises(IsoglossError, match="Known: published"):
        check_beside("all")


def test_the_methods_paragraph_of_a_table_says_how_competence_was_measured(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    rows = [f"She met {n}.,He met {n}." for n in range(12)]
    table.write_text("\n".join(["stereotype,anti_stereotype", *rows]), encoding="utf-8")
    items = ig.read(table, language="en")
    root = tmp_path / "runs"
    texts = [describe_methods([write_run(root, items, wins=9)])]
    shuffled = [replace(item, id=f"{item.id}-s", variant="shuffled", derived_from=item.id) for item in items]
    fingerprint = {"data": "shuffled", "weights": "tiny", "method": "likelihood"}
    write_run(root, Items(tuple(shuffled)), wins=6, fingerprint=fingerprint)
    texts.append(describe_methods(find_runs(root)))
    assert "on the data set 'mine' in English (12 items)" in texts[0]
    assert "Whether the models can do the task was not measured." in texts[0]
    assert "with its words shuffled lies at or above 60" in texts[1]
    halves = [Items(tuple(item for item in items if (item.id < "mine-6") == low)) for low in (True, False)]
    for half in halves:  # as the tasks of one data set
        write_run(tmp_path / "halves", half, wins=3, fingerprint={"data": str(len(half)), "weights": "tiny"})
    assert "in English (12 items)" in describe_methods(find_runs(tmp_path / "halves"))
    for text in texts:
        assert "LMS" not in text
        assert "kaneko2022unmasking" in text
