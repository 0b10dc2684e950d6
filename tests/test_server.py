"""Asking behind an address: an endpoint that misbehaves in each way, and nothing answered is lost or asked again."""

from __future__ import annotations

import asyncio
import math
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from isogloss import runs
from isogloss.cli.ask import token_totals
from isogloss.errors import IsoglossError
from isogloss.items import Item, Items
from isogloss.methods.ask import AskSettings
from isogloss.models.load import open_model
from isogloss.models.model import Loading
from isogloss.models.retry import RetryPolicy, asked_wait, next_wait
from isogloss.models.server_connection import KEPT
from isogloss.progress import Progress, silent
from isogloss.studies.cells import JOURNAL, Running, run_cells
from isogloss.studies.scoring_plan import PlannedCell, plan_cells
from support import endpoints
from support.builders import triple

SECRET = "sk-very-secret"


def item(name: str) -> Item:
    """An item whose statement names it."""
    plain = triple(name)
    return replace(plain, candidates=tuple(replace(one, text=f"{name} is {one.word}.") for one in plain.candidates))


ITEMS = Items((item("a"), item("b")))
GREEDY = AskSettings()
ALL = 12  # two items, three prompts, two orders


def ask(
    server: endpoints.Server,
    out: Path,
    *,
    items: Items = ITEMS,
    settings: AskSettings = GREEDY,
    progress: Progress = silent,
    **options: object,
) -> list[runs.Run]:
    loading = Loading(served_model="chatty", **{"tries": 3, **options})  # type: ignore[arg-type]
    model = open_model(server.url, loading)
    model = replace(model, net=replace(model.net, policy=RetryPolicy(loading.tries, first=0.01)))
    cells = plan_cells(PlannedCell(server.url, items, "ask", settings.options, loading=loading), model)
    return [result.run for result in run_cells(cells, model, running=Running(out, progress=progress)) if result.run]


def rows(run: runs.Run) -> list[dict[str, object]]:
    return [row for number in range(run.parts) for row in runs.read_part(run, number).to_dicts()]


def failure(reply: endpoints.Reply, out: Path, **options: object) -> tuple[str, endpoints.Server]:
    with endpoints.serving(reply) as server, pytest.raises(IsoglossError) as caught:
        ask(server, out, **options)
    return str(caught.value).replace(server.url, "URL"), server


def test_a_statement_of_several_items_is_asked_about_once(tmp_path):
    first = item("a")
    again = replace(first, id="a2", candidates=tuple(replace(one, id=f"{one.id}-2") for one in first.candidates))
    with endpoints.serving(endpoints.good) as server:
        (run,) = ask(server, tmp_path, items=Items((first, item("b"), again)))
    found = rows(run)
    assert (len(server.bodies), len(found), run.info["requests"]) == (ALL, ALL + 6, ALL)
    kept = {"text", "opening", "finish", "prompt", "order", "sample"}
    one, other = ([{key: row[key] for key in kept} for row in found if row["id"] == name] for name in ("a", "a2"))
    assert one == other
    assert {row["candidate"] for row in found if row["id"] == "a2"} == {f"{first.candidates[0].id}-2"}
    assert run.info["tokens"] == {"prompt": 240, "answer": 24, "uncounted_answers": 0}


def test_every_request_is_answered_once_and_kept_with_its_counts(tmp_path):
    with endpoints.serving(endpoints.good) as server:
        (run,) = ask(server, tmp_path)
    found = rows(run)
    assert len(found) == len(server.bodies) == ALL
    assert {(row["prompt"], row["order"]) for row in found} == {
        (prompt, order) for prompt in ("stereotype", "agree", "disagree") for order in ("yes-no", "no-yes")
    }
    assert {(row["text"], row["opening"], row["finish"]) for row in found} == {("No.", "No.", "stop")}
    assert token_totals([run], price_in=1.0, price_out=10.0) == {
        "prompt": 240,
        "answer": 24,
        "uncounted_answers": 0,
        "cost": pytest.approx((240 + 240) / 1e6),
    }
    assert not (Path(str(run.folder)) / JOURNAL).exists()
    assert server.bodies[0] == {
        "model": "chatty",
        "messages": [{"role": "user", "content": server.bodies[0]["messages"][0]["content"]}],
        "temperature": 0.0,
        "max_tokens": 10,
        "logprobs": True,
        "top_logprobs": 20,
    }


def test_log_probabilities_of_all_forms_of_a_word_are_added(tmp_path):
    with endpoints.serving(endpoints.good) as server:
        (run,) = ask(server, tmp_path)
    row = rows(run)[0]
    assert row["no"] == pytest.approx(math.log(math.exp(-0.5) + math.exp(-9)))
    assert row["yes"] == pytest.approx(math.log(2 * math.exp(-2)))


