"""One thing is done one way: the same runs, the same filter and the same names, wherever they are given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import isogloss as ig
from isogloss import languages, registry
from isogloss.web.settings import ServerSettings
from support import tiny
from support.builders import score_many, stereoset_rows, write_jsonl
from support.reports import neutral_items, write_run
from support.websites import client_of, save_models

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_models(tmp_path_factory.mktemp("models"), "gpt2")[0]


def write_study(folder: Path, model: str, **parts: object) -> Path:
    default = {"name": "tiny", "models": [model], "data": ["demo"], "languages": ["en"], "sample": {"limit": 1}}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(default | {"measures": {"resamples": 100}} | parts), encoding="utf-8")
    return path


# ---- a study's report stays in its folder


@pytest.mark.parametrize("report", ["/elsewhere/report.html", "../report.html", "a/../../report.html", "..", "."])
def test_the_report_of_a_study_cannot_leave_its_folder(command: Command, model, tmp_path, report):
    path = write_study(tmp_path, model, report=report)
    code, _, error = command("run", path, "--out", tmp_path / "runs")
    line = next(n for n, text in enumerate(path.read_text("utf-8").splitlines(), 1) if text.startswith("report"))
    assert (code, error) == (
        2,
        f"Error: {path}, line {line}: report: the report is written into the study's folder. "
        "Give a file name, such as report.html.\n",
    )
    assert not (tmp_path / "runs").exists()


# ---- one way to find runs


def test_a_report_leaves_out_what_was_deleted_on_the_page(command: Command, tmp_path):
    root = tmp_path / "runs"
    for name in ("kept", "deleted"):
        write_run(root / name, neutral_items("en"), model=f"model-{name}")
    client_of(ServerSettings(root)).post("/delete", data={"path": "deleted"})
    assert command("report", root, "-o", tmp_path / "report.html", "--resamples", 100)[0] == 0
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "model-kept" in text
    assert "model-deleted" not in text


def test_a_figure_of_data_is_not_misled_by_runs_in_the_trash(command: Command, tmp_path):
    write_run(tmp_path / "data" / ".trash" / "one" / "content", neutral_items("en"))
    write_jsonl(tmp_path / "data" / "mine_en.jsonl", stereoset_rows())
    code, _, error = command("figure", "bias_types", tmp_path / "data", "-o", tmp_path / "types.svg")
    assert (code, "No runs in" in error) == (0, False)


def test_a_broken_part_is_named_by_report_and_measure_and_refused_by_others(command: Command, tmp_path):
    write_run(tmp_path / "runs", neutral_items("en"), model="whole")
    broken = write_run(tmp_path / "runs", neutral_items("de"), model="broken")
    (broken.folder / "part-00000.parquet").write_bytes(b"x")
    sentence = "part-00000.parquet: the part is broken or was altered."
    assert command("report", tmp_path / "runs", "-o", tmp_path / "report.html", "--resamples", 100)[0] == 0
    assert sentence in (tmp_path / "report.html").read_text("utf-8")
    code, _, error = command("measure", tmp_path / "runs")
    assert (code, sentence in error) == (1, True)
    for words in (["gate", tmp_path / "runs", "--baseline", tmp_path / "runs"], ["table", tmp_path / "runs"]):
        code, shown, error = command(*words)
        assert (code, shown, sentence in error) == (2, "", True)


# ---- one filter


def test_where_in_a_study_is_the_filter_of_the_command_line(command: Command, model, tmp_path):
    data = [{"source": "demo", "where": {"category": "GENDER", "task": ["intrasentence", "intersentence"]}}]
    path = write_study(tmp_path, model, data=data, sample={}, report="page.html")
    runs = tmp_path / "runs"
    code, _, error = command("run", path, "--out", runs)
    assert code == 0
    where = f"The scores and measures are in {runs}, the report in {runs / 'page.html'}; "
    assert f"{where}list the runs with: isogloss show {runs}" in error
    items = ig.read("demo", language="en", where=["category=GENDER"])
    rows = json.loads((tmp_path / "runs" / "measures.json").read_text("utf-8"))["measures"]
    (overall,) = {row["n"] for row in rows if row["metric"] == "ss" and "task" not in row["group"]}
    assert overall == len(items) == 20


@pytest.mark.parametrize("where", ["colour=red", "category=gendr", "category!=gender,profession,race,religion"])
def test_where_in_a_study_says_what_the_command_line_says(command: Command, model, tmp_path, where):
    name, _, value = where.partition("=")
    path = write_study(tmp_path, model, data=[{"source": "demo", "where": {name: value.split(",")}}])
    code, _, error = command("run", path, "--out", tmp_path / "runs")
    other = command("eval", model, "--data", "demo", "-l", "en", "--where", where)
    assert (code, other[0]) == (2, 2)
    assert error == other[2].replace("Error: ", f"Error: {path}: ")


def test_a_value_with_a_comma_can_be_one_of_several_in_a_study(command: Command, model, tmp_path):
    rows = [{**row, "id": f"{row['id']}-{n}", "bias_type": kind} for n, kind in enumerate(("a, b", "c", "d")) for row in stereoset_rows()]  # fmt: skip
    for n, row in enumerate(rows):
        row["candidates"] = [{**one, "id": f"{one['id']}-{n}"} for one in row["candidates"]]
    write_jsonl(tmp_path / "mine_en.jsonl", rows)
    data = [{"source": "mine_en.jsonl", "where": {"bias_type": ["a, b", "c"]}}]
    code, shown, _ = command("run", write_study(tmp_path, model, data=data, sample={}), "--dry-run")
    assert code == 0
    assert "8 items" in " ".join(shown.split())


# ---- one name or several


def test_one_name_or_several_are_taken_everywhere():
    a, b = score_many(40, clusters=20), score_many(40, clusters=20)
    for call in (lambda **names: ig.measure(a, **names), lambda **names: ig.compare(a, b, **names)):
        one = call(metrics="ss", by="category", resamples=100)
        assert one.rows == call(metrics=["ss"], by=["category"], resamples=100).rows
    gender = ig.read("demo", language="en", where="category=gender")
    assert gender == ig.read("demo", language=["en"], where=["category=gender"])


# ---- nothing is looked up once per item


def test_the_method_of_many_items_is_looked_up_once_per_task(monkeypatch):
    calls: list[str] = []
    everything = registry.load_all
    monkeypatch.setattr(registry, "load_all", lambda kind: calls.append(kind) or everything(kind))
    ig.score(ig.read("demo", language="en"), model=tiny.model("gpt2"))
    assert calls.count("method") <= 2  # intra- and inter-sentence


def test_languages_are_looked_up_once_and_a_new_file_is_seen(monkeypatch, tmp_path):
    scans: list[Path] = []
    glob = Path.glob
    monkeypatch.setattr(Path, "glob", lambda path, pattern: scans.append(path) or glob(path, pattern))
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path))
    assert languages.describe("ig").name == "Igbo"
    before = len(scans)
    for _ in range(50):
        languages.describe("ig")
        languages.tags()
    assert len(scans) == before
    (tmp_path / "languages").mkdir()
    text = 'tag = "ig"\nname = "Ours"\nautonym = "Igbo"\ndirection = "ltr"\nscript = "Latn"\nspaces = true\n'
    (tmp_path / "languages" / "ig.toml").write_text(text, encoding="utf-8")
    assert languages.describe("ig").name == "Ours"
    assert "ig" in languages.tags()
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "elsewhere"))
    assert "ig" not in languages.tags()


# ---- types


PUBLIC = """\
import isogloss as ig

