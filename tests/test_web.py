"""The local page: every page does its work, and every attack is refused."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import yaml
from fastapi.testclient import TestClient
from httpx import Response
from typer.testing import CliRunner

from isogloss import runs
from isogloss.annotation.label_sheets import read_label_sheets, write_label_sheet
from isogloss.annotation.sheets import read_sheet
from isogloss.cli import app
from isogloss.errors import IsoglossError
from isogloss.studies.file import read_study
from isogloss.studies.probe import ProbeRequest, run_probe
from isogloss.web import jobs, runs_folder
from isogloss.web.job_process import run_job
from isogloss.web.model_cache import ModelCache
from isogloss.web.server import listen
from isogloss.web.settings import Limits, ServerSettings, check_settings
from support import score_server, tiny
from support.builders import stereoset_rows, write_jsonl
from support.reports import neutral_items, write_run, write_runs
from support.websites import HERE, client_of, save_models

PAGES = ("/", "/probe", "/evaluate", "/check", "/labels", "/languages", "/compare")
SCRIPT = "<script>alert(1)</script>"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;"


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    return save_models(tmp_path_factory.mktemp("models"), "gpt2", "bert")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("runs"), models=("one", "two"))


@pytest.fixture
def client(root: Path, written: Path, models: tuple[str, ...]) -> TestClient:
    shutil.copytree(written, root / "plain")
    return client_of(ServerSettings(root, models=models))


def upload(
    client: TestClient, content: str | bytes, *, name: str = "mine.csv", language: str = "", columns: str = ""
) -> Response:
    fields = {"language": language, "columns": columns}
    return client.post("/check", files={"file": (name, content)}, data=fields)


def persian() -> str:
    """A file in Persian with a problem: two equal words."""
    rows = [
        {"id": f"fa-{n}", "task": "intrasentence", "language": "fa", "target": "tree", "bias_type": "things"}
        | {"context": "درخت امروز BLANK است."}
        | {
            "candidates": [
                {"id": f"{n}{role}", "gold_label": role, "sentence": f"درخت امروز {word} است.", "word": word}
                for role, word in (("stereotype", "سبز"), ("anti-stereotype", "سبز"), ("unrelated", "هفت"))
            ]
        }
        for n in range(3)
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


# ---- every page


@pytest.mark.parametrize("path", PAGES)
def test_every_page_opens_with_strict_headers(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.text.count("<h1") == 1
    assert "style=" not in answer.text
    assert "onclick" not in answer.text


def test_an_empty_folder_says_what_to_do(root, models):
    answer = client_of(ServerSettings(root, models=models)).get("/")
    assert "There are no runs in this folder yet." in answer.text


def test_runs_are_listed_with_their_models_and_languages(client):
    text = client.get("/").text
    assert "one, two" in text
    assert "5 languages" in text
    assert client.get("/runs/plain").text.count('name="a"') == 10


def test_a_broken_run_is_named_and_the_others_are_shown(client, root):
    (root / "plain" / "one" / "broken").mkdir()
    (root / "plain" / "one" / "broken" / "run.json").write_text("{", encoding="utf-8")
    text = client.get("/runs/plain").text
    assert "plain/one/broken/run.json: the file is broken." in text
    assert str(root) not in text
    assert text.count('name="a"') == 10


@pytest.mark.slow
def test_a_report_is_made_and_served_in_a_sandbox_of_its_own(client, root):
    assert client.get("/report/plain").status_code == 404
    answer = client.post("/report/plain")
    assert answer.url.path == "/report/plain"
    assert answer.text.startswith("<!doctype html>")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts allow-downloads; default-src 'none'")
    assert "allow-same-origin" not in policy
    assert (root / "plain" / "report.html").is_file()


def test_two_runs_are_compared(client, root):
    a, b = sorted(str(path.parent.relative_to(root)) for path in root.glob("plain/*/neutral-en*/run.json"))
    answer = client.get("/compare", params={"a": a, "b": b})
    assert answer.status_code == 200
    assert "a is one; b is two" in answer.text
    assert '<td dir="auto">SS</td>' in answer.text
    wrong = client.get("/compare", params={"a": a, "b": "plain/../../etc"})
    assert wrong.status_code == 404


def test_what_is_deleted_comes_back_as_it_was(client, root):
    run = next(root.glob("plain/one/neutral-en*"))
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    path = str(run.relative_to(root))
    shown = client.post("/delete", data={"path": path})
    assert shown.url.path == "/"
    assert not run.exists()
    assert len(runs.find_runs(root)) == 9  # what is in the trash counts no more
    (trashed,) = runs_folder.list_trash(root)
    assert f"trash-{trashed.id}" in shown.text
    client.post("/undo", data={"id": trashed.id})
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before
    assert runs_folder.list_trash(root) == []


def test_undo_does_not_overwrite_what_came_in_the_meantime(client, root):
    client.post("/delete", data={"path": "plain"})
    write_run(root / "plain", neutral_items("en"))
    (trashed,) = runs_folder.list_trash(root)
    answer = client.post("/undo", data={"id": trashed.id})
    assert answer.status_code == 400
    assert "is there again already" in answer.text
    assert len(runs.find_runs(root)) == 1


# ---- probing


def test_a_probe_shows_the_shares_that_the_library_gives(client, models):
    fields = {"template": "The [nurse|doctor] is kind.", "model": models[0], "language": "en"}
    whole = client.post("/probe", data=fields)
    piece = client.post("/probe", data=fields, headers={"HX-Request": "true"})
    assert whole.status_code == piece.status_code == 200
    assert "<html" in whole.text
    assert "<html" not in piece.text
    for one in run_probe(models[0], ProbeRequest("The [nurse|doctor] is kind.")).shares:
        assert f"{100 * one.share:.1f} %" in piece.text
        assert one.sentence in piece.text


def test_persian_bars_run_from_right_to_left(client, models):
    fields = {"template": "[پرستار|پزشک] مهربان است.", "model": models[0], "language": "fa"}
    assert '<ul class="bars" lang="fa" dir="rtl">' in client.post("/probe", data=fields).text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "somebody/else"}, "may not be opened here"),
        ({"model": "../../etc"}, "may not be opened here"),
        ({"model": ""}, "Choose a model."),
        ({"template": "x" * 1001}, "The sentence has 1,001 letters; at most 1,000 are taken here."),
        ({"template": "No choice."}, "The template has no slot."),
        ({"template": "[a|b] " * 40}, "sentences, more than 500"),
        ({"template": "(a|b)" * 200}, "The template has more than 200 wordings in round brackets."),
        ({"template": "(a|" * 245 + ")" * 245}, "template"),
        ({"language": "Xyzzyish"}, "No language named"),
    ],
)
def test_what_cannot_be_probed_is_said_in_one_sentence(client, models, fields, message):
    answer = client.post("/probe", data={"template": "The [a|b].", "model": models[0], "language": "en", **fields})
    assert answer.status_code == 400
    assert message in answer.text


def test_only_a_few_models_stay_warm_and_a_large_one_is_refused(models):
    cache, request = ModelCache(Limits(warm=1)), ProbeRequest("The [a|b].")
    for name in models[:2]:
        asyncio.run(cache.ask(name, request))
        assert cache.names() == [name]
    with pytest.raises(IsoglossError, match=r"more than the 0\.0 GB that probing may use"):
        asyncio.run(ModelCache(Limits(memory=1000)).ask(models[0], request))


# ---- evaluating


def start(client: TestClient, chosen: str, **fields: object) -> Response:
    return client.post("/evaluate", data={"model": chosen, "data": "demo", "language": ["en"], **fields})


def test_an_evaluation_is_a_study_file_in_the_queue(client, root, models):
    answer = start(client, models[0], method="likelihood", limit="4", name="first")
    assert answer.url.path == "/evaluate/first"
    assert "queued" in answer.text
    study = read_study(root / "first" / ".job" / "study.yaml")
    assert (study.name, study.models[0].checkpoint, study.languages) == ("first", models[0], ("en",))
    assert (study.methods[0].name, study.sample.limit, study.loading.offline) == ("likelihood", 4, True)
    given = client.get("/evaluate/first/study.yaml")
    assert yaml.safe_load(given.text)["name"] == "first"
    assert "attachment" in given.headers["content-disposition"]


def test_the_queue_is_the_folder_and_survives_a_new_server(client, root, models):
    start(client, models[0], name="first")
    start(client, models[0], name="second")
    again = client_of(ServerSettings(root, models=models))
    assert "number 2 in the queue" in again.get("/evaluate/second").text
    stopped = again.post("/evaluate/first/stop")
    assert '<span class="state stopped">' in stopped.text
    assert {job.name: job.state for job in jobs.read_jobs(root)} == {"first": "stopped", "second": "queued"}
    again.post("/evaluate/first/resume")
    assert {job.state for job in jobs.read_jobs(root)} == {"queued"}


def test_the_events_of_a_stopped_evaluation_end(client, models):
    start(client, models[0], name="first")
    client.post("/evaluate/first/stop")
    answer = client.get("/evaluate/first/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [block.splitlines()[0] for block in answer.text.strip().split("\n\n")]
    assert events == ["event: state", "event: end"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "gpt17"}, "may not be opened here"),
        ({"data": "nothing"}, "No data named &#39;nothing&#39;."),
        ({"data": "/etc/passwd"}, "No data named"),
        ({"language": "xx-nonsense-tag"}, "language"),
        ({"method": "pll"}, "pll"),
        ({"limit": "-1"}, "The number of items must lie between"),
        ({"name": "../up"}, "A study&#39;s name has letters"),
        ({"name": ".hidden"}, "A study&#39;s name has letters"),
        ({"name": "plain"}, "There is a study named &#39;plain&#39; already."),
    ],
)
def test_what_cannot_be_evaluated_is_said_before_it_is_queued(client, root, models, fields, message):
    answer = start(client, models[0], **fields)
    assert answer.status_code == 400
    assert message in answer.text
    assert jobs.read_jobs(root) == []
    assert sorted(path.name for path in root.iterdir()) == ["plain"]


def test_a_running_study_cannot_be_deleted(client, root, models):
    start(client, models[0], name="first")
    answer = client.post("/delete", data={"path": "first"})
    assert answer.status_code == 400
    assert "Stop it first." in answer.text
    assert (root / "first").is_dir()


def test_too_many_evaluations_are_refused(root, models):
    client = client_of(ServerSettings(root, models=models, limits=replace(Limits(), queue=1)))
    assert start(client, models[0]).status_code == 200
    assert "1 evaluations are waiting already." in start(client, models[0]).text


def test_every_method_is_offered_once(client):
    methods = client.get("/evaluate").text.partition('name="method"')[2].partition("</select>")[0]
    assert methods.count(">ask<") == 1


def test_the_languages_follow_the_data(client):
    assert 'value="tr"' in client.get("/evaluate/languages", params={"data": "demo"}).text
    assert 'value="tr"' not in client.get("/evaluate/languages", params={"data": "shades_demo"}).text


# ---- checking data


def test_problems_are_shown_by_row_and_persian_runs_from_right_to_left(client):
    answer = upload(client, persian(), name="mine_fa.jsonl")
    assert answer.status_code == 200
    assert "3 items" in answer.text
    assert '<th scope="row">equal_words</th>' in answer.text
    assert '<div lang="fa" dir="rtl">' in answer.text
    assert "Content warning" in answer.text
    before, _, after = answer.text.partition('<details class="rows">')
    assert "درخت" not in before
    assert "درخت" in after


def test_the_review_sheet_holds_the_rows_with_problems(client):
    page = upload(client, persian(), name="mine_fa.jsonl")
    sheet = client.get(f"{page.url.path}/review.csv")
    rows = list(csv.DictReader(io.StringIO(sheet.content.decode("utf-8-sig"))))
    assert [row["id"] for row in rows] == ["fa-0", "fa-1", "fa-2"]
    assert {"problem", "context_fix", "stereotype_fix", "verdict"} <= set(rows[0])
    assert client.get(f"{page.url.path}/review.xlsx").content.startswith(b"PK")
    assert client.get(f"{page.url.path}/review.exe").status_code == 404


def test_a_reviewed_sheet_comes_back_as_a_new_file(client):
    page = upload(client, persian(), name="mine_fa.jsonl")
    text = client.get(f"{page.url.path}/review.csv").content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    rows[0] |= {"verdict": "drop"}
    rows[1] |= {"verdict": "fixed", "context_fix": "این یک BLANK است."}
    csv.DictWriter(sheet := io.StringIO(), rows[0]).writeheader()
    csv.DictWriter(sheet, rows[0]).writerows(rows)
    back = client.post(f"{page.url.path}/reviewed", files={"file": ("done.csv", sheet.getvalue().encode())})
    assert (back.status_code, back.url.path == page.url.path) == (200, False)
    assert "mine_fa-reviewed.jsonl" in back.text
    assert "2 items" in back.text
    wrong = client.post(f"{page.url.path}/reviewed", files={"file": ("done.csv", text.encode())})
    assert wrong.status_code == 400
    assert "No row of the sheet has a verdict" in wrong.text


def test_a_bad_row_is_named_with_its_line_and_no_path_of_this_machine(client, root):
    page = upload(client, persian() + "not json\n", name="mine.jsonl")
    assert "mine.jsonl, line 4: not JSON" in page.text
    assert str(root) not in page.text
    wrong = upload(client, "a,b\n1,2\n")
    assert wrong.status_code == 400
    assert "mine.csv: the columns" in wrong.text


def test_checked_data_can_be_evaluated_and_goes_into_the_study(client, root, models, tmp_path):
    write_jsonl(tmp_path / "mine_en.jsonl", stereoset_rows())
    page = upload(client, (tmp_path / "mine_en.jsonl").read_bytes(), name="mine_en.jsonl")
    id = page.url.path.rpartition("/")[2]
    start(client, models[0], data=id, name="mine")
    assert read_study(root / "mine" / ".job" / "study.yaml").data[0].source == "mine_en.jsonl"
    client.post("/check/delete", data={"id": id})
    assert client.get(page.url.path).status_code == 404
    assert (root / "mine" / ".job" / "mine_en.jsonl").is_file()


@pytest.mark.slow
def test_a_speaker_gets_a_review_sheet_without_a_command_line(client, tmp_path):
    assert 'href="/languages/fi/sheet.xlsx"' in client.get("/languages").text
    (tmp_path / "fi.xlsx").write_bytes(client.get("/languages/fi/sheet.xlsx").content)
    kinds = {row["kind"] for _, row in read_sheet(tmp_path / "fi.xlsx")}
    assert {"sentence", "prompt", "item", "name"} <= kinds
    assert client.get("/languages/xx/sheet.xlsx").status_code == 404


def test_languages_show_what_they_have_and_lack(client):
    text = client.get("/languages").text
    assert 'dir="rtl">فارسی</td>' in text
    assert "parallel_demo" in text


# ---- attacks


@pytest.mark.parametrize(
    "path",
    [
        "/runs/..%2f..%2fsecret",
        "/runs/%2e%2e",
        "/report/..%2foutside",
        "/report/%2e%2e%2foutside",
        "/runs/.trash",
        "/runs/.job",
        "/runs/link",
        "/report/link",
        "/report/linked",
        "/runs/a%00b",
        "/runs/" + "x" * 300,
        "/evaluate/..%2f..%2fsecret/study.yaml",
        "/check/..%2f..%2fsecret",
        "/check/..%2f..%2fsecret/review.csv",
        "/static/..%2fweb.css",
        "/static/%2e%2e%2f%2e%2e%2flanguages%2fen.toml",
    ],
)
def test_no_path_leaves_the_runs_folder(client, root, path):
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "report.html").write_text("SECRET", encoding="utf-8")
    (root / "link").symlink_to(outside)
    (root / "linked").mkdir()
    (root / "linked" / "report.html").symlink_to(outside / "report.html")
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert "SECRET" not in answer.text


@pytest.mark.parametrize(
    "path", ["..", "../outside", "plain/../..", ".trash", "link", "link/x", "/etc", "", "plain\\..\\x"]
)
def test_nothing_outside_the_runs_folder_can_be_deleted(client, root, path):
    outside = root.parent / "outside"
    (outside / "x").mkdir(parents=True)
    (root / "link").symlink_to(outside)
    assert client.post("/delete", data={"path": path}).status_code in (400, 404)
    assert (outside / "x").is_dir()
    assert runs_folder.list_trash(root) == []


def test_a_forged_note_in_the_trash_cannot_write_elsewhere(client, root):
    folder = root / ".trash" / "abcdef123456"
    (folder / "content").mkdir(parents=True)
    (folder / "note.json").write_text('{"path": "../../elsewhere", "when": "now"}', encoding="utf-8")
    assert client.post("/undo", data={"id": "abcdef123456"}).status_code == 400
    assert client.post("/undo", data={"id": "../plain"}).status_code == 400
    assert not (root.parent.parent / "elsewhere").exists()


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "10.0.0.1", "", "[::1", "localhost.evil.example"],
)
def test_a_foreign_host_is_refused(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "localhost", "[::1]:8765"])
def test_our_own_names_are_known(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": HERE, "Sec-Fetch-Site": "cross-site"},
        {},
    ],
)
def test_a_foreign_page_can_do_nothing(client, root, headers):
    client.headers.pop("Origin")
    client.headers.pop("Sec-Fetch-Site")
    for path in ("/delete", "/undo", "/probe", "/evaluate", "/check", "/report/plain"):
        assert client.post(path, data={"path": "plain"}, headers=headers).status_code == 403
    assert (root / "plain").is_dir()


def test_a_foreign_page_can_link_here_but_not_read(client):
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}).status_code == 200
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}).status_code == 403
    assert client.get("/static/live.js", headers={"Sec-Fetch-Site": "same-site"}).status_code == 403


def test_a_table_with_other_columns_in_a_language_without_a_file_is_checked(client):
    table = "a;b\nЧоловік готує.;Жінка готує.\n"
    refused = upload(client, table, language="Ukrainian")
    assert "Send it again with the names of its columns below." in refused.text
    page = upload(client, table, language="Ukrainian", columns="stereotype=a, anti_stereotype=b")
    assert page.status_code == 200
    assert "1 items" in page.text
    assert "names no column" in upload(client, table, columns="stereotype").text


def test_an_upload_of_one_line_of_megabytes_is_one_sentence(client, root):
    tracemalloc.start()
    try:
        answer = upload(client, '{"id": "' + "x" * 19_000_000 + '"}\n', name="mine_en.jsonl")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "line 1: a line of more than 1,000,000 letters, which no item has." in answer.text
    assert peak < 200_000_000  # the line itself, the form that carries it, and the copy of the test client


def test_a_large_upload_is_cut_off_while_it_comes(root, models):
    client = client_of(ServerSettings(root, models=models, limits=replace(Limits(), upload=100_000)))
    assert upload(client, "x" * 200_000).status_code == 413
    sent = 0

    def endless():
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        for _ in range(100):
            sent += 10_000
            yield b"x" * 10_000

    headers = {"Content-Type": "multipart/form-data; boundary=b"}  # no length is announced
    assert client.post("/check", content=endless(), headers=headers).status_code == 413
    assert not (root / ".uploads").exists()
    assert client.post("/probe", content=b"template=" + b"x" * 70_000).status_code == 413


@pytest.mark.parametrize("name", ["a.exe", "a.csv.gz", "a.parquet", "noend", "a.html"])
def test_other_files_are_refused(client, root, name):
    answer = upload(client, "x", name=name)
    assert answer.status_code == 400
    assert not list(root.glob(".uploads/*"))


def test_too_many_rows_are_refused(root, models):
    client = client_of(ServerSettings(root, models=models, limits=replace(Limits(), rows=10)))
    assert upload(client, "a\n" * 12).status_code == 400
    assert list((root / ".uploads").iterdir()) == []


def test_a_file_name_with_a_path_stays_in_its_folder(client, root):
    page = upload(client, persian(), name="../../../evil_fa.jsonl")
    assert page.status_code == 200
    (found,) = root.glob(".uploads/*/evil_fa.jsonl")
    assert found.is_file()


def test_scripts_in_data_and_names_are_only_text(client, root, models):
    rows = persian().replace("درخت", SCRIPT)
    page = upload(client, rows, name=f"{SCRIPT}.jsonl")
    probed = client.post("/probe", data={"template": f"{SCRIPT} [a|b]", "model": models[0], "language": "en"})
    refused = client.post("/probe", data={"template": "[a|b]", "model": SCRIPT, "language": "en"})
    write_run(root / "bad", neutral_items("en"), model=SCRIPT)
    run = next((root / "bad").rglob("run.json")).parent.relative_to(root)
    (root / "<img src=x>").mkdir()
    write_run(root / "<img src=x>", neutral_items("en"))
    shown = [page, probed, refused, client.get("/"), client.get("/runs/bad"), client.get("/check")]
    shown += [client.get("/compare", params={"a": str(run), "b": str(run)}), client.get("/evaluate")]
    for one in shown:
        assert SCRIPT not in one.text
        assert "<img" not in one.text
    assert ESCAPED in page.text
    assert ESCAPED in probed.text


def test_a_study_file_keeps_its_shape_whatever_the_model_is_called(root, models):
    client = client_of(ServerSettings(root, models=models, any_model=True))
    answer = start(client, "x\nreport: evil.html", name="odd")
    assert answer.status_code == 400
    assert not (root / "odd").exists()


def test_without_the_token_nothing_is_shown(root, models):
    (root / "plain").mkdir(parents=True)
    settings = ServerSettings(root, host="0.0.0.0", token="a-very-long-token-of-ours", models=models)
    client = client_of(settings, follow_redirects=False)
    for path in (*PAGES, "/static/web.css", "/runs/plain"):
        assert client.get(path).status_code == 403
    assert client.get("/?token=a-very-long-token-of-0urs").status_code == 403
    assert client.get("/", headers={"Cookie": "isogloss=wrong"}).status_code == 403
    assert client.post("/delete", data={"path": "plain"}).status_code == 403
    let_in = client.get("/?token=a-very-long-token-of-ours")
    assert (let_in.status_code, let_in.headers["location"]) == (303, "/")
    cookie = let_in.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/").status_code == 200
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
    assert client.get("/", headers={"Host": "192.168.1.7:8765"}).status_code == 200


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"host": "0.0.0.0"}, "A server on '0.0.0.0' needs a token, since others can reach it. Use --token."),
        ({"token": "short"}, "A token has 16 letters or more: A to Z, digits, and . _ ~ - only."),
    ],
)
def test_settings_that_are_not_safe_are_refused(root, facts, message):
    with pytest.raises(IsoglossError) as caught:
        check_settings(ServerSettings(root, **facts))
    assert str(caught.value) == message


def test_pages_need_no_openapi_and_unknown_ones_are_not_found(client):
    for path in ("/docs", "/openapi.json", "/redoc", "/nowhere"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "There is no page with this address." in answer.text


# ---- a real server


@contextmanager
def command(root: Path, models: tuple[str, ...]) -> Iterator[tuple[int, str, subprocess.Popen[str]]]:
    """`isogloss serve` as a user starts it: its port, its address, its process."""
    words = [sys.executable, "-m", "isogloss", "serve", str(root), "--port", "0"]
    words += [word for model in models for word in ("--allow-models", model)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = process.stderr.readline() if process.stderr else ""
            port = re.search(r"http://127\.0\.0\.1:(\d+)/$", said.strip())
            assert port is not None, said
            yield int(port[1]), f"http://127.0.0.1:{port[1]}", process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)


def resident(process: subprocess.Popen[str]) -> float:
    """How many MB a process holds in memory."""
    text = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1000  # type: ignore[index]


def until(root: Path, name: str, *states: str) -> jobs.EvaluationJob:
    """The job, when it is in one of these states; a test that waits too long fails."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        job = jobs.read_job(root / name)
        if job and job.state in states:
            return job
        time.sleep(0.2)
    raise AssertionError(f"{job} did not become {' or '.join(states)}")