def test_asking_again_asks_nothing(tmp_path):
    with endpoints.serving(endpoints.good) as server:
        first = [rows(run) for run in ask(server, tmp_path)]
        assert [rows(run) for run in ask(server, tmp_path)] == first
        assert len(server.bodies) == ALL


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (endpoints.status(500), "it answered 500"),
        (endpoints.status(429), "it answered 429"),
        (endpoints.html, "it sent a web page, not JSON"),
        (endpoints.half, "it sent broken JSON"),
        (endpoints.torn, "the connection failed (RemoteProtocolError)"),
        (endpoints.empty, "it sent an empty response"),
        (endpoints.hang_up, "the connection failed (RemoteProtocolError)"),
        (endpoints.no_choice, "it sent JSON without an answer in it"),
    ],
    ids=["500", "429", "html", "half", "torn", "empty", "hang-up", "no-choice"],
)
def test_what_misbehaves_is_tried_again_then_told_and_nothing_is_lost_or_asked_twice(tmp_path, bad, why):
    with endpoints.serving(endpoints.first(2, bad)) as server:
        (run,) = ask(server, tmp_path / "passing", concurrency=1)
        assert len(server.bodies) == ALL + 2
        assert len(rows(run)) == ALL
    message, _ = failure(endpoints.after(5, bad), tmp_path / "lasting", concurrency=1, tries=2)
    assert message == f"URL was asked 2 times and gave no answer: {why}. {KEPT}"
    folder = next((tmp_path / "lasting").rglob(JOURNAL)).parent
    assert len((folder / JOURNAL).read_text(encoding="utf-8").splitlines()) == 5


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> Callable[[endpoints.Server], list[float]]:
    """Time-outs that end when the server stalls instead of by the clock; returns those that were set."""
    asked: list[float] = []
    scopes: list[tuple[asyncio.AbstractEventLoop, asyncio.Timeout]] = []
    timeout = asyncio.timeout

    def wait_for_a_stall(seconds: float) -> asyncio.Timeout:
        asked.append(seconds)
        scopes.append((asyncio.get_running_loop(), timeout(None)))
        return scopes[-1][1]

    def expire() -> None:
        loop, scope = scopes[-1]
        loop.call_soon_threadsafe(scope.reschedule, loop.time())

    def attach(server: endpoints.Server) -> list[float]:
        server.on_stall = expire
        return asked

    monkeypatch.setattr(asyncio, "timeout", wait_for_a_stall)
    return attach


def test_a_response_that_stalls_is_given_up_after_the_time_out_and_nothing_is_lost(tmp_path, patience):
    with endpoints.serving(endpoints.first(2, endpoints.stall)) as server:
        asked = patience(server)
        (run,) = ask(server, tmp_path / "passing", timeout=7, concurrency=1)
        assert len(server.bodies) == ALL + 2
        assert len(rows(run)) == ALL
        assert set(asked) == {7}
        server.reply = endpoints.after(5, endpoints.stall)
        with pytest.raises(IsoglossError, match=r"asked 2 times and gave no answer: nothing came within 7 seconds\."):
            ask(server, tmp_path / "lasting", timeout=7, concurrency=1, tries=2)
    assert len(next((tmp_path / "lasting").rglob(JOURNAL)).read_text(encoding="utf-8").splitlines()) == 5


def test_after_a_failure_only_the_rest_is_asked(tmp_path):
    with endpoints.serving(endpoints.after(5, endpoints.status(500))) as server:
        with pytest.raises(IsoglossError):
            ask(server, tmp_path, tries=1, concurrency=1)
        asked = [body["messages"] for body in server.bodies[:5]]
        server.reply = endpoints.good
        (run,) = ask(server, tmp_path)
    assert len(rows(run)) == ALL
    assert len(server.bodies) == ALL + 1
    again = [body["messages"] for body in server.bodies[6:]]
    assert not [one for one in asked if one in again]


def test_a_torn_line_of_the_journal_is_asked_again_and_no_other(tmp_path):
    with endpoints.serving(endpoints.after(7, endpoints.status(500))) as server:
        with pytest.raises(IsoglossError):
            ask(server, tmp_path, tries=1, concurrency=1)
        journal = next(tmp_path.rglob(JOURNAL))
        journal.write_bytes(journal.read_bytes()[:-20])
        server.reply = endpoints.good
        server.bodies.clear()
        (run,) = ask(server, tmp_path)
    assert len(server.bodies) == ALL - 6
    assert len(rows(run)) == ALL


