"""The PDF summary: two pages with the numbers of the HTML report, in every script, and nothing left out in silence."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import isogloss as ig
from isogloss.analysis.intervals import IntervalSettings
from isogloss.analysis.study import load_study
from isogloss.reports.page import summary
from isogloss.reports.page.added_files import Extras
from isogloss.reports.page.data import PageData, measure_all
from isogloss.reports.page.summary import MOST, write_summary
from support.reports import write_runs

QUICK = IntervalSettings(resamples=200)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> PageData:
    return measure_all(
        load_study([str(write_runs(tmp_path_factory.mktemp("runs")))], texts=True), Extras(), settings=QUICK
    )


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is written on a page."""
    import matplotlib.figure

    texts: list[str] = []
    write = matplotlib.figure.Figure.text

    def record(figure, x, y, s, *arguments, **options):
        texts.append(s)
        return write(figure, x, y, s, *arguments, **options)

    monkeypatch.setattr(matplotlib.figure.Figure, "text", record)
    return texts


def pages(path: Path) -> int:
    return len(re.findall(rb"/Type /Page\b", path.read_bytes()))


def test_a_report_with_the_ending_pdf_has_two_pages(tmp_path: Path) -> None:
    runs = write_runs(tmp_path / "runs")
    path = ig.report(str(runs), tmp_path / "audit.pdf", resamples=200)
    assert pages(path) == 2
    assert path.read_bytes().startswith(b"%PDF")


def test_the_summary_has_the_values_of_the_report(data: PageData, tmp_path: Path, written: list[str]) -> None:
    write_summary(data, tmp_path / "audit.pdf", title="An audit")
    for row in data.overall:
        if row.metric == "ss" and "task" not in row.group:
            assert f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]" in written
    text = " ".join(written)
    assert "An audit" in text
    assert "shows no clear preference in English" in text
    assert "What the numbers do not mean" in text
    assert "describes these items" in text
    assert "isogloss" in text.lower()
    assert "1 / 2" in written
    assert "2 / 2" in written


def test_what_has_no_space_is_counted(data: PageData, tmp_path: Path, written: list[str]) -> None:
    many = replace(data, runs=data.runs * 4, problems=("A part of this run is broken.",))
    write_summary(many, tmp_path / "audit.pdf", title="An audit")
    count = len(many.runs) - MOST["runs"]
    assert f"The HTML report has the other {count} runs." in written
    assert "A part of this run is broken." in written


def test_a_full_page_says_so(data: PageData, tmp_path: Path, written: list[str]) -> None:
    write_summary(
        replace(data, problems=("A part of a run is broken. " * 60,) * 9), tmp_path / "audit.pdf", title="An audit"
    )
    assert "1 / 2 · This page is full; the HTML report has the rest." in written
    assert pages(tmp_path / "audit.pdf") == 2


def test_equal_data_gives_equal_bytes(data: PageData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "time", SimpleNamespace(gmtime=time.gmtime, strftime=lambda *_: "2026-11-01"))
    first, second = (write_summary(data, tmp_path / name, title="An audit").read_bytes() for name in ("a.pdf", "b.pdf"))
    assert first == second


def test_a_remark_of_several_data_sets_is_written_once(data: PageData, tmp_path: Path, written: list[str]) -> None:
    other = tuple(replace(row, group={**row.group, "dataset": "other"}) for row in data.overall)
    remarks = dict.fromkeys(("neutral", "other"), ("tiny: a remark",))
    both = replace(data, overall=(*data.overall, *other), remarks=remarks, categories=())
    write_summary(both, tmp_path / "audit.pdf", title="An audit")
    assert written.count("tiny: a remark") == 1