@pytest.mark.slow
def test_of_150_open_progress_streams_24_are_served_and_pages_still_open(root, models):
    with command(root, models[:1]) as (port, address, process):
        headers = {"Origin": address}
        for name in ("first", "second"):  # the second waits for the first, so its stream stays open
            fields = {"model": models[0], "data": "demo", "language": ["en", "de", "es", "fr", "tr"], "name": name}
            assert httpx.post(f"{address}/evaluate", data=fields, headers=headers, timeout=60).status_code in (200, 303)
        before = resident(process)
        request = f"GET /evaluate/second/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        watchers = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(150)]
        for watcher in watchers:
            watcher.sendall(request)
        heard = [b""] * len(watchers)
        for number, watcher in enumerate(watchers):
            while not re.search(rb"event: |retry: ", heard[number]):
                heard[number] += watcher.recv(65536)
        started = time.perf_counter()
        assert httpx.get(address, timeout=60).status_code == 200
        print(f"a page took {time.perf_counter() - started:.2f} s, {resident(process) - before:.0f} MB more")
        for watcher in watchers:
            watcher.close()
    assert sum(b"event: " in text for text in heard) == 24
    assert sum(b"retry: 60000" in text for text in heard) == 126


@pytest.mark.slow
def test_fifty_clients_probe_at_once_and_memory_stays_flat(root, models):
    with command(root, models[:1]) as (_, address, process):
        headers = {"Origin": address, "HX-Request": "true"}

        def ask(number: int) -> tuple[int, int]:
            fields = {"template": f"The [nurse|doctor] is kind {number}.", "model": models[0], "language": "en"}
            answer = httpx.post(f"{address}/probe", data=fields, headers=headers, timeout=300)
            return answer.status_code, answer.text.count('class="term"')

        def everybody(rounds: int) -> float:
            with ThreadPoolExecutor(50) as clients:
                assert set(clients.map(ask, range(50 * rounds))) == {(200, 2)}
            return resident(process)

        before = everybody(2)
        after = everybody(6)
        assert after - before < 40, f"{before:.0f} MB became {after:.0f} MB"


