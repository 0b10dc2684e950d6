"""What new users tripped over, kept repaired."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import isogloss as ig
from isogloss.atomic_files import write_file
from isogloss.cli import app
from isogloss.errors import IsoglossError
from isogloss.files.sources import read
from isogloss.items import Items
from isogloss.runs import Run, in_languages
from support import tiny
from support.builders import score_many, stereoset_rows, write_jsonl
from support.reports import write_runs


def message(call, *given, **named):
    with pytest.raises(IsoglossError) as caught:
        call(*given, **named)
    return str(caught.value)


def run_in(folder, language):
    info = {"model": "m", "dataset": "d", "language": language, "method": "pll", "parts": 1, "fingerprint": {"x": 1}}
    return Run(folder, {"schema": 1, **info})


def test_runs_are_chosen_by_language(tmp_path):
    runs = [run_in(tmp_path, "en"), run_in(tmp_path, "de")]
    assert in_languages(runs, ["German"]) == runs[1:]
    assert in_languages(runs, []) == runs
    assert message(in_languages, runs, ["fr"]) == "None of the runs is in fr; they are in de, en."


def test_a_file_of_bad_rows_says_what_is_wrong_with_the_first(tmp_path):
    rows = [{key: value for key, value in row.items() if key != "language"} for row in stereoset_rows()]
    path = write_jsonl(tmp_path / "mine.jsonl", rows)
    assert message(read, path, skip_bad=True) == (
        f"None of the 4 rows of '{path}' can be read. The first: {path}, line 1: the row names no language; "
        "add a 'language' column or use `language`."
    )


def test_predictions_named_after_another_language_are_refused(tmp_path):
    path = tmp_path / "mine_de.json"
    path.write_text('{"intrasentence": []}', encoding="utf-8")
    found = CliRunner().invoke(app, ["measure", str(path), "--data", "demo", "--language", "en"])
    assert str(found.exception) == (
        "mine_de.json is named after 'de', but the data is in 'en'. Rename the file if it is right."
    )


def test_an_unknown_metric_is_refused_before_a_model_is_looked_for():
    found = CliRunner().invoke(app, ["eval", "no/model", "--data", "demo", "--language", "en", "--metrics", "foo"])
    assert str(found.exception).startswith("No metric named 'foo'.")


def test_one_name_is_as_good_as_a_list():
    scored = score_many(12, clusters=12)
    assert ig.measure(scored, by="category", metrics="ss") == ig.measure(scored, by=["category"], metrics=["ss"])


def test_names_where_data_is_wanted_get_a_sentence():
    assert message(ig.measure, "runs/mine") == (
        "measure takes scored items: what isogloss.score gives, or isogloss.load('runs/mine')."
    )
    assert message(ig.score, "demo", model="smollm2") == (
        "score takes items. Read them first: items = isogloss.read('demo', language='en')"
    )
    assert message(ig.score, Items(()), model="no-such-folder/x/y") == "No such model folder: no-such-folder/x/y."


def test_macro_icat_never_has_a_wilson_interval():
    found = ig.measure(score_many(24, clusters=24), metrics=["icat_macro"])
    assert not any("its own cluster" in note for note in found.notes)


@pytest.mark.parametrize("words", [("show",), ("eval", "--data", "demo"), ("measure",)])
def test_a_name_longer_than_the_file_system_takes_is_one_sentence(words, command):
    name = "x" * 300
    status, _, error = command(words[0], name, *words[1:])
    assert status == 2
    assert error == f"Error: Cannot read or write {name[:200]} (File name too long).\n"


def test_a_file_that_cannot_be_written_is_one_sentence_also_where_nothing_can_be_removed(tmp_path):
    with pytest.raises(IsoglossError, match=r"^Cannot write .* \(File name too long\)\. Is the folder writable"):
        write_file(tmp_path / ("x" * 300), b"content")


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "MODEL", "--data", "demo", "-l", "en", "--limit", "1", "--out", "FOLDER"),
        ("report", "RUNS", "--out", "FOLDER/report.html"),
        ("claims", "new", "FOLDER/claims.yaml"),
        ("run", "STUDY", "--out", "FOLDER", "--download-only"),
        ("model", "pull", "smollm2"),
    ],
    ids=lambda words: words[0],
)
def test_a_folder_that_cannot_be_made_is_one_sentence_in_every_command(words, command, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "folder"  # nobody can make it, not even the administrator
    tiny.network("gpt2").save_pretrained(tmp_path / "gpt2")
    tiny.tokenizer_of("gpt2").save_pretrained(tmp_path / "gpt2")
    write_runs(tmp_path / "runs")
    study = {"name": "s", "models": [str(tmp_path / "gpt2")], "data": ["demo"], "languages": ["en"]}
    (tmp_path / "study.yaml").write_text(json.dumps(study), encoding="utf-8")
    named = {"MODEL": "gpt2", "RUNS": "runs", "STUDY": "study.yaml", "FOLDER": "file/folder"}
    if words[0] == "model":
        monkeypatch.setenv("ISOGLOSS_HOME", str(folder))
    for name, path in named.items():
        words = tuple(word.replace(name, str(tmp_path / path)) for word in words)
    status, _, error = command(*words)
    assert status == 2
    assert error.splitlines()[-1].startswith("Error: Cannot ")
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("eval", "m"), "Stopped. What is finished is kept; the same command resumes.\n"),
        (("list",), "Stopped.\n"),
    ],
)
def test_an_interrupt_says_whether_the_same_command_resumes(words, message, command, monkeypatch):
    def interrupt(*_: object, **__: object) -> int:
        return 130  # what Typer makes of an interrupt

    monkeypatch.setattr("isogloss.cli.app", interrupt)
    assert command(*words) == (130, "", message)
