"""Templates from a corpus, forms from inflectors: sheets for review, and nothing used by itself."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isogloss.cli import app
from isogloss.errors import BadData, UnknownName
from isogloss.templates.lexicon import read_lexicon
from isogloss.templates.mining import mine_corpus

CORPUS = """The women went to the market in town.
A man and a woman sat down there.
Many men like (cold) tea a lot.
Many women like (cold) tea a lot.
A human is not meant here today.
short men
"""


@pytest.fixture
def corpus(tmp_path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(CORPUS, encoding="utf-8")
    return path


def run(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_sentences_with_exactly_one_term_become_templates_each_once(corpus):
    found = mine_corpus(corpus, read_lexicon("en"), category="gender")
    assert [str(one.template) for one in found.rows] == [
        "The {gender:pl} went to the market in town.",
        "Many {gender:pl} like \\(cold\\) tea a lot.",
    ]
    assert (found.lines, found.without, found.several) == (6, 1, 1)
    assert found.rows[0].examples == ("The men went to the market in town.", "The women went to the market in town.")


def test_an_article_before_the_term_agrees_and_settles_the_case(tmp_path):
    path = tmp_path / "el.txt"
    path.write_text("Είδα τη γυναίκα στον δρόμο χθες.\nΕίδα τον άντρα στον δρόμο χθες.\n", encoding="utf-8")
    found = mine_corpus(path, read_lexicon("el"), category="gender")
    template = str(found.rows[-1].template)
    assert template == "Είδα {ο~gender} {gender:sg acc} στον δρόμο χθες."
    assert [one.split()[1] for one in found.rows[-1].examples] == ["τον", "τη"]
    assert "should agree" in found.rows[-1].remark


def test_the_sheet_has_a_column_for_the_reviewer(corpus, tmp_path):
    out = tmp_path / "sheet.csv"
    shown = run("data", "build", "templates", corpus, "--category", "gender", "-l", "en", "-o", out)
    assert shown.exit_code == 0
    assert shown.output == f"Wrote 2 templates from 6 lines to {out}. Review them before use.\n"
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert (rows[0]["id"], rows[0]["keep"], rows[0]["term"], rows[0]["form"]) == ("m1", "", "woman", "pl")


def test_the_sheet_holds_no_formula(tmp_path):
    corpus, out = tmp_path / "corpus.txt", tmp_path / "sheet.csv"
    corpus.write_text("=HYPERLINK said the men in town today.\n", encoding="utf-8")
    assert run("data", "build", "templates", corpus, "--category", "gender", "-l", "en", "-o", out).exit_code == 0
    with out.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert "'=HYPERLINK said the men in town today." in cells
    assert not [cell for cell in cells if cell.startswith("=")]


def test_an_unknown_category_and_a_corpus_that_is_no_text_are_refused(corpus, tmp_path):
    with pytest.raises(UnknownName, match=r"No category in 'en' named 'gendr'\. Did you mean 'gender'"):
        mine_corpus(corpus, read_lexicon("en"), category="gendr")
    corpus.write_bytes(b"\xff\xfe\x00men")
    with pytest.raises(BadData, match="not a text in UTF-8"):
        mine_corpus(corpus, read_lexicon("en"), category="gender")