@pytest.mark.slow
def test_one_evaluation_per_model_runs_and_a_killed_server_leaves_nothing_undone(root, models):
    with command(root, models) as (_, address, process):
        headers = {"Origin": address}
        for name in ("first", "second"):
            fields = {"model": models[0], "data": "demo", "language": "en", "limit": "6", "name": name}
            assert httpx.post(f"{address}/evaluate", data=fields, headers=headers, timeout=120).status_code == 303
        until(root, "first", "running")
        assert until(root, "second", "queued").state == "queued"  # the same model: it waits
        process.kill()
        process.wait()
    with command(root, models):
        assert until(root, "first", "finished", "failed").message == ""
        assert until(root, "second", "finished", "failed").message == ""
    ours, theirs = (json.loads((root / name / "measures.json").read_text("utf-8")) for name in ("first", "second"))
    assert ours == theirs


def test_the_page_of_a_study_has_the_title_of_its_file(client, root):
    assert '<h1 dir="auto">plain</h1>' in client.get("/runs/plain").text
    (root / "plain" / "study.yaml").write_text("name: x\ntitle: Two & more\n", encoding="utf-8")
    assert '<h1 dir="auto">Two &amp; more</h1>' in client.get("/runs/plain").text


def test_a_study_of_two_models_says_which_may_be_best(client, root):
    for model, wins in (("one", 20), ("two", 4)):
        write_run(root / "pair", neutral_items("en"), model=model, wins=wins)
    page = client.get("/runs/pair").text
    assert "Which model is best?" in page
    assert "no model is shown to be better" in page or "the best is" in page


