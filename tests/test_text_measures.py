"""Tables: golden text, and nothing in a cell that breaks LaTeX, Markdown or HTML."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from isogloss import measure
from isogloss.analysis.measures import Measure, Measures
from isogloss.reports.numbers import number
from isogloss.reports.text.measures import (
    doubts,
    grid,
    measures_as_text,
    remarks,
)
from isogloss.reports.text.table import Grid, as_csv, as_html, as_latex, as_markdown, latex, latex_notes
from support.builders import score, score_many, triple


def row(metric="ss", group=None, *, value=62.5, low=50.0, high=75.0, why=None) -> Measure:
    return Measure(
        metric, group or {"model": "tiny"}, value, low, high, n=40, ties=1, clusters=12, mode="paper", why=why
    )


TWO = Measures(
    (
        row("lms", {"model": "tiny", "task": "intrasentence"}),
        row("ss", {"model": "tiny", "task": "intrasentence"}, low=None, high=None, why="9 clusters; too few"),
        row("lms", {"model": "tiny"}, value=100.0, low=100.0, high=100.0),
        row("ss", {"model": "tiny"}),
    ),
    {"unreadable": 2},
    ("one note",),
)


def test_the_text_shows_what_is_shared_once_and_what_must_be_said_below():
    assert measures_as_text(TWO) == (
        "model tiny\n"
        "\n"
        "task                               LMS                    SS   n  ties  clusters\n"
        "─────────────  ───────────────────────  ────────────────────  ──  ────  ────────\n"
        "intrasentence     62.50 [50.00, 75.00]                 62.50  40     1        12\n"
        "overall        100.00 [100.00, 100.00]  62.50 [50.00, 75.00]  40     1        12\n"
        "· 2 bad rows, left out\n"
        "· one note\n"
        "· no interval for SS: 9 clusters; too few"
    )


def test_the_finding_leads_and_unsupported_languages_are_one_remark():
    groups = [{"model": "tiny", "dataset": "d", "language": tag} for tag in ("de", "en", "fr")]
    notes = ("a note", *(f"tiny does not claim to know '{tag}', only en" for tag in ("de", "fr")))
    lines = str(Measures(tuple(row("ss", group, low=55.0) for group in groups), {}, notes)).splitlines()
    assert lines[0] == (
        "On d, tiny prefers stereotypes in English (62.5, 55.0 to 75.0), German (62.5, 55.0 to 75.0) "
        "and French (62.5, 55.0 to 75.0)."
    )
    assert lines[-2:] == ["· a note", "· * tiny does not claim to know 'de', 'fr', only en"]


def test_missing_intervals_that_differ_in_a_count_are_one_remark_that_names_the_data():
    reasons = [("ss", "a", "7 clusters; too few"), ("icat", "a", "1 cluster; too few"), ("ss", "b", None)]
    rows = tuple(row(metric, {"model": "m", "dataset": name}, why=why) for metric, name, why in reasons)
    remark = "no interval for SS, ICAT{}: 1 to 7 clusters; too few"
    assert remarks(Measures(rows, {}, ())) == [remark.format(" on a")]
    assert remarks(Measures(rows[:2], {}, ())) == [remark.format("")]


def test_each_data_set_has_a_table_of_its_metrics_and_remarks_stand_once():
    rows = [row(name, {"model": "m", "dataset": name, "language": "en"}) for name in ("ss", "contrast")]
    empty = [
        replace(one, metric=other.metric, value=None, low=None, high=None)
        for one, other in zip(rows, rows[::-1], strict=True)
    ]
    text = measures_as_text(Measures((rows[0], empty[0], rows[1], empty[1]), {}, ("a note",)))
    first, second = text.split("\n\n", 1)[1].split("\n\nmodel m")
    assert ("dataset ss", "contrast" in first, first.count("-")) == (first.split(" · ")[1], False, 0)
    assert second.startswith(" · dataset contrast")
    assert text.count("a note") == 1


def test_a_reason_that_all_doubts_share_is_given_once():
    weak = [
        replace(
            row("ss", {"model": "tiny", "dataset": "d", "language": tag}),
            interpretable=False,
            doubt="LMS 55.0, 50.0 to 60.0: its lower end is below 60",
        )
        for tag in ("de", "fr")
    ]
    assert doubts([*weak, replace(weak[0], group=weak[0].group | {"task": "intrasentence"})]) == [
        "† not interpretable: below our competence limit (every lower end is below 60): "
        "tiny, de: LMS 55.0, 50.0 to 60.0; tiny, fr: LMS 55.0, 50.0 to 60.0"
    ]


def test_metrics_that_do_not_fit_come_in_a_second_block():
    text = measures_as_text(TWO, width=60)
    assert text.count("clusters\n") == 2
    assert max(len(line) for line in text.splitlines()) <= 60


def test_printing_measures_prints_the_table():
    found = measure(score_many(4, clusters=2), metrics=["ss"])
    assert str(found) == measures_as_text(found)
    assert found._repr_html_() == as_html(grid(found))


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (row(), "62.50 [50.00, 75.00]"),
        (row(low=None, high=None), "62.50"),
        (row(value=None, low=None, high=None), "-"),
        (row(value=2 / 3, low=-0.001, high=100), "0.67 [-0.00, 100.00]"),
    ],
)
def test_a_number_has_two_decimals_and_its_interval(one, text):
    assert number(one) == text


def test_latex_is_escaped_and_has_one_column_letter_per_column():
    latex = as_latex(grid(Measures((row("icat_macro", {"model": r"a_b&50%{x}~^#$\z"}),), {})))
    assert latex == (
        "\\noindent\n\\begin{tabular}{lrrrr}\n"
        "\\toprule\n"
        "model & ICAT macro & n & ties & clusters \\\\\n"
        "\\midrule\n"
        "a\\_b\\&50\\%\\{x\\}\\textasciitilde{}\\textasciicircum{}\\#\\$\\textbackslash{}z"
        " & 62.50 [50.00, 75.00] & 40 & 1 & 12 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )


def test_markdown_has_a_rule_below_the_heading_and_escapes_bars():
    assert as_markdown(grid(Measures((row(group={"model": "a|b"}),), {}))) == (
        "| model | SS | n | ties | clusters |\n"
        "| --- | --: | --: | --: | --: |\n"
        "| a\\|b | 62.50 [50.00, 75.00] | 40 | 1 | 12 |\n"
    )


def test_html_is_escaped():
    html = as_html(grid(Measures((row(group={"model": "<b>"}),), {}, ("<i>",))))
    assert "<td>&lt;b&gt;</td>" in html
    assert "<li>&lt;i&gt;</li>" in html


def test_csv_has_one_line_per_measure_with_full_precision():
    found = measure(score([triple(f"i{n}") for n in range(3)], [(2, 1, 0), (2, 1, 0), (1, 2, 0)]), metrics=["ss"])
    lines = list(csv.DictReader(io.StringIO(as_csv(found, grid(found)))))
    assert len(lines) == len(found)
    assert float(lines[0]["value"]) == found[0].value
    assert (lines[0]["task"], lines[0]["n"], lines[0]["low"]) == ("intrasentence", "3", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("by 'likelihood' and \"pll\"", "by ``likelihood'' and ``pll''"),
        ("the model's items and the models' ranks", "the model's items and the models' ranks"),
        ("('a')", "(``a'')"),
    ],
)
def test_quotes_are_opened_and_closed_in_latex(text, shown):
    assert latex(text) == shown


def test_notes_below_a_table_are_one_paragraph_in_latex():
    assert latex_notes(["a remark.", "50 % more"]) == [r"\par{\footnotesize\raggedright a remark; 50 \% more.\par}"]
    assert latex_notes([]) == []


def test_a_negative_number_has_a_minus_in_latex():
    latex = as_latex(Grid(["model", "a - b"], [["x-1", "-0.5 [-1, +2]"]], 1))
    assert r"model & a $-$ b \\" in latex
    assert r"x-1 & $-$0.5 [$-$1, +2] \\" in latex
