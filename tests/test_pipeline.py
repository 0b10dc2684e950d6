"""One pipeline: scoring and asking are kinds of cells, in study files, in commands and in the library."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import transformers
import yaml

import isogloss as ig
from isogloss import runs
from isogloss.errors import IsoglossError
from isogloss.methods import fill_options
from isogloss.methods.ask import AskSettings, read_settings
from isogloss.methods.ask import method as asking_method
from support import endpoints, tiny
from support.scores import assert_same_scores
from test_generation import CHAT, talker

transformers.utils.logging.disable_progress_bar()


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """A folder with a tiny chat model and a tiny masked one."""
    folder = tmp_path_factory.mktemp("models")
    chat = talker("gpt2")
    chat.net.save_pretrained(folder / "chat")
    chat.tokenizer.save_pretrained(folder / "chat")
    file = folder / "chat" / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "chat_template": CHAT}), encoding="utf-8")
    tiny.network("bert").save_pretrained(folder / "bert")
    tiny.tokenizer_of("bert").save_pretrained(folder / "bert")
    return folder


def write(folder: Path, models: list[object], **more: object) -> Path:
    path = folder / "study.yaml"
    study = {"name": "mixed", "models": models, "data": ["demo"], "languages": ["en"], "sample": {"limit": 2}, **more}
    path.write_text(yaml.safe_dump(study), encoding="utf-8")
    return path


def test_a_study_file_scores_and_asks_chat_models_here_and_behind_an_endpoint(tmp_path, models, command):
    with endpoints.serving(endpoints.good) as server:
        there = {"label": "far", "checkpoint": server.url, "served_model": "chatty", "facts": {"size": "large"}}
        here = {"label": "near", "checkpoint": str(models / "chat"), "facts": {"size": "small"}}
        path = write(tmp_path, [there, here], methods=["ask", {"ask": {"order": "yes-no", "max_tokens": 3}}])
        status, shown, error = command("run", path, "--out", tmp_path / "runs", "--format", "json")
        asked = len(server.bodies)
        assert command("run", path, "--out", tmp_path / "runs")[0] == 0
        assert len(server.bodies) == asked > 0
    assert status == 0, error
    made = {(run.info["model"], run.info["method"]) for run in runs.find_runs(tmp_path / "runs")}
    asking = "ask[order=yes-no,max_tokens=3]"
    assert made == {(model, method) for model in ("far", "near") for method in ("ask", asking)}
    rows = json.loads(shown)["measures"]
    assert {(row["group"]["model"], row["metric"]) for row in rows} >= {
        ("far", "agreement"),
        ("near", "agreement"),
    }
    status, table, _ = command(
        "measure", tmp_path / "runs", "--by", "size", "--metrics", "agreement", "--format", "json"
    )
    assert {row["group"]["size"] for row in json.loads(table)["measures"]} == {"large", "small"}


def test_an_endpoint_that_refuses_is_a_failed_cell_and_the_others_are_done(tmp_path, models, command):
    with endpoints.serving(endpoints.status(401)) as server:
        path = write(tmp_path, [{"checkpoint": server.url, "served_model": "chatty"}, str(models / "bert")])
        status, shown, error = command("run", path, "--out", tmp_path / "runs")
    assert status == 1
    assert "bert" in shown
    assert "1 cell could not be scored:\nchatty demo en auto: " in error
    assert "answered 401" in error


def test_a_dry_run_counts_requests_and_asks_nobody(tmp_path, models, command):
    with endpoints.serving(endpoints.good) as server:
        path = write(
            tmp_path, [{"checkpoint": server.url, "served_model": "chatty"}, str(models / "chat")], methods=["ask"]
        )
        status, shown, error = command(
            "run", path, "--out", tmp_path / "runs", "--dry-run", "--no-trial", "--format", "json"
        )
        assert not server.bodies
    assert status == 0, error
    (row,) = [row for row in json.loads(shown)["cells"] if row["model"] == "chatty"]
    assert (row["model"], row["items"], row["questions"], row["done"]) == ("chatty", 4, 24, 0)


def test_a_dry_run_of_a_paid_endpoint_shows_its_cost_and_needs_no_key(command, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with endpoints.serving(endpoints.good) as server:
        words = [
            "--served-model",
            "chatty",
            "--key-env",
            "NO_SUCH_KEY",
            "--prices",
            "1,2",
            "--data",
            "demo",
            "-l",
            "en",
        ]
        status, shown, error = command("ask", server.url, *words, "--limit", 4, "--dry-run")
        assert not server.bodies
        assert command("ask", server.url, *words, "--limit", 4)[2].endswith(
            "The environment has no usable NO_SUCH_KEY. Set it to your key.\n"
        )
    assert status == 0, error
    told = re.search(r"about (\d+) prompt and at most (\d+) answer tokens, cost at most about ([\d.]+); nothing", shown)
    assert told is not None
    assert float(told[3]) == pytest.approx((int(told[1]) + 2 * int(told[2])) / 1e6, abs=1e-4)


@pytest.mark.slow
def test_ctrl_c_says_that_the_same_command_resumes_and_it_does(tmp_path, command):
    with endpoints.serving(endpoints.after(5, endpoints.stall)) as server:
        words = ["ask", server.url, "--served-model", "chatty", "--data", "demo", "-l", "en", "--limit", 2]
        words += ["--out", tmp_path / "runs", "--concurrency", 1]
        stalled = threading.Event()
        server.on_stall = stalled.set
        process = subprocess.Popen(
            [sys.executable, "-m", "isogloss", *map(str, words)],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert stalled.wait(300)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
        server.reply, before = endpoints.good, len(server.bodies)
        server.ended.set()
        assert command(*words)[0] == 0
        asked = len(server.bodies)
    assert process.returncode == 130
    assert error.splitlines()[-1] == "Stopped. What is finished is kept; the same command resumes."
    assert asked == before + 24 - 5  # of 24 requests five were answered; the one that stalled is sent again


def test_a_fresh_ask_says_nothing_of_answers_from_before_and_a_resumed_one_does(tmp_path, command):
    with endpoints.serving(endpoints.good) as server:
        words = ["ask", server.url, "--served-model", "chatty", "--data", "demo", "-l", "en", "--limit", 6]
        words += ["--out", tmp_path / "runs"]
        status, _, first = command(*words)
        _, _, again = command(*words)
    assert status == 0
    assert "from before" not in first
    assert "Kept 12 of 12 items from before." in again


@pytest.mark.parametrize(
    ("model", "more", "sentence"),
    [
        ({"checkpoint": "x", "key_env": "KEY"}, {}, "models 1: 'key_env' goes with 'served_model'."),
        ("x", {"methods": [{"ask": {"sample": 3}}]}, "No option of 'ask' named 'sample'. Did you mean 'samples'?"),
        ("x", {"methods": [{"ask": {"samples": "many"}}]}, "'samples' of 'ask' must be a whole number"),
    ],
)
def test_a_mistake_about_asking_is_found_before_anything_is_opened(tmp_path, command, model, more, sentence):
    status, shown, error = command("run", write(tmp_path, [model], **more), "--out", tmp_path / "runs")
    assert (status, shown) == (2, "")
    assert sentence in error


def test_a_model_behind_a_chat_endpoint_cannot_be_scored(tmp_path, command):
    with endpoints.serving(endpoints.good) as server:
        there = {"checkpoint": server.url, "served_model": "chatty"}
        status, _, error = command("run", write(tmp_path, [there], methods=["likelihood"]), "--out", tmp_path / "runs")
    assert status == 1
    assert f"{server.url} cannot score given text." in error


# ---- commands


def test_eval_names_a_failed_cell_and_goes_on_with_the_other_models(tmp_path, models, command):
    words = ["--data", "demo", "-l", "en", "--limit", 2, "--out", tmp_path / "runs"]
    status, shown, error = command("eval", models / "nowhere", models / "bert", *words)
    assert status == 1
    assert "bert" in shown
    why = f"No such model folder: {models / 'nowhere'}."
    assert f"1 cell could not be scored:\n{models / 'nowhere'} demo en auto: {why}\n" in error
    status, shown, _ = command("eval", models / "nowhere", models / "bert", *words, "--format", "json")
    assert [one["why"] for one in json.loads(shown)["failures"]] == [why]
    assert command("eval", models / "nowhere", *words) == (2, "", f"Error: {why}\n")


@pytest.mark.parametrize("kind", ["eval", "ask"])
def test_eval_and_ask_write_their_measures_as_run_does(tmp_path, models, command, kind):
    model = models / ("chat" if kind == "ask" else "bert")
    words = [kind, model, "--data", "demo", "-l", "en", "--limit", 2, "--out", tmp_path / "runs", "--format", "json"]
    status, shown, error = command(*words)
    assert status == 0, error
    found = json.loads((tmp_path / "runs" / "measures.json").read_text(encoding="utf-8"))
    assert found["measures"] == json.loads(shown)["measures"]
    assert len((tmp_path / "runs" / "measures.csv").read_text(encoding="utf-8").splitlines()) > 1


def test_eval_can_ask(tmp_path, models, command):
    words = ["--data", "demo", "-l", "en", "--limit", 2, "--out", tmp_path / "runs", "--format", "json"]
    status, shown, error = command("eval", models / "chat", *words, "--method", "ask", "--option", "max_tokens=2")
    assert status == 0, error
    assert "agreement" in {row["metric"] for row in json.loads(shown)["measures"]}


# ---- the library


def test_ask_gives_the_same_in_memory_and_on_disk(tmp_path, models):
    items = ig.Items(ig.read("demo", language="en").rows[:3])
    settings = AskSettings(max_tokens=2)
    memory = ig.ask(items, model=str(models / "chat"), settings=settings)
    kept = ig.ask(items, model=str(models / "chat"), settings=settings, out=tmp_path)
    assert_same_scores(kept.table, memory.table)
    assert set(kept.table["prompt"]) == {"stereotype", "agree", "disagree"}
    assert [run.info["status"] for run in runs.find_runs(tmp_path)] == ["finished"]


def test_ask_reaches_an_endpoint():
    items = ig.Items(ig.read("demo", language="en").rows[:2])
    with endpoints.serving(endpoints.good) as server:
        scored = ig.ask(items, model=server.url, loading=ig.Loading(served_model="chatty"))
        assert len(server.bodies) == 12
    assert set(scored.table["model"]) == {"chatty"}
    assert ig.measure(scored, metrics=["agreement"])[0].value == 50


def test_a_model_that_cannot_answer_is_refused_before_it_is_opened(models):
    with pytest.raises(IsoglossError, match=r"is for causal and seq2seq and server models; .* is masked"):
        ig.ask(ig.read("demo", language="en"), model=str(models / "bert"))


def test_run_gives_scores_measures_and_failures(tmp_path, models):
    result = ig.run(write(tmp_path, [str(models / "bert"), str(models / "nowhere")]), out=tmp_path / "runs")
    assert result.measures is not None
    assert {run.info["model"] for run in result.runs} == {"bert"}
    assert [(one.model, one.language) for one in result.failures] == [(str(models / "nowhere"), "en")]
    assert (tmp_path / "runs" / "measures.csv").exists()


def test_settings_of_asking_survive_being_written_as_words():
    settings = AskSettings(samples=3, temperature=0.7, order="no-yes", max_tokens=20)
    assert read_settings(fill_options("ask", asking_method, chosen=settings.options)) == settings
    assert AskSettings().options == {}


def test_a_study_tests_its_claims_and_ranks_its_models(tmp_path, models, command):
    (tmp_path / "claims.yaml").write_text(
        "min_n: 10\nclaims: ['lms(multilingual) > 99', 'ss(near) > 60']", encoding="utf-8"
    )
    pair = [
        {"label": name, "checkpoint": str(models / folder), "facts": {"multilingual": fact}}
        for name, folder, fact in (("near", "bert", "no"), ("far", "chat", "yes"))
    ]
    tested = {"claims": "claims.yaml", "report": "report.html", "sample": {"limit": 12}, "methods": ["auto"]}
    path = write(tmp_path, pair, measures={"metrics": ["lms", "ss"], "resamples": 100}, **tested)
    status, shown, error = command("run", path, "--out", tmp_path / "runs")
    assert status == 0, error
    assert "contradicted           lms(multilingual) > 99" in shown
    verdicts = json.loads((tmp_path / "runs" / "claims.json").read_text())["verdicts"]
    assert [one["status"] for one in verdicts] == ["contradicted", "not interpretable"]
    assert json.loads((tmp_path / "runs" / "measures.json").read_text())["ranking"][0].startswith("LMS: in English")
    report = (tmp_path / "runs" / "report.html").read_text(encoding="utf-8")
    assert 'id="claims"' in report


def test_a_study_without_its_file_of_claims_is_refused_before_anything_is_opened(tmp_path, models, command):
    path = write(tmp_path, [str(models / "bert")], claims="no.yaml")
    status, _, error = command("run", path, "--out", tmp_path / "runs")
    assert (status, (tmp_path / "runs").exists()) == (2, False)
    assert "no.yaml" in error