items = ig.read("demo", language="en", where="category=gender")
scored = ig.score(items, model="smollm2", out="runs/first")
measures = ig.measure(scored, metrics="ss", by="category")
print(measures, [row.value for row in measures])
comparisons = ig.compare(scored, scored, metrics="ss", by=["category"])
print(comparisons, [row.p for row in comparisons])
page = ig.report(scored, "report.html", resamples=500, seed=1)
print(page.name, ig.report(["runs/first"], page, facts={"smollm2": {"size": 1.0}}).parent)
again: ig.Scored = ig.join(ig.load("runs/first", languages="en", where={"category": "gender"}), ig.load(["a", "b"]))
gate: ig.GateResult = ig.gate("runs/first", ["ss < 60"], baseline=again, strict=True)
print(gate.status.upper(), gate.passed, [verdict.says.upper() for verdict in gate.verdicts])
controls: ig.Results[ig.Control] = ig.controls("runs/first", frequencies={"nurse": 3})
print(controls.to_polars().height, controls[0].name, controls.to_json().upper(), [row.kappa for row in controls])
structures: ig.Results[ig.Structure] = ig.structure(again, over="model")
print(structures[0].units, ig.probe("smollm2", "The [nurse|doctor].", loading=ig.Loading(device="cpu")).shares[0].term)
print(ig.table("runs/first", metrics="ss").upper(), ig.figure("forest", "runs/first", width=3.3).caption.upper())
several = ig.score(items, model=["smollm2", "other"], loading=ig.Loading(dtype="bfloat16"))
answers: ig.Scored = ig.ask(items, model="smollm2", settings=ig.AskSettings(samples=3), out="runs/asked")
there = ig.Loading(served_model="chatty", concurrency=2)
print(several, answers.notes, ig.ask(ig.read(["demo", "shades_demo"]), model=["http://127.0.0.1:9/v1"], loading=there).to_json())
study: ig.Study = ig.run("study.yaml", only="smollm2/demo", cluster=ig.Cluster(workers=2))
print(study.to_polars().height, [failure.why.upper() for failure in study.failures], study.problems, study.notes)
print(study.measures and study.measures[0].value, study.to_json().upper(), study.to_dict()["failures"])
print(ig.controls(scored, data=items)[0].value, ig.figure("forest", "runs/first").caption)
both: tuple[ig.Measures, ig.Comparisons] = (measures, comparisons)
print(both[0].to_dict()["measures"], items.to_polars().height, scored.to_polars().height, both[1].to_pandas())
"""
WRONG = """\
import isogloss as ig

