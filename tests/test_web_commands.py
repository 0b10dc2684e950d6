"""The local page trusts nothing that it finds in the runs folder: no study, no link, no broken file."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import AsyncMock

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from isogloss.web import runs as runs_page
from isogloss.web.evaluate import progress_events
from isogloss.web.job_process import run_job
from isogloss.web.jobs import read_job
from isogloss.web.settings import ServerSettings
from support.builders import stereoset_rows
from support.reports import neutral_items, write_run
from support.websites import HERE, client_of, save_models

STRICT = ("content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy")
FOREIGN = "This evaluation was not started here"


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    return save_models(tmp_path_factory.mktemp("models"), "gpt2", "bert")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


@pytest.fixture
def client(root: Path, models: tuple[str, ...]) -> TestClient:
    return client_of(ServerSettings(root, models=models), raise_server_exceptions=False)


def start(client: TestClient, model: str, *, name: str) -> Response:
    fields = {"model": model, "data": "demo", "language": ["en"], "limit": "2", "name": name}
    return client.post("/evaluate", data=fields)


def plant(root: Path, name: str, model: str, *, wanted: str = "run") -> Path:
    """An evaluation as an archive from elsewhere could bring it."""
    folder = root / name / ".job"
    folder.mkdir(parents=True)
    facts = {"model": model, "wanted": wanted, "turn": time.time(), "seal": "0" * 64}
    (folder / "job.json").write_text(json.dumps(facts), encoding="utf-8")
    study = {"name": name, "models": [model], "data": ["demo"], "languages": ["en"], "sample": {"limit": 2}}
    (folder / "study.yaml").write_text(json.dumps(study), encoding="utf-8")
    return folder


# ---- studies that were found


def wait_until_failed(folder: Path) -> None:
    """Return when the queue has looked at all jobs and refused this one; a test that waits too long fails."""
    deadline = time.monotonic() + 240
    while read_job(folder).state != "failed":
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_study_found_in_the_runs_folder_is_not_started_with_the_server(client, root, models):
    folder = plant(root, "found", models[1])
    start(client, models[0], name="mine")
    with client_of(ServerSettings(root, models=models[1:])) as other:
        wait_until_failed(root / "mine")
        page = other.get("/evaluate/found")
    assert '<span class="state stopped">' in page.text
    assert {path.name for path in folder.iterdir()} == {"job.json", "study.yaml"}


def test_a_study_found_in_the_runs_folder_cannot_be_resumed(client, root, models):
    plant(root, "found", models[0], wanted="stop")
    answer = client.post("/evaluate/found/resume")
    assert answer.status_code == 400
    assert FOREIGN in answer.text
    assert json.loads((root / "found/.job/job.json").read_text("utf-8"))["wanted"] == "stop"


def test_a_study_file_that_was_changed_after_the_start_is_not_run(client, root, models):
    start(client, models[0], name="mine")
    path = root / "mine" / ".job" / "study.yaml"
    path.write_text(path.read_text("utf-8").replace("limit: 2", "limit: 3"), encoding="utf-8")
    assert '<span class="state stopped">' in client.get("/evaluate/mine").text
    assert FOREIGN in client.post("/evaluate/mine/resume").text


def test_a_job_of_mine_is_resumed_by_a_new_server_and_only_with_a_model_that_it_allows(client, root, models):
    start(client, models[0], name="mine")
    client.post("/evaluate/mine/stop")
    other = client_of(ServerSettings(root, models=models[1:]))
    refused = other.post("/evaluate/mine/resume")
    assert refused.status_code == 400
    assert "may not be opened here" in refused.text
    same = client_of(ServerSettings(root, models=models))
    assert '<span class="state queued">' in same.post("/evaluate/mine/resume").text


def test_a_queued_job_of_mine_is_not_started_by_a_server_that_does_not_allow_its_model(client, root, models):
    start(client, models[0], name="mine")
    with client_of(ServerSettings(root, models=models[1:])):
        wait_until_failed(root / "mine")
    assert not (root / "mine" / ".job" / "log.txt").exists()


# ---- links and broken files


def test_a_link_to_a_study_file_elsewhere_is_not_shown(client, root, models, tmp_path):
    (tmp_path / "secret").write_text("SECRET", encoding="utf-8")
    folder = plant(root, "found", models[0])
    (folder / "study.yaml").unlink()
    (folder / "study.yaml").symlink_to(tmp_path / "secret")
    for path in ("/evaluate/found", "/evaluate/found/study.yaml", "/evaluate/found/events", "/evaluate", "/"):
        answer = client.get(path)
        assert answer.status_code in (200, 404)
        assert "SECRET" not in answer.text


@pytest.mark.parametrize("name", ["run.json", "items.parquet", "part-00000.parquet", "measures.json", "../notes.txt"])
def test_a_study_with_a_link_in_it_is_named_and_not_opened(client, root, tmp_path, name):
    run = write_run(root / "linked", neutral_items("en")).folder
    path = root / "linked" / name if name == "measures.json" else run / name
    if path.exists():
        path.rename(tmp_path / path.name)
    path.symlink_to(tmp_path / path.name)
    home = client.get("/").text
    assert path.name in home
    assert "is a link; links are not followed here" in home
    assert client.get("/runs/linked").status_code == 404
    assert client.post("/report/linked").status_code == 404
    at = str(run.relative_to(root))
    assert client.get("/compare", params={"a": at, "b": at}).status_code == 404


@pytest.mark.parametrize("name", [".trash", ".uploads"])
def test_hidden_folders_that_are_links_are_not_used(client, root, tmp_path, name):
    write_run(root / "plain", neutral_items("en"))
    (tmp_path / "outside").mkdir()
    (root / name).symlink_to(tmp_path / "outside")
    client.post("/delete", data={"path": "plain"})
    client.post("/check", files={"file": ("mine.csv", "a,b\n1,2\n")}, data={"language": "en"})
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("broken", ["missing", "bytes", "turn", "cells", "list"])
def test_a_broken_job_folder_is_no_error_of_the_server(client, root, models, broken):
    folder = plant(root, "found", models[0])
    if broken == "missing":
        (folder / "study.yaml").unlink()
    elif broken == "bytes":
        (folder / "study.yaml").write_bytes(b"\xff\xfe\x00")
    elif broken == "cells":
        (folder / "progress.json").write_text('{"cells": [1, 2], "message": 5}', encoding="utf-8")
    else:
        facts = {"turn": {"turn": "soon", "wanted": "run"}, "list": [1]}[broken]
        (folder / "job.json").write_text(json.dumps(facts), encoding="utf-8")
    for path in ("/", "/evaluate", "/evaluate/found", "/evaluate/found/events", "/evaluate/found/study.yaml"):
        assert client.get(path).status_code in (200, 404)


# ---- every answer


def test_an_error_of_the_server_is_a_page_with_strict_headers(client, monkeypatch):
    def fail(*_: object) -> None:
        raise RuntimeError("SECRET")

    monkeypatch.setattr(runs_page.runs_folder, "list_studies", fail)
    answer = client.get("/")
    assert answer.status_code == 500
    assert "<h1>Not done</h1>" in answer.text
    assert "SECRET" not in answer.text
    assert all(name in answer.headers for name in STRICT)


@pytest.mark.parametrize("headers", [{"Content-Length": "9" * 5000}, {"Origin": "http://[::1"}])
def test_odd_headers_are_refused_with_strict_headers(client, headers):
    answer = client.post("/delete", headers=headers)
    assert answer.status_code in (403, 413)
    assert all(name in answer.headers for name in STRICT)


@pytest.mark.parametrize(
    "host",
    ["evil.example@127.0.0.1", "evil.example@127.0.0.1:8765", "127.0.0.1/evil", "127.0.0.1?x", "127.0.0.1:80:90"],
)
def test_a_host_that_is_more_than_a_name_and_a_port_is_refused(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 421


def test_the_scheme_of_the_origin_is_compared(client, root, models):
    client.headers.pop("Sec-Fetch-Site")
    for origin in (HERE.replace("http:", "https:"), HERE.replace("http:", "ftp:")):
        assert client.post("/probe", data={}, headers={"Origin": origin}).status_code == 403
    proxied = client_of(ServerSettings(root, models=models, names=("bias.example",)))
    proxied.headers.pop("Sec-Fetch-Site")
    headers = {"Origin": "https://bias.example", "Host": "bias.example"}  # a proxy that speaks HTTPS
    assert proxied.post("/probe", data={}, headers=headers).status_code == 400


# ---- checking data


def upload(client: TestClient, rows: list[dict[str, object]], *, name: str) -> Response:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return client.post("/check", files={"file": (name, text)}, data={"language": ""})


def test_the_review_sheet_of_a_text_with_control_characters_can_be_downloaded(client):
    rows = json.loads(json.dumps(stereoset_rows()).replace("BLANK", "\\u0007 BLANK"))
    page = upload(client, rows, name="mine_en.jsonl")
    assert page.status_code == 200
    for kind in ("xlsx", "csv"):
        assert client.get(f"{page.url.path}/review.{kind}").status_code == 200


def test_a_file_without_a_language_is_told_what_to_choose_on_the_page(client):
    rows = [{name: value for name, value in row.items() if name != "language"} for row in stereoset_rows()]
    answer = upload(client, rows, name="mine.jsonl")
    assert answer.status_code == 400
    assert "--language" not in answer.text
    assert "send it again with its language chosen below" in answer.text


def test_the_page_says_why_a_model_cannot_be_opened(tmp_path):
    folder = tmp_path / "first"
    (folder / ".job").mkdir(parents=True)
    study = {"name": "first", "models": ["/no/such/model"], "data": ["demo"], "languages": ["en"]}
    (folder / ".job" / "study.yaml").write_text(json.dumps(study), encoding="utf-8")
    run_job(folder)
    told = json.loads((folder / ".job" / "progress.json").read_text(encoding="utf-8"))
    assert told["ended"] == "failed"
    assert "No such model folder: /no/such/model." in told["message"]


# ---- errors and load


def test_an_error_before_the_application_has_the_strict_headers_too(client, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("an error of ours")

    monkeypatch.setattr("isogloss.web.safety.refuse", fail)
    answer = client.get("/")
    assert (answer.status_code, answer.text) == (500, "That failed.")
    assert all(name in answer.headers for name in STRICT)


def test_where_too_many_watch_a_stream_says_when_to_come_back(client, models):
    start(client, models[0], name="mine")
    client.app.app.state.app_state.streams.total_tokens = 1
    client.post("/evaluate/mine/stop")
    assert "event: end" in client.get("/evaluate/mine/events").text
    assert "event: end" in client.get("/evaluate/mine/events").text  # the first has left
    client.app.app.state.app_state.streams.acquire_on_behalf_of_nowait("another")
    assert client.get("/evaluate/mine/events").text == "retry: 60000\n\n"


def test_a_page_that_watches_is_told_when_the_evaluation_is_deleted(client, models, root):
    start(client, models[0], name="mine")
    request = SimpleNamespace(is_disconnected=AsyncMock(return_value=False))

    async def watch() -> list[str]:
        events = progress_events(request, client.app.app.state.app_state, name="mine")
        first = await anext(events)
        shutil.rmtree(root / "mine")
        return [first, *[event async for event in events]]

    kinds = [event.splitlines()[0] for event in asyncio.run(watch())]
    assert kinds == ["event: state", "event: state", "event: end"]
    assert client.get("/evaluate/mine").status_code == 404
