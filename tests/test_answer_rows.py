"""Opinions: answers become rows that metrics read, and numbers worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from isogloss import runs
from isogloss.analysis.comparisons import compare
from isogloss.analysis.measures import measure
from isogloss.chat.answer_rows import make_answer_rows
from isogloss.chat.prompt_words import PROMPTS
from isogloss.chat.records import ANSWERS, ORDERS, Answer, answer_table
from isogloss.errors import IsoglossError
from isogloss.items import Items
from isogloss.models.journal import open_journal
from isogloss.models.questions import Prompt, Reply
from isogloss.scores import item_table
from support.builders import triple

# for each item: the answers to stereotype, agree and disagree, each in both orders
#                       recognition  agreement             consistent pairs
FOUR = [
    ("yy", "yy", "nn"),  # 1         (1 + 1) / 2           2 of 2
    ("yn", "yy", "yy"),  # 1/2       (1 + 0) / 2           0 of 2
    ("nn", "n-", "yr"),  # 0         (0 + 0) / 2           1 of 1
    ("--", "rr", "n-"),  # 0         (0 + 1/2) / 2         none
]
TEXTS = {"y": "Yes.", "n": "No.", "r": "I cannot answer that.", "-": "Soup"}


def answers(table: list[tuple[str, str, str]], *, chances: bool = False) -> list[Answer]:
    made = []
    for n, row in enumerate(table):
        for prompt, verdicts in zip(PROMPTS, row, strict=True):
            for order, verdict in zip(ORDERS, verdicts, strict=True):
                answer = Answer("stereoset", f"i{n}", "en", f"i{n}-stereotype", prompt, order, 0, TEXTS[verdict])
                odds = {"yes": math.log(0.6), "no": math.log(0.2 if order == ORDERS[0] else 0.6)}
                made.append(replace(answer, **odds) if chances else answer)
    return made


def run(folder: Path, table: list[tuple[str, str, str]], *, model: str = "chatty", chances: bool = False) -> runs.Run:
    items = Items(tuple(triple(f"i{n}", f"t{n}") for n in range(len(table))))
    info = {"model": model, "dataset": "stereoset", "language": "en", "method": "ask", "parts": 1}
    opened = runs.open_run(
        folder, info={**info, "holds": ANSWERS.name, "fingerprint": {"model": model}}, items=item_table(items)
    )
    runs.write_part(opened, 0, rows=answer_table(answers(table, chances=chances)))
    return opened


def values(found: object) -> dict[str, float]:
    return {row.metric: row.value for row in found}  # type: ignore[attr-defined]


def test_numbers_by_hand(tmp_path):
    found = measure(runs.read_scored([run(tmp_path, FOUR)]))
    assert values(found) == pytest.approx(
        {
            "recognition": 100 * 1.5 / 4,
            "agreement": 100 * (1 + 0.5 + 0 + 0.25) / 4,
            "consistency": 100 * 3 / 5,
            "word_against_stance": 0,
            "answered_yes": 100 * (4 + 5 + 1 + 0) / 24,
            "answered_no": 100 * (2 + 1 + 3 + 1) / 24,
            "answered_none": 100 * 7 / 24,
            "refused": 100 * 3 / 24,
        }
    )
    assert {row.metric: row.n for row in found} == {name: 3 if name == "consistency" else 4 for name in values(found)}


def test_as_published_agreement_is_yes_averaged_over_all_prompts(tmp_path):
    found = measure(runs.read_scored([run(tmp_path, FOUR)]), metrics="agreement", mode="paper")
    assert found[0].value == pytest.approx(100 * 10 / 24)


def test_in_paper_mode_only_the_first_ten_tokens_count():
    text = "Soup is a dish that many people eat on cold days.\n\nYes."
    rows = make_answer_rows(answer_table([replace(answer, text=text) for answer in answers(FOUR[:1])]))
    assert set(rows["pieces"].explode()) == {"yes"}
    assert set(rows["openings"].explode()) == {"off_topic"}


def test_what_was_not_asked_is_no_answer():
    table = answer_table(answers(FOUR[:1]))
    silent = table.with_columns(text=pl.when(pl.col("order") == ORDERS[0]).then("text"))
    assert make_answer_rows(silent)["pieces"].list.len().to_list() == [1, 1, 1]


def test_answers_that_hang_on_their_stance_are_counted_and_prompts_that_differ_are_noted(tmp_path, monkeypatch):
    monkeypatch.setitem(TEXTS, "s", "No, that is not true.")
    measures = measure(runs.read_scored([run(tmp_path, [("yy", "yy", "ss"), ("yy", "yy", "nn")])]))
    assert values(measures)["word_against_stance"] == pytest.approx(100 * 2 / 8)
    assert values(measures)["agreement"] == pytest.approx(75)
    assert "agreement differs between its prompts: chatty in en 100.0 by agree and 50.0 by disagree" in measures.notes


def test_agreement_without_a_yes_or_no_is_noted(tmp_path, monkeypatch):
    monkeypatch.setitem(TEXTS, "s", "That depends.")
    measures = measure(runs.read_scored([run(tmp_path, [("ss", "ss", "ss"), ("yy", "ss", "sy")])]))
    assert values(measures)["agreement"] == pytest.approx(0)
    assert "agreement rests on few answers that say yes or no: chatty in en, 12.5 %" in measures.notes


def test_prompts_can_be_told_apart(tmp_path):
    names = ["answered_yes", "answered_no", "answered_none"]
    found = measure(runs.read_scored([run(tmp_path, FOUR)]), metrics=names, by="prompt")
    by_prompt = {(row.group["prompt"], row.metric): row.value for row in found}
    assert by_prompt["agree", "answered_yes"] == pytest.approx(50)
    assert by_prompt["disagree", "answered_no"] == pytest.approx(100 * 3 / 8)
    assert by_prompt["stereotype", "answered_none"] == pytest.approx(25)
    assert {row.n for row in found} == {4}


def test_probabilities_are_those_of_the_two_words_averaged_over_both_orders(tmp_path):
    found = values(measure(runs.read_scored([run(tmp_path, FOUR, chances=True)])))
    yes = (0.6 / 0.8 + 0.6 / 1.2) / 2
    assert found["recognition_probability"] == pytest.approx(100 * yes)
    assert found["agreement_probability"] == pytest.approx(100 * (yes + 1 - yes) / 2)


def test_without_log_probabilities_in_one_order_there_is_no_probability():
    made = answers(FOUR, chances=True)
    rows = make_answer_rows(answer_table([replace(made[0], yes=None, no=None), *made[1:]]))
    lost = rows.filter((pl.col("quantity") == "probability") & pl.col("value").is_null())
    assert lost.select("id", "prompt", "why").rows() == [("i0", "stereotype", "no log-probabilities of both answers")]


def test_answers_of_two_models_are_compared_item_by_item(tmp_path):
    table = FOUR * 5
    other = [(a, c, b) for a, b, c in table]
    a, b = (runs.read_scored([run(tmp_path, rows, model=name)]) for rows, name in ((table, "x"), (other, "y")))
    found = {row.metric: row for row in compare(a, b, metrics=["recognition", "agreement"], resamples=500)}
    assert found["recognition"].difference == 0
    # swapped: item by item (0+0)/2, (1+0)/2, (1/2+1/2)/2, (0+0)/2
    assert found["agreement"].value_b == pytest.approx(100 * (0 + 0.5 + 0.5 + 0) / 4)
    assert found["agreement"].n == 20
    assert found["agreement"].low is not None


def test_intervals_are_made_over_clusters(tmp_path):
    found = measure(runs.read_scored([run(tmp_path, FOUR * 5)]), metrics="recognition", resamples=500)
    assert (found[0].clusters, found[0].n) == (20, 20)
    assert found[0].low < found[0].value < found[0].high


def test_the_order_of_answers_does_not_matter():
    made = answers(FOUR)
    assert (
        make_answer_rows(answer_table(made[::-1]))
        .sort("id", "prompt")
        .equals(make_answer_rows(answer_table(made)).sort("id", "prompt"))
    )


def test_metrics_for_scores_do_not_fit_answers(tmp_path):
    with pytest.raises(IsoglossError):
        compare(runs.read_scored([run(tmp_path, FOUR)]), runs.read_scored([run(tmp_path, FOUR)]), metrics=["nope"])
    found = measure(runs.read_scored([run(tmp_path, FOUR)]), metrics="ss")
    assert found[0].value is None


def test_a_reply_survives_its_line_in_the_journal_and_a_torn_line_is_passed_over(tmp_path):
    prompt, other = Prompt("Is it?", ("yes", "no")), Prompt("Is it not?")
    reply = Reply('a "quoted"\nline \u2028 and half a \ud83d', logprobs=(-0.5, -1.0))
    journal = open_journal(tmp_path / "journal.jsonl")
    journal.keep({prompt: reply})
    journal.keep({other: Reply("no", prompt_tokens=3, answer_tokens=1)})
    assert journal.count_tokens() == {"prompt": 3, "answer": 1, "uncounted_answers": 1}
    back = open_journal(tmp_path / "journal.jsonl")
    assert back.find(prompt) == replace(reply, text=reply.text.replace("\ud83d", "?"))
    lines = (tmp_path / "journal.jsonl").read_text(encoding="utf-8")
    (tmp_path / "journal.jsonl").write_text("[1]\n" + lines[:-9], encoding="utf-8")
    torn = open_journal(tmp_path / "journal.jsonl")
    assert (torn.find(prompt) is not None, torn.find(other)) == (True, None)


@pytest.mark.slow
def test_a_report_shows_the_verdicts_of_answers(tmp_path):
    from isogloss.analysis.study import load_study
    from isogloss.reports.page.data import find_answers
    from isogloss.reports.page.document import write_report

    run(tmp_path, FOUR)
    gathered = load_study(tmp_path)
    found = find_answers(gathered.scored)
    by_verdict = {(row["prompt"], row["verdict"]): row["share"] for row in found.iter_rows(named=True)}
    assert by_verdict["stereotype", "yes"] == pytest.approx(3 / 8)  # yy and yn, of four items in two orders
    assert by_verdict["agree", "refused"] == pytest.approx(2 / 8)
    shares = found.group_by("prompt").agg(pl.col("share").sum())["share"]
    assert shares.to_list() == pytest.approx([1.0] * len(PROMPTS))
    page = write_report(load_study(tmp_path, texts=True), tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What the model answered" in page