def test_a_chat_model_is_asked_from_the_form(root, tmp_path):
    talker = tiny.save_talker(tmp_path / "talker")
    client = client_of(ServerSettings(root, models=(talker,)))
    fields = {"data": "demo", "language": ["en"], "method": "ask", "limit": "2", "name": "asked"}
    assert client.post("/evaluate", data={"model": talker, **fields}).url.path == "/evaluate/asked"
    run_job(root / "asked")
    measures = json.loads((root / "asked" / "measures.json").read_text("utf-8"))["measures"]
    assert {row["metric"] for row in measures} >= {"recognition", "agreement", "answered_none"}
    assert "talker" in client.get("/runs/asked").text


def test_a_model_behind_a_server_is_evaluated_and_probed_from_the_page_where_it_was_allowed(root, tmp_path):
    with score_server.scoring("vllm", "tokenize") as server:
        model = f"{server.url}=tiny"
        fields = {
            "model": model,
            "data": "demo",
            "language": ["en"],
            "method": "likelihood",
            "limit": "2",
            "name": "far",
        }
        client = client_of(ServerSettings(root, models=(model,)))
        assert client.post("/evaluate", data=fields).url.path == "/evaluate/far"
        run_job(root / "far")
        measures = json.loads((root / "far" / "measures.json").read_text("utf-8"))["measures"]
        assert {row["group"]["model"] for row in measures} == {"tiny"}
        asked = {"template": "The [nurse|doctor] is kind.", "model": model, "language": "en"}
        assert client.post("/probe", data=asked, headers={"HX-Request": "true"}).text.count('class="term"') == 2
        stranger = client_of(ServerSettings(root, any_model=True)).post("/evaluate", data=fields | {"name": "other"})
    assert (stranger.status_code, "may not be opened here" in stranger.text) == (400, True)


