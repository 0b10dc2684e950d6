"""One run in every output: the same numbers everywhere, and LaTeX that compiles."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import isogloss as ig
from isogloss.web.settings import ServerSettings
from support.reports import neutral_items, write_run
from support.websites import client_of

CLAIMS = """title: Limits
claims:
  - name: near 50
    says: ss = 50 ± 5
  - name: "100 % & more_"
    says: lms(en) >= 60
"""
DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}\usepackage{booktabs}\usepackage[a4paper,landscape,margin=1.5cm]{geometry}
\begin{document}
%s
\end{document}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two models in three languages; LaTeX must not read one of the names."""
    root = tmp_path_factory.mktemp("outputs") / "study"
    for index, model in enumerate(("one", "b_50%#")):
        for number, language in enumerate(("en", "de", "fa")):
            write_run(root, neutral_items(language), model=model, wins=19 - 5 * number - index)
    return root


def plain(text: str) -> str:
    """A text without the marks of HTML and LaTeX between a value and its interval."""
    for mark in ('<span class="quiet">', "</span>", "<td", ">"):
        text = text.replace(mark, "")
    return text


@pytest.mark.slow
def test_a_number_and_its_interval_are_the_same_in_every_output(command, folder, tmp_path):
    measures = ig.measure(ig.load(str(folder)), metrics="ss")
    known = [(one.value, one.low, one.high) for one in measures]
    exact = {tuple(map(str, one)) for one in known}

    def show(name: str, form: str) -> str:
        return command(name, str(folder), "--metrics", "ss", "--format", form)[1]

    for name in ("measure", "table"):
        rows = list(csv.DictReader(io.StringIO(show(name, "csv"))))
        assert {(row["value"], row["low"], row["high"]) for row in rows} == exact
    rows = json.loads(show("measure", "json"))["measures"]
    assert [(row["value"], row["low"], row["high"]) for row in rows] == known
    page = ig.report(str(folder), out=tmp_path / "report.html").read_text(encoding="utf-8")
    client = client_of(ServerSettings(folder.parent))
    study, start = plain(client.get("/runs/study").text), client.get("/").text
    terminal, latex, markdown = (show("measure", form) for form in ("text", "latex", "markdown"))
    papers = show("table", "markdown")
    notebook = measures._repr_html_()
    for value, low, high in known:
        whole = f"{value:.2f} [{low:.2f}, {high:.2f}]"
        assert all(whole in text for text in (terminal, latex, markdown, notebook, page)), whole
        assert f"{value:.2f} {low:.2f} to {high:.2f}" in study
        assert re.search(rf"{value:.2f} \([-\d]+\)<br>\[{low:.1f}, {high:.1f}\]", papers)  # the rank stands between
        assert all(f"({value:.1f}, {low:.1f} to {high:.1f})" in text for text in (terminal, study, start))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_all_latex_compiles_and_fits_on_the_page(command, folder, tmp_path):
    (tmp_path / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    commands = [
        ("measure", str(folder)),
        ("compare", str(folder), "--a", "language=en", "--b", "language=de"),
        ("gate", str(folder), "--claims", str(tmp_path / "claims.yaml")),
        ("table", str(folder)),
        ("table", str(folder), "--no-intervals", "--metrics", "ss"),
    ]
    texts = [command(*one, "--format", "latex")[1] for one in commands]
    (tmp_path / "all.tex").write_text(DOCUMENT % "\n\\clearpage\n".join(texts), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert [line for line in done.stdout.splitlines() if "Missing character" in line or "Overfull" in line] == []