ig.report("runs", "report.html", command="x")
ig.measure("runs")
ig.table("runs", metric="ss")
ig.gate("runs", 3)
ig.ask("items", model="smollm2")
ig.run(["study.yaml"])
ig.run("study.yaml").troubles
controls: ig.Results[ig.Measure] = ig.controls("runs")
"""


@pytest.mark.slow
def test_the_public_functions_are_typed_as_what_they_are(tmp_path):
    for name, text in (("right.py", PUBLIC), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    source = str(Path(ig.__file__).parents[1])
    settings = str(Path(__file__).parent.parent / "pyproject.toml")
    words = [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", str(tmp_path / "cache")]
    words += [str(tmp_path / "right.py"), str(tmp_path / "wrong.py")]
    done = subprocess.run(words, env={**os.environ, "MYPYPATH": source}, capture_output=True, text=True, check=False)
    found = [line.split(": ", 1) for line in done.stdout.splitlines() if ": error:" in line]
    assert [Path(place).name for place, _ in found] == [f"wrong.py:{line}" for line in range(3, 11)], done.stdout


def test_a_call_with_a_wrong_option_fails_as_its_type_says():
    with pytest.raises(TypeError, match="command"):
        ig.report("runs", "report.html", command="x")  # type: ignore[call-arg]
    assert {"report", "read", "score", "measure", "compare"} <= set(dir(ig))
    assert not {"annotations", "import_module", "TYPE_CHECKING", "Any"} & set(dir(ig))


# ---- what a terminal shows


def test_the_help_of_probe_shows_the_brackets_of_a_template(command: Command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    _, shown, _ = command("probe", "--help")
    assert '"The {gender} is a [nurse|doctor]."' in shown


def test_no_help_text_is_eaten_as_markup():
    from rich.text import Text
    from typer.main import get_command

    from isogloss.cli import app

    def walk(command: Any) -> Iterator[str]:
        yield from (text for text in (command.help, *(getattr(one, "help", None) for one in command.params)) if text)
        for inner in getattr(command, "commands", {}).values():
            yield from walk(inner)

    for text in walk(get_command(app)):
        assert Text.from_markup(text).plain == text.replace("\\[", "["), text


def test_probe_says_that_rare_and_long_words_have_smaller_shares(command: Command, model):
    _, remark, _ = command("probe", model, "The [nurse|doctor] is kind.")
    assert "longer and rarer words have smaller shares, whatever they are about" in remark