@pytest.mark.slow
def test_a_process_that_is_killed_is_a_failure_that_can_be_resumed(root, models):
    with command(root, models) as (_, address, _process):
        headers = {"Origin": address}
        fields = {"model": models[0], "data": "demo", "language": "en", "limit": "6", "name": "first"}
        httpx.post(f"{address}/evaluate", data=fields, headers=headers, timeout=120)
        until(root, "first", "running")
        time.sleep(0.5)
        os.kill(int((root / "first" / ".job" / "lock").read_text(encoding="utf-8")), signal.SIGKILL)
        assert "was ended by SIGKILL" in until(root, "first", "failed").message
        httpx.post(f"{address}/evaluate/first/resume", headers=headers, timeout=60)
        assert until(root, "first", "finished").message == ""


@pytest.mark.slow
def test_leaving_stops_the_work_and_coming_back_takes_it_up(root, models):
    with command(root, models) as (_, address, _process):
        fields = {"model": models[0], "data": "demo", "language": "en", "limit": "6", "name": "first"}
        httpx.post(f"{address}/evaluate", data=fields, headers={"Origin": address}, timeout=120)
        until(root, "first", "running")
    assert until(root, "first", "queued", "finished").name == "first"
    with command(root, models):
        until(root, "first", "finished")


def test_who_follows_the_address_at_once_is_not_refused(tmp_path):
    def follow(line: str) -> None:
        port = int(re.search(r":(\d+)/$", line)[1])  # type: ignore[index]
        socket.create_connection(("127.0.0.1", port), timeout=60).close()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        listen(ServerSettings(tmp_path), port=0, say=follow)


