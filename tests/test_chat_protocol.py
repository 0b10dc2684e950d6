"""Odd and hostile values in an endpoint's response: read rightly or refused in one sentence, never stored as numbers."""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support import endpoints

SECRET = "sk-very-secret"
Command = Callable[..., tuple[int, str, str]]


def replying(content: Any = "No.", *, tops: Any = None, usage: Any = None, **more: Any) -> endpoints.Reply:
    """An endpoint whose every answer has these values."""
    choice: dict[str, Any] = {"message": {"content": content}, "finish_reason": "stop", **more}
    if tops is not None:
        choice["logprobs"] = {"content": [{"token": "No", "top_logprobs": tops}]}
    body = json.dumps({"choices": [choice], "usage": usage}).encode()
    return lambda handler, asked: handler.send(body)


def ask(
    command: Command, reply: endpoints.Reply, out: Path, *more: str, limits: tuple[str, ...] = (), model: str = "chatty"
) -> tuple[int, str, str, int]:
    with endpoints.serving(reply) as server:
        words = (
            "ask",
            server.url,
            "--served-model",
            model,
            "--data",
            "demo",
            "-l",
            "en",
            "--limit",
            "2",
            "--option",
            "order=yes-no",
            "--format",
            "json",
        )
        found = command(*words, "--tries", 1, *limits, "--out", out, *more)
        return *(part.replace(server.url, "URL") if isinstance(part, str) else part for part in found), len(
            server.bodies
        )  # type: ignore[return-value]


def stored(out: Path) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(path) for path in sorted(out.rglob("part-*.parquet"))])


def tops(yes: object, no: object) -> list[dict[str, object]]:
    return [{"token": "Yes", "logprob": yes}, {"token": "No", "logprob": no}]


@pytest.mark.parametrize(
    "listed",
    [
        tops(math.nan, -1.0),
        tops(5.0, -1.0),
        tops(math.inf, -1.0),
        tops(0.0, 0.0),
        tops(True, -1.0),
        tops("-1", -1.0),
        tops(-(10**400), -1.0),
        ["a"],
        [None],
        [[]],
        {"token": "Yes"},
    ],
    ids=str,
)
def test_log_probabilities_that_are_none_are_not_stored(command, tmp_path, listed):
    status, out, error, _ = ask(command, replying(tops=listed), tmp_path)
    assert status == 0, error
    assert stored(tmp_path)["yes"].to_list() == [None] * 12
    assert "recognition_probability" not in {row["metric"] for row in json.loads(out)["measures"]}


def test_a_log_probability_a_rounding_error_above_zero_is_read_as_zero(command, tmp_path):
    assert ask(command, replying(tops=tops(-8.0, 1e-6)), tmp_path)[0] == 0
    assert set(stored(tmp_path)["no"]) == {0.0}
    assert set(stored(tmp_path)["yes"]) == {-8.0}


@pytest.mark.parametrize("count", [10**30, 2**62, -1, 1.5, "20", True, None], ids=str)
def test_token_counts_that_cannot_be_are_uncounted_and_no_total_wraps(command, tmp_path, count):
    usage = {"prompt_tokens": count, "completion_tokens": count}
    status, _, error, _ = ask(command, replying(usage=usage), tmp_path)
    assert status == 0, error
    assert "12 answers, 0 prompt and 0 answer tokens, 12 answers uncounted" in error


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "Yes"}, {"type": "text", "text": ", indeed."}], "Yes, indeed."),
        ([{"type": "reasoning", "content": "hm"}, {"type": "text", "text": "No."}], "No."),
        (["Yes", "."], "Yes."),
        ([], ""),
        (None, ""),
        ("Yes \ud83d", "Yes \ufffd"),
        ("\ud83d\ude00 Yes", "\U0001f600 Yes"),
    ],
    ids=["pieces", "reasoning", "texts", "no-pieces", "null", "half-surrogate", "surrogates"],
)
def test_content_is_read_in_every_form_that_endpoints_use(command, tmp_path, content, text):
    status, _, error, _ = ask(command, replying(content), tmp_path)
    assert status == 0, error
    assert set(stored(tmp_path)["text"]) == {text}


@pytest.mark.parametrize("content", [5, {"text": "Yes"}, [5], True])
def test_content_that_is_no_text_is_refused_in_one_sentence(command, tmp_path, content):
    status, _, error, _ = ask(command, replying(content), tmp_path, limits=("--concurrency", "1"))
    assert (status, error) == (
        2,
        "Error: URL was asked once and gave no answer: it sent an answer that is not text. "
        "What was answered is kept; run the same command again to resume.\n",
    )


def test_odd_tokens_and_finish_reasons_do_not_stop_anything(command, tmp_path):
    logprobs = {"content": [{"token": 5, "top_logprobs": 7}, {"token": "a\udc00"}, None]}
    reply = replying(logprobs=logprobs, finish_reason={"why": "\ud83d"})
    assert ask(command, reply, tmp_path)[0] == 0
    assert set(stored(tmp_path)["opening"]) == {"a\ufffd"}
    assert stored(tmp_path)["finish"].null_count() == 12


@pytest.mark.parametrize(
    ("text", "tokens", "opening"),
    [
        ("No.", ["No", ".", "<|im_end|>"], "No."),
        ("", ["<|im_end|>"], ""),
        ("No, it is one of ten words and more.", [*"No, it is ", "one", "<|im_end|>"], "No, it is"),
    ],
)
def test_the_token_that_ends_an_answer_is_not_in_its_opening(command, tmp_path, text, tokens, opening):
    logprobs = {"content": [{"token": token} for token in tokens]}
    assert ask(command, replying(text, logprobs=logprobs), tmp_path)[0] == 0
    assert set(stored(tmp_path)["opening"]) == {opening}


