"""The HTML report in a real browser: nothing goes wrong, nothing goes out, and everybody can use it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from isogloss.analysis.intervals import IntervalSettings
from isogloss.analysis.study import load_study
from isogloss.reports.page.added_files import read_extras
from isogloss.reports.page.document import write_report
from support.browser import Seen, browser, findings, watch
from support.reports import write_runs

pytestmark = pytest.mark.slow
__all__ = ["browser"]

SHARES = """model,language,set,concept,term,share
m,en,work,nurse,women,0.7
m,en,work,nurse,men,0.3
m,fa,work,nurse,women,0.6
m,fa,work,nurse,men,0.4
n,en,work,nurse,women,0.5
n,en,work,nurse,men,0.5
"""
ANSWERS = """model,language,prompt,verdict,share
chat,en,agree?,yes,0.25
chat,en,agree?,no,0.75
chat,fa,agree?,yes,0.5
chat,fa,agree?,none,0.5
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "shares.csv").write_text(SHARES, encoding="utf-8")
    (folder / "answers.csv").write_text(ANSWERS, encoding="utf-8")
    runs = write_runs(folder / "runs", region=("Iran", "Japan"))
    extras = read_extras([folder / "shares.csv", folder / "answers.csv"])
    return write_report(
        load_study(runs, texts=True), folder / "report.html", extras=extras, settings=IntervalSettings(resamples=200)
    )


@pytest.fixture
def open_page(browser: Any, report: Path) -> Iterator[Any]:
    contexts = []

    def open_one(*, width: int = 1280, scheme: str = "light") -> Seen:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        seen = watch(context.new_page())
        seen.page.goto(report.as_uri())
        return seen

    yield open_one
    for context in contexts:
        context.close()


def colour(page: Any, query: str, name: str) -> tuple[int, ...]:
    text = page.evaluate(f"getComputedStyle(document.querySelector('{query}')).{name}")
    return tuple(int(part) for part in text[text.index("(") + 1 : -1].split(",")[:3])


def test_nothing_is_said_on_the_console_and_nothing_leaves_the_machine(open_page, report):
    seen = open_page()
    seen.page.click("#explorer-agree")
    seen.page.wait_for_selector("#explorer-list li")
    seen.page.click("#theme")
    assert seen.said == []
    assert seen.asked == [report.as_uri()]


def test_every_chart_is_drawn(open_page):
    page = open_page().page
    for width, drawn in ((1280, ":last-child"), (390, ":first-child")):
        page.set_viewport_size({"width": width, "height": 900})
        pictures = page.locator(f"figure.chart .pictures.both:visible .plot{drawn}").all()
        assert len(pictures) >= 5
        assert all(picture.bounding_box()["width"] > 0.6 * min(width, 1000) - 60 for picture in pictures)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_serious(open_page, scheme, width):
    page = open_page(width=width, scheme=scheme).page
    assert findings(page) == []
    page.click("#explorer-agree")
    page.wait_for_selector("#explorer-list li")
    for summary in page.locator("summary:visible").all():
        summary.click()
    assert findings(page) == []


def test_sentences_come_only_after_the_reader_agrees(open_page):
    page = open_page().page
    assert "The tree is green today." not in page.inner_text("body")
    assert "The tree is green today." not in str(page.locator("body").aria_snapshot())
    assert page.locator("#explorer-list li").count() == 0
    page.click("#explorer-agree")
    page.wait_for_selector("#explorer-list li")
    assert page.locator("#explorer-list li").count() == 20
    assert page.evaluate("document.activeElement.id") == "explorer-search"
    page.click("#explorer-hide")
    assert page.locator("#explorer-list li").count() == 0
    assert page.evaluate("document.activeElement.id") == "explorer-agree"


def test_the_explorer_searches_filters_and_sorts(open_page):
    page = open_page().page
    page.click("#explorer-agree")
    page.wait_for_selector("#explorer-list li")
    page.fill("#explorer-search", "TREE green")
    assert page.inner_text("#explorer-count") == "2 items found, 2 shown"
    page.fill("#explorer-search", "")
    page.select_option("#explorer-language", "fa")
    assert page.inner_text("#explorer-count") == "24 items found, 20 shown"
    page.click("#explorer-more")
    assert page.locator("#explorer-list li").count() == 24

    def read_gap(text: str) -> float:
        return float(text.split(":")[0].removeprefix("Gap ").removesuffix(" nats"))

    gaps = [read_gap(text) for text in page.locator(".gap").all_inner_texts()]
    assert gaps == sorted(gaps, reverse=True)
    page.select_option("#explorer-order", "least")
    assert read_gap(page.locator(".gap").first.inner_text()) == min(gaps)
    page.fill("#explorer-search", "no such words")
    assert page.inner_text("#explorer-count") == "0 items found, 0 shown"


def test_the_switch_works_by_keyboard(open_page):
    page = open_page().page
    shown = page.locator("#heatmap [data-view]:not([hidden])")
    assert shown.get_attribute("data-view") == "SS|all"
    page.focus("#heatmap input[value=SS]")
    page.keyboard.press("ArrowRight")
    assert shown.get_attribute("data-view") == "LMS|all"
    assert shown.count() == 1


def test_a_choice_changes_the_chart_and_its_table(open_page):
    page = open_page().page
    page.locator("#shares .switch label", has_text="n, work").click()
    page.click("#shares summary:visible")
    assert page.locator("#shares tbody tr:visible").all_inner_texts() == [
        "English (en)\tnurse\twomen\t50.0 %",
        "English (en)\tnurse\tmen\t50.0 %",
    ]


def test_a_mark_has_a_tooltip(open_page):
    page = open_page().page
    titles = page.locator("#plane .plot:last-child title").all_text_contents()
    assert any(title.startswith("one, English (en): SS ") for title in titles)


def test_dark_and_light_follow_the_system_and_the_button(open_page):
    page = open_page(scheme="dark").page
    assert max(colour(page, "body", "backgroundColor")) < 60
    assert min(colour(page, ".plot:last-child text", "fill")) > 180
    page.click("#theme")
    assert min(colour(page, "body", "backgroundColor")) > 240
    assert page.inner_text("#theme") == "Theme: light"
    page.click("#theme")
    assert max(colour(page, "body", "backgroundColor")) < 60


def test_paper_is_white_and_holds_no_buttons(open_page):
    page = open_page(scheme="dark").page
    page.emulate_media(media="print")
    assert min(colour(page, "body", "backgroundColor")) > 240
    assert page.locator("nav, #theme, #explorer").filter(visible=True).count() == 0
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_a_phone_needs_no_sideways_scrolling(open_page):
    page = open_page(width=390).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_persian_runs_from_right_to_left_and_charts_do_not(open_page):
    page = open_page().page
    page.click("#explorer-agree")
    page.wait_for_selector("#explorer-list li")
    page.select_option("#explorer-language", "fa")
    first = page.locator("#explorer-list dd").first
    assert (first.get_attribute("lang"), first.evaluate("e => getComputedStyle(e).direction")) == ("fa", "rtl")
    page.select_option("#explorer-language", "ja")
    assert first.evaluate("e => getComputedStyle(e).direction") == "ltr"
    assert page.evaluate("getComputedStyle(document.querySelector('.pictures')).direction") == "ltr"


def test_headings_and_landmarks_are_in_order(open_page):
    page = open_page().page
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(e => Number(e.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.locator("main").count() == page.locator("header").count() == page.locator("footer").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