def test_a_taken_port_and_a_file_for_a_folder_are_said_in_one_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        shown = CliRunner().invoke(app, ["serve", str(tmp_path), "--port", port])
        assert isinstance(shown.exception, IsoglossError)
        assert str(shown.exception).startswith(f"Cannot listen on 127.0.0.1, port {port}: ")
    (tmp_path / "file").touch()
    shown = CliRunner().invoke(app, ["serve", str(tmp_path / "file")])
    assert str(shown.exception) == f"{tmp_path / 'file'} is not a folder. Give the folder of runs."


# ---- labels


def label_sheet(tmp_path: Path, *, count: int = 25) -> bytes:
    rows = [
        {"text": f"{SCRIPT} {n}", "item": f"i{n}", "question": "stereotype", "language": "es-MX"} for n in range(count)
    ]
    return write_label_sheet(tmp_path / "sheet.xlsx", rows).read_bytes()


def test_a_sheet_of_labels_is_filled_in_on_the_page_and_read_back(client, tmp_path):
    shown = client.post("/labels", files={"file": ("mine.xlsx", label_sheet(tmp_path))}, follow_redirects=True)
    assert shown.text.count("<select") == 20
    assert ESCAPED in shown.text
    assert SCRIPT not in shown.text
    assert "estereotipo" in shown.text
    path = shown.url.path
    fields = {"label-0": "estereotipo", "label-1": "", "comment-0": "sí", "annotator": "Ana", "following": "20"}
    following = client.post(path, data=fields, follow_redirects=True)
    assert "Rows 21 to 25" in following.text
    (tmp_path / "filled.csv").write_bytes(client.get(f"{path}/sheet.csv").content)
    assert client.post(path, data={"label-0": "perhaps"}).status_code == 400
    assert "1 of 25 labeled" in client.get("/labels").text
    assert client.post("/labels/delete", data={"id": path.split("/")[-1]}, follow_redirects=True).status_code == 200
    assert client.get(path).status_code == 404
    filled = read_label_sheets([tmp_path / "filled.csv"])
    assert filled.labels.table.select("item", "label", "annotator").rows() == [("i0", "stereotype", "annotator 1")]
    assert filled.comments == (("i0", "sí"),)


def test_a_file_that_is_no_sheet_of_labels_is_refused(client):
    for name, content in (("x.csv", b"a,b\n1,2\n"), ("x.txt", b"a"), ("x.xlsx", b"PK")):
        assert client.post("/labels", files={"file": (name, content)}).status_code == 400
    assert client.get("/labels/../../etc").status_code == 404
    assert client.get("/labels/abcdef123456").status_code == 404
