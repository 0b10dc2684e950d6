"""Chat runs in a report: prompts, endpoint, tokens and cost, and every answer in the explorer."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isogloss.cli import app
from support import endpoints


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("chat")
    words = ["--data", "shades_demo", "-l", "en", "--limit", "2", "--served-model", "chatty", "--prices", "2,10"]
    with endpoints.serving(endpoints.good) as server:
        asked = CliRunner().invoke(app, ["ask", server.url, *words, "--out", str(folder / "runs")])
    assert asked.exit_code == 0, asked.output
    written = CliRunner().invoke(app, ["report", str(folder / "runs"), "--out", str(folder / "report.html")])
    assert written.exit_code == 0, written.output
    return Path(folder / "report.html").read_text(encoding="utf-8")


def items_of(page: str) -> list[dict]:
    packed = re.search(r'id="explorer-data">(.*?)</script>', page, re.DOTALL)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))["items"]


def test_a_chat_report_has_endpoint_tokens_and_cost(page):
    cost = (12 * 20 * 2 + 12 * 2 * 10) / 1e6
    assert re.search(r"chatty: endpoint http://127[^;]*; 12 requests, 240 prompt and 24 answer tokens, ", page)
    assert f"cost {cost:.4g} at the prices of the run" in page
    assert "Is it a stereotype?" in page


def test_every_answer_is_in_the_explorer(page):
    answers = [answer for item in items_of(page) for answer in item["a"][0]]
    assert len(answers) == 12
    assert {answer[0] for answer in answers} == {
        f"{prompt}, {order}" for prompt in ("stereotype", "agree", "disagree") for order in ("yes-no", "no-yes")
    }
    assert "explorer-verdict" in page


def test_only_the_statement_that_was_asked_about_is_shown(page):
    assert all(item["s"][0] and item["s"][1:] == [None, None] for item in items_of(page))


def test_a_report_of_answers_alone_speaks_of_no_gap_and_no_neutral_value(page):
    assert '<input type="hidden" id="explorer-order" value="most">' in page
    assert "The gap is the stereotype" not in page
    assert "the field stays pale" not in page