LINES = ('{"key": [], "reply": 5}', "[]", "5", '{"key": "a"}', '{"key": "a", "reply": {"text": "a"}}')


@pytest.mark.parametrize(
    "change",
    [
        {"text": 5},
        {"text": None},
        {"finish": []},
        {"prompt_tokens": 10**30},
        {"answer_tokens": -4},
        {"logprobs": ["high"]},
        {"logprobs": [math.nan]},
        {"text": "\ud83d"},
        {"opening": [1]},
        {"extra": 1},
    ],
    ids=str,
)
def test_a_journal_line_of_other_types_is_passed_over_and_asked_again(command, tmp_path, change):
    words = ("--served-model", "chatty", "--data", "demo", "-l", "en", "--limit", "2", "--option", "order=yes-no")
    with endpoints.serving(endpoints.after(5, endpoints.status(500))) as server:
        words = ("ask", server.url, *words, "--tries", 1, "--concurrency", 1, "--out", tmp_path)
        assert command(*words)[0] == 2
        (journal,) = tmp_path.rglob("journal.jsonl")
        first, *rest = journal.read_text(encoding="utf-8").splitlines()
        entry = json.loads(first)
        changed = entry | {"reply": entry["reply"] | change}
        journal.write_text("\n".join([json.dumps(changed), *rest, *LINES]), encoding="utf-8")
        server.reply = endpoints.good
        server.bodies.clear()
        status, _, error = command(*words)
    assert status == 0, error
    assert len(server.bodies) == 12 - 4
    assert stored(tmp_path).height == 12


def _endless(packed: bool) -> endpoints.Reply:
    def reply(handler: endpoints.Handler, body: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Connection", "close")
        if packed:
            handler.send_header("Content-Encoding", "gzip")
        handler.end_headers()
        block = gzip.compress(b" " * 40_000_000) if packed else b" " * 1_000_000
        try:
            for _ in range(1 if packed else 100):
                handler.wfile.write(block)
        except OSError:
            return

    return reply


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_an_endless_body_is_cut_off_and_told_in_one_sentence(command, tmp_path, packed):
    status, _, error, asked = ask(command, _endless(packed), tmp_path, limits=("--concurrency", "1"))
    assert (status, asked) == (2, 1)
    assert error == (
        "Error: URL sent more than 16 MB for one answer. Check the address. "
        "What was answered is kept; run the same command again to resume.\n"
    )


def _packed(how: str, broken: bool = False) -> endpoints.Reply:
    def reply(handler: endpoints.Handler, body: dict[str, Any]) -> None:
        content = gzip.compress(json.dumps({"choices": [{"message": {"content": "Yes"}}]}).encode())
        handler.send(content[:-12] if broken else content, Content_Encoding=how)

    return reply


def test_a_packed_body_is_unpacked(command, tmp_path):
    assert ask(command, _packed("gzip"), tmp_path)[0] == 0
    assert set(stored(tmp_path)["text"]) == {"Yes"}


@pytest.mark.parametrize(("how", "broken"), [("br", False), ("gzip", True)])
def test_a_body_that_cannot_be_unpacked_is_told_in_one_sentence(command, tmp_path, how, broken):
    status, _, error, _ = ask(command, _packed(how, broken), tmp_path, limits=("--concurrency", "1"))
    assert status == 2
    assert f"gave no answer: it sent a response packed as '{how}' that cannot be unpacked." in error


def test_the_key_in_an_answer_is_masked_before_it_is_stored(command, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", SECRET)
    reply = replying(f"Yes. {SECRET} is your key.", logprobs={"content": [{"token": SECRET}]})
    assert ask(command, reply, tmp_path, "--key-env", "MY_KEY")[0] == 0
    assert set(stored(tmp_path)["text"]) == {"Yes. [key] is your key."}
    assert set(stored(tmp_path)["opening"]) == {"[key]"}


def test_an_error_s_text_reaches_the_terminal_without_control_characters(command, tmp_path):
    def reply(handler: endpoints.Handler, body: dict[str, Any]) -> None:
        handler.send(json.dumps({"error": "bad\x1b]0;pwn\x07 \u202etxt\x9b2J\nend"}).encode(), code=418)

    status, _, error, _ = ask(command, reply, tmp_path, limits=("--concurrency", "1"))
    assert status == 2
    assert "(bad\ufffd]0;pwn\ufffd \ufffdtxt\ufffd2J end)" in error


@pytest.mark.parametrize("asked", ["1e308", "inf", "99999999999"])
def test_a_wait_that_never_ends_is_told_in_few_digits(command, tmp_path, asked):
    reply = endpoints.status(429, Retry_After=asked)
    status, _, error, count = ask(command, reply, tmp_path, limits=("--concurrency", "1", "--tries", "3"))
    assert (status, count) == (2, 1)
    assert "it answered 429 and asks to wait more than 86400 seconds. What" in error


def test_names_of_a_run_reach_the_terminal_without_control_characters(command, tmp_path, monkeypatch):
    assert ask(command, replying(), tmp_path, model="chat\x1b]0;pwn\x07\u202ety")[0] == 0
    piped = command("measure", tmp_path, "--format", "json")[1]
    assert "\u202e" in piped
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    status, out, error = command("measure", tmp_path)
    assert status == 0, error
    assert "chat\ufffd]0;pwn\ufffd\ufffdty" in out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)