KILLED = """
import sys
from pathlib import Path
sys.path[:0] = ["tests"]
import test_server
test_server.ask(type("At", (), {"url": sys.argv[1]}), Path(sys.argv[2]), concurrency=1)
"""


@pytest.mark.slow
def test_nothing_answered_is_lost_by_a_kill(tmp_path):
    def slow(handler: endpoints.Handler, body: dict[str, object]) -> None:
        if len(handler.server.bodies) > 5:
            handler.server.ended.wait()
        endpoints.good(handler, body)

    with endpoints.serving(slow) as server:
        command = [sys.executable, "-c", KILLED, server.url, str(tmp_path)]
        process = subprocess.Popen(command, cwd=Path(__file__).parent.parent)
        while len(server.bodies) < 6 and process.poll() is None:
            time.sleep(0.05)
        process.kill()
        process.wait()
        server.reply = endpoints.good
        (run,) = ask(server, tmp_path)
    assert process.returncode == -signal.SIGKILL
    assert len(server.bodies) == 6 + ALL - 5  # the sixth was never answered
    assert len(rows(run)) == ALL


def test_a_wrong_key_stops_at_once_and_is_never_repeated(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", SECRET)
    message, server = failure(endpoints.status(401), tmp_path, key_env="MY_KEY", concurrency=1)
    assert message == f"URL answered 401: it does not accept the key. Check the key in MY_KEY. {KEPT}"
    assert server.keys == [f"Bearer {SECRET}"]
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes()


@pytest.mark.parametrize("code", [400, 403, 404, 418, 301])
def test_no_error_repeats_the_key_and_none_is_followed_elsewhere(tmp_path, monkeypatch, code):
    monkeypatch.setenv("MY_KEY", SECRET)
    reply = endpoints.status(code, Location="http://127.0.0.1:9/")
    message, _ = failure(reply, tmp_path, key_env="MY_KEY")
    assert f"URL answered {code}" in message
    assert SECRET not in message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"error": {"message": "No such model."}}', " (No such model)"),
        (b'{"detail": "odd"}', " (odd)"),
        (b'{"error": {"message": "key sk-very... is bad"}}', ""),
        (b'{"error": "' + b"x" * 999 + b'"}', f" ({'x' * 200})"),
        (b'{"detail": [1]}', ""),
        (b"<html>", ""),
        (b"{}", ""),
    ],
)
def test_a_refusal_is_quoted_unless_a_piece_of_the_key_is_in_it(tmp_path, monkeypatch, content, said):
    monkeypatch.setenv("MY_KEY", SECRET)
    message, _ = failure(lambda handler, body: handler.send(content, code=418), tmp_path, key_env="MY_KEY")
    assert message == f"URL answered 418 to the model 'chatty'{said}. Check both. {KEPT}"


def test_a_key_that_is_not_there_is_told_before_anything_is_sent(tmp_path, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    message, server = failure(endpoints.good, tmp_path, key_env="MY_KEY")
    assert message == "The environment has no usable MY_KEY. Set it to your key."
    assert not server.bodies


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http:///v1", "'http:///v1' is not an address. Write it as https://…/v1"),
        (
            f"https://user:{SECRET}@example.org/v1",
            "The address of a server holds no key, query or password. Put the key in the environment: `key_env='NAME'`",
        ),
        (
            f"https://example.org/v1?key={SECRET}",
            "The address of a server holds no key, query or password. Put the key in the environment: `key_env='NAME'`",
        ),
    ],
)
def test_an_address_that_is_none_or_holds_a_key_is_refused(url, message):
    with pytest.raises(IsoglossError) as caught:
        open_model(url, Loading(served_model="chatty"))
    assert str(caught.value) == message


def test_a_key_over_an_open_line_is_warned_about(monkeypatch):
    monkeypatch.setenv("MY_KEY", SECRET)
    with pytest.warns(UserWarning, match=r"^http://example.org/v1 is not encrypted, so others"):
        open_model("http://example.org/v1", Loading(served_model="chatty", key_env="MY_KEY"))


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        (("logprobs",), {"max_tokens"}),
        (("max_tokens",), {"max_completion_tokens", "logprobs"}),
        (("max_tokens", "logprobs"), {"max_completion_tokens"}),
    ],
)
def test_an_endpoint_without_log_probabilities_or_with_another_limit_is_asked_as_it_likes(tmp_path, fields, kept):
    with endpoints.serving(endpoints.without(*fields)) as server:
        (run,) = ask(server, tmp_path, concurrency=1)
    assert kept <= set(server.bodies[-1])
    assert not set(fields) & set(server.bodies[-1])
    assert len(rows(run)) == ALL
    assert {row["yes"] is None for row in rows(run)} == {"logprobs" in fields}


