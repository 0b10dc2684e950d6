"""`isogloss ask` from the command line: what it prints, where it warns, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from isogloss.cli import app
from isogloss.errors import IsoglossError
from support import endpoints

DEMO = ["--data", "demo", "-l", "en", "--limit", "2"]
SECRET = "sk-very-secret"


def run(*words: str, url: str = "http://127.0.0.1:9/v1") -> Result:
    return CliRunner().invoke(app, ["ask", url, *DEMO, *words], catch_exceptions=True)


def ask(server: endpoints.Server, out: Path, *words: str) -> Result:
    return run("--served-model", "chatty", "--out", str(out), *words, url=server.url)


def test_a_dry_run_counts_warns_and_asks_nobody(tmp_path):
    with endpoints.serving(endpoints.good) as server:
        result = ask(server, tmp_path, "--dry-run")
    assert result.exit_code == 0
    assert not server.bodies
    assert not list(tmp_path.iterdir())
    assert result.stderr.startswith("Content warning: ")
    assert result.stdout.splitlines()[0] == "chatty demo en: 4 items, 24 requests"
    last = result.stdout.splitlines()[-1]
    assert re.fullmatch(
        r"24 requests in all, to 1 model, about \d+ prompt and at most 240 answer tokens; nothing was asked.", last
    )
    assert sum(result.stdout.count(f" {prompt}: ") for prompt in ("stereotype", "agree", "disagree")) == 3


def test_the_table_has_the_shares_and_standard_error_the_bill(tmp_path):
    with endpoints.serving(endpoints.good) as server:
        result = ask(server, tmp_path, "--prices", "2,10", "--by", "task")
    assert result.exit_code == 0, result.exception
    assert "recognition" in result.stdout
    assert "answered no" in result.stdout
    cost = (24 * 20 * 2 + 24 * 2 * 10) / 1e6
    assert f"24 answers, 480 prompt and 48 answer tokens, cost {cost:.4f}; 24 were asked" in result.stderr


def test_a_second_time_nobody_is_asked_and_the_numbers_are_the_same(tmp_path):
    with endpoints.serving(endpoints.good) as server:
        first, second = (ask(server, tmp_path, "--format", "json") for _ in range(2))
        assert len(server.bodies) == 24
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert "0 were asked" in second.stderr
    found = {row["metric"]: row["value"] for row in json.loads(first.stdout)["measures"] if "task" not in row["group"]}
    assert (found["recognition"], found["agreement"], found["consistency"]) == (0, 50, 0)


def test_measure_and_show_read_the_answers(tmp_path):
    with endpoints.serving(endpoints.good) as server:
        ask(server, tmp_path)
    words = ["measure", str(tmp_path), "--by", "prompt", "--metrics", "answered_no", "--format", "csv"]
    table = CliRunner().invoke(app, words).stdout.splitlines()
    assert len(table) == 1 + 3
    folder = next(tmp_path.rglob("items.parquet")).parent
    item = pl.read_parquet(folder / "items.parquet")["id"][0]
    shown = CliRunner().invoke(app, ["show", str(tmp_path), item]).stdout
    assert shown.startswith("Content warning: ")
    methods = CliRunner().invoke(app, ["methods", str(tmp_path)]).stdout
    assert "Answers were collected by 'ask' with max_tokens=10, order=both, role=stereotype" in methods
    assert "Candidates" not in methods
    assert "agree    yes-no 'No.' is no by the rule 'word'" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Which model does http://127.0.0.1:9/v1 serve? Use `served_model='NAME'`."),
        (["--served-model", "x", "--mode", "x"], "No mode named 'x'. Known: corrected, paper."),
        (
            ["--served-model", "x", "--option", "role=hero"],
            "The method 'ask[role=hero]' fits none of the 4 items, such as 'demo-intra",
        ),
    ],
)
def test_mistakes_are_told_before_anything_is_done(tmp_path, words, message):
    result = run("--out", str(tmp_path / "out"), *words)
    assert isinstance(result.exception, IsoglossError)
    assert str(result.exception).startswith(message)
    assert not (tmp_path / "out").exists()


def test_a_server_frames_its_prompts_itself(tmp_path):
    result = run("--served-model", "x", "--option", "template=plain", "--out", str(tmp_path / "out"))
    assert str(result.exception) == "'template' is for models on this machine; a server has its own."


def test_a_language_without_prompts_is_named(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("id,category,stereotype,anti_stereotype\n1,gender,ผู้หญิงใจดี,ผู้ชายใจดี\n", encoding="utf-8")
    result = CliRunner().invoke(
        app,
        [
            "ask",
            "http://127.0.0.1:9/v1",
            "--served-model",
            "x",
            "--data",
            str(path),
            "-l",
            "th",
            "--out",
            str(tmp_path / "out"),
        ],
    )
    assert str(result.exception).startswith("Thai has no prompts. Add [ask.prompts] and [ask.answers] to ")
    assert not (tmp_path / "out").exists()


def test_the_key_is_in_no_output_and_in_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", SECRET)
    with endpoints.serving(endpoints.after(3, endpoints.status(401))) as server:
        result = ask(server, tmp_path, "--key-env", "MY_KEY", "--concurrency", "1")
    assert set(server.keys) == {f"Bearer {SECRET}"}
    assert "answered 401" in str(result.exception)
    assert SECRET not in result.output + str(result.exception) + repr(result.exc_info)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.mark.slow
@pytest.mark.parametrize("content", ["Soup of the day", "", None])
def test_asking_measuring_and_reporting_work_when_no_answer_is_clear(tmp_path, command, content):
    def reply(handler: endpoints.Handler, body: dict[str, object]) -> None:
        handler.send(json.dumps({"choices": [{"message": {"content": content}}]}).encode())

    with endpoints.serving(reply) as server:
        status, out, error = command(
            *("ask", server.url, "--served-model", "chatty", *DEMO, "--out", tmp_path / "runs", "--format", "json")
        )
    assert status == 0, error
    rows = {row["metric"]: row for row in json.loads(out)["measures"]}
    assert (rows["consistency"]["value"], rows["consistency"]["n"]) == (None, 0)
    assert rows["consistency"]["why"] == "no item of the group has what this metric needs"
    assert (rows["answered_none"]["value"], rows["agreement"]["value"]) == (100, 0)
    assert command("measure", tmp_path / "runs")[0] == 0
    assert command("compare", tmp_path / "runs", "--a", "task=intrasentence", "--b", "task=intersentence")[0] in (0, 2)
    page = tmp_path / "report.html"
    assert command("report", tmp_path / "runs", "--out", page)[0] == 0
    assert page.stat().st_size > 1000
