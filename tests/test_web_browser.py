"""The local page in a real browser: probe, evaluate, watch, stop, resume, check; for everybody, and on this machine alone."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from isogloss.cli import app
from isogloss.studies.probe import ProbeRequest, run_probe
from isogloss.web.job_process import LOCK
from isogloss.web.jobs import FOLDER
from support.browser import Seen, browser, findings, watch
from support.builders import write_jsonl
from support.reports import THINGS, WORDS, write_runs
from support.websites import save_models, served

pytestmark = pytest.mark.slow
__all__ = ["browser"]

PAGES = ("/", "/runs/plain", "/compare", "/probe", "/evaluate", "/check", "/languages")
PATIENCE = 240_000  # milliseconds; the machine may be busy


def rows(language: str, count: int, *, words: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
    """Neutral rows in our layout."""
    form, things, own = WORDS[language]
    found = []
    for n in range(count):
        thing = things[n % len(things)]
        pairs = zip(("stereotype", "anti-stereotype", "unrelated"), words or own, strict=True)
        candidates = [
            {"id": f"{n}-{role}", "gold_label": role, "sentence": form.format(thing, word), "word": word}
            for role, word in pairs
        ]
        facts = {"id": f"{language}-{n}", "task": "intrasentence", "language": language, "bias_type": "things"}
        facts |= {"target": THINGS[n % len(THINGS)], "context": form.format(thing, "BLANK")}
        found.append({**facts, "candidates": candidates})
    return found


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    return save_models(tmp_path_factory.mktemp("models"), "gpt2")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "runs"
    write_runs(folder / "plain", models=("one", "two"))
    return folder


@pytest.fixture(scope="module")
def address(root: Path, models: tuple[str, ...]) -> Iterator[str]:
    with served(root, models) as found:
        yield found


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Any]:
    contexts, pages = [], []

    def open_one(path: str, *, width: int = 1280, scheme: str = "light", **options: Any) -> Seen:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, accept_downloads=True, **options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        seen = watch(context.new_page())
        pages.append(seen)
        seen.page.goto(address + path)
        return seen

    yield open_one
    for context in contexts:
        context.close()
    for seen in pages:  # after every test: nothing was said, and nothing left the machine
        assert seen.said == []
        assert [url for url in seen.asked if not url.startswith(address)] == []


@pytest.fixture(scope="module")
def persian_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "mine_fa.jsonl"
    return write_jsonl(path, rows("fa", 6, words=("سبز", "سبز", "هفت")))


def test_a_probe_shows_its_bars_without_a_new_page(open_page, models):
    page = open_page("/probe").page
    page.evaluate("window.stays = true")
    page.fill("#template", "The [nurse|doctor] is kind.")
    page.focus("#terms")
    page.keyboard.press("Enter")
    page.wait_for_selector(".bars li")
    shares = run_probe(models[0], ProbeRequest("The [nurse|doctor] is kind.")).shares
    assert page.locator(".bars .share").all_inner_texts() == [f"{100 * one.share:.1f} %" for one in shares]
    assert page.locator(".bars .term").all_inner_texts() == [one.term for one in shares]
    widths = [page.locator(".filled").nth(n).bounding_box()["width"] for n in range(2)]
    assert widths[0] / widths[1] == pytest.approx(shares[0].share / shares[1].share, rel=0.05)
    assert page.evaluate("window.stays") is True
    assert findings(page) == []


def test_a_probe_works_without_scripts(open_page):
    page = open_page("/probe", java_script_enabled=False).page
    page.fill("#template", "The [nurse|doctor] is kind.")
    page.click("main form button")
    assert page.locator(".bars li").count() == 2


def test_persian_is_probed_from_right_to_left(open_page):
    page = open_page("/probe").page
    page.fill("#template", "[پرستار|پزشک] مهربان است.")
    page.select_option("#language", "fa")
    assert page.evaluate("getComputedStyle(document.querySelector('#template')).direction") == "rtl"
    page.click("main form button")
    page.wait_for_selector(".bars[dir=rtl] li")
    term, share = (page.locator(f".bars .{name}").first.bounding_box() for name in ("term", "share"))
    assert term["x"] > share["x"]
    assert findings(page) == []


def test_an_evaluation_is_watched_stopped_resumed_and_equals_the_command_line(open_page, root, tmp_path):
    data = write_jsonl(tmp_path / "mine_en.jsonl", rows("en", 4000))
    page = open_page("/check").page
    page.set_input_files("#file", str(data))
    page.click("main form button")
    page.click("text=Evaluate a model on it")
    page.fill("#name", "watched")
    page.select_option("#method", "likelihood")
    page.check("input[name=language][value=en]")
    page.click("text=Start")
    page.wait_for_selector(".state.running")
    while not list(root.glob("watched/gpt2/*/part-*.parquet")):
        time.sleep(0.01)
    process = int((root / "watched" / FOLDER / LOCK).read_text(encoding="utf-8"))
    os.kill(process, signal.SIGSTOP)  # the small model would finish before the page can be clicked
    try:
        page.click("text=Stop")
    finally:
        os.kill(process, signal.SIGCONT)
    page.wait_for_selector(".state.stopped")
    kept = sorted(root.glob("watched/gpt2/*/part-*.parquet"))
    run = json.loads(next(root.glob("watched/gpt2/*/run.json")).read_text(encoding="utf-8"))
    assert 0 < len(kept) < run["parts"]
    times = {path: path.stat().st_mtime_ns for path in kept}
    page.reload()
    assert page.inner_text(".state") == "stopped"
    page.click("text=Resume")
    page.wait_for_selector(".state.finished")
    assert {path: path.stat().st_mtime_ns for path in kept} == times  # nothing was scored twice
    assert page.locator("table caption").inner_text().startswith("Measures")
    with page.expect_download() as caught:
        page.click("text=Download the study file")
    caught.value.save_as(tmp_path / "study.yaml")
    done = CliRunner().invoke(app, ["run", str(tmp_path / "study.yaml"), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0
    ours, theirs = ((folder / "measures.json").read_text("utf-8") for folder in (root / "watched", tmp_path / "out"))
    assert json.loads(ours) == json.loads(theirs)
    assert findings(page) == []
    page.click("text=Open the report")
    page.wait_for_selector("svg")


def test_problems_are_seen_after_the_warning_and_the_sheet_is_downloaded(open_page, persian_file):
    page = open_page("/check").page
    page.set_input_files("#file", str(persian_file))
    page.click("main form button")
    assert page.locator(".items").is_hidden()
    page.locator(".rows > summary").focus()
    page.keyboard.press("Enter")
    row = page.locator(".items [lang=fa]").first
    assert row.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert "درخت" in row.inner_text()
    assert findings(page) == []
    with page.expect_download() as caught:
        page.click("text=XLSX")
    assert Path(caught.value.path()).read_bytes().startswith(b"PK")


def test_a_run_is_deleted_and_brought_back(open_page):
    page = open_page("/runs/plain").page
    before = page.locator("tbody tr").count()
    page.locator("td button").first.click()
    page.click("text=Undo")
    page.goto(page.url.rstrip("/") + "/runs/plain")
    assert page.locator("tbody tr").count() == before
    page.click("text=Compare A and B")
    assert page.locator("tbody tr").count() > 2


def test_the_report_runs_in_its_sandbox(open_page):
    page = open_page("/runs/plain").page
    page.click("text=Make")
    page.wait_for_selector("svg")
    assert page.evaluate("self.origin") == "null"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_serious_on_any_page(open_page, address, scheme, width):
    page = open_page("/", width=width, scheme=scheme).page
    for path in PAGES:
        page.goto(address + path)
        assert findings(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(e => Number(e.tagName[1]))")
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))


def test_everything_can_be_reached_by_keyboard(open_page):
    page = open_page("/probe").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the page"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen = []
    for _ in range(5):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert seen == ["template", "model", "language", "terms", "BUTTON"]