def test_an_answer_without_text_or_counts_is_kept_as_empty(tmp_path):
    with endpoints.serving(endpoints.strange) as server:
        (run,) = ask(server, tmp_path)
    assert {(row["text"], row["opening"], row["finish"], row["yes"]) for row in rows(run)} == {("", None, None, None)}
    assert run.info["tokens"] == {"prompt": 0, "answer": 0, "uncounted_answers": ALL}


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_requests_than_allowed_are_open_at_once(tmp_path, concurrency):
    counts = []  # of requests that wait for an answer; the server's own count includes those that were just answered
    together = threading.Barrier(concurrency)  # nobody is answered before so many wait

    def slow(handler: endpoints.Handler, body: dict[str, object]) -> None:
        with server.lock:
            counts.append(counts[-1] + 1 if counts else 1)
        together.wait()
        with server.lock:
            counts.append(counts[-1] - 1)
        endpoints.good(handler, body)

    with endpoints.serving(slow) as server:
        ask(server, tmp_path, concurrency=concurrency)
    assert max(counts) == concurrency


def test_when_one_gives_up_the_others_finish_what_they_began(tmp_path, monkeypatch):
    gave_up = threading.Event()

    class Noticed(IsoglossError):
        def __init__(self, message: str) -> None:
            super().__init__(message)
            gave_up.set()

    def reply(handler: endpoints.Handler, body: dict[str, object]) -> None:
        if body == handler.server.bodies[0]:
            endpoints.status(401)(handler, body)
        else:
            gave_up.wait()
            endpoints.good(handler, body)

    monkeypatch.setattr("isogloss.models.server_connection.IsoglossError", Noticed)
    _, server = failure(reply, tmp_path, concurrency=3)
    assert len(server.bodies) == 3
    assert len(next(tmp_path.rglob(JOURNAL)).read_text(encoding="utf-8").splitlines()) == 2


def test_samples_have_seeds_of_their_own_which_do_not_change(tmp_path):
    settings = AskSettings(samples=2, temperature=0.7, seed=3)
    seeds = []
    for folder in ("a", "b"):
        with endpoints.serving(endpoints.good) as server:
            ask(server, tmp_path / folder, settings=settings)
        seeds.append(sorted(body["seed"] for body in server.bodies))
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 2 * ALL


# ---- waiting


def test_retry_after_is_honoured_as_seconds(tmp_path, monkeypatch):
    waits, sleep = [], asyncio.sleep

    async def pass_at_once(seconds: float) -> None:
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", pass_at_once)
    with endpoints.serving(endpoints.first(1, endpoints.status(429, Retry_After="100"))) as server:
        ask(server, tmp_path, concurrency=1)
    assert len(server.bodies) == ALL + 1
    (wait,) = filter(None, waits)
    assert 100 <= wait <= 110


def test_too_long_a_wait_is_told_instead(tmp_path):
    reply = endpoints.status(429, Retry_After="3600")
    message, server = failure(reply, tmp_path, concurrency=1)
    assert message.startswith("URL was asked once and gave no answer: it answered 429 and asks to wait 3")
    assert len(server.bodies) == 1


NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("nan", None),
        ("soon", None),
        ("", None),
        (None, None),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90),
        (format_datetime(NOW - timedelta(seconds=90), usegmt=True), 0),
        ("Tue, 01 Jan 2030 12:00:30 -0000", 30),
    ],
)
def test_retry_after_may_be_seconds_or_a_date(header, seconds):
    assert asked_wait(header, now=NOW) == seconds


def test_waits_double_with_jitter_and_are_never_shorter_than_asked_for():
    draw, policy = random.Random(0), RetryPolicy(first=1, longest=30)
    for turn in range(8):
        waits = [next_wait(policy, turn, asked=None, draw=draw) for _ in range(50)]
        top = min(30, 2**turn)
        assert top / 2 <= min(waits) < max(waits) <= top
    asked = [next_wait(policy, 0, asked=20, draw=draw) for _ in range(50)]
    assert 20 <= min(asked) < max(asked) <= 22


def test_a_fresh_run_keeps_nothing_also_where_items_share_a_statement(tmp_path):
    first = item("a")
    again = replace(first, id="a2", candidates=tuple(replace(one, id=f"{one.id}-2") for one in first.candidates))
    shares = []
    with endpoints.serving(endpoints.good) as server:
        told = lambda label, share, **_: shares.append(share)  # noqa: E731
        ask(server, tmp_path, items=Items((first, again)), progress=told)
    assert (shares[0], shares[-1]) == (0, 1)
