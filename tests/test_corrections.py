"""People's readings correct the machine's: sheets hide what the machine read, and rates cover the known truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from isogloss.annotation.corrections import correct_rates, draw_answers
from isogloss.annotation.labels import make_labels
from isogloss.errors import IsoglossError, UnknownName
from isogloss.reports.text.answers import corrected_grid


def answers(
    *, questions: int = 80, samples: int = 5, wrong: float = 0.1, seed: int = 0
) -> tuple[pl.DataFrame, list[str]]:
    """Answers as they are read here, and what they say: the machine misses some of the yes."""
    rng = np.random.default_rng(seed)
    truth, rows = [], []
    for question in range(questions):
        rate = rng.beta(2, 3)
        for sample in range(samples):
            says = "yes" if rng.random() < rate else "no"
            read = "off_topic" if says == "yes" and rng.random() < 3 * wrong else says
            truth.append(says)
            facts = {
                "model": "m",
                "dataset": "d",
                "language": "en",
                "method": "ask",
                "prompt": "agree",
                "category": "x",
            }
            facts |= {"cluster": f"q{question}", "answer_id": f"a:{question}:{sample}", "verdict": read}
            asked = f"Do you agree? s{question}"
            rows.append(
                facts | {"statement_text": f"s{question}", "asked": asked, "answer": f"text {question}.{sample}"}
            )
    return pl.DataFrame(rows), truth


def read_by_people(table: pl.DataFrame, truth: list[str], *, count: int, seed: int = 0):
    """What people say about a drawn sample."""
    says = dict(zip(table["answer_id"], truth, strict=True))
    drawn = draw_answers(table, count=count, seed=seed)
    return make_labels({"item": row["item"], "question": "verdict", "label": says[row["item"]]} for row in drawn)


def test_a_sheet_names_neither_the_model_nor_our_verdict():
    table, _ = answers()
    drawn = draw_answers(table, count=50)
    assert len(drawn) == 50
    assert not {"model", "method", "verdict", "rule", "published"} & drawn[0].keys()
    assert draw_answers(table, count=50) == drawn
    assert draw_answers(table, count=50, seed=1) != drawn


def test_rates_of_prompts_are_never_pooled():
    table, truth = answers(questions=30, samples=1)
    other = table.with_columns(prompt=pl.lit("disagree"), answer_id=pl.format("{}:d", "answer_id"))
    names = [*table["answer_id"], *other["answer_id"]]
    labels = make_labels(
        {"item": name, "question": "verdict", "label": label}
        for name, label in zip(names, [*truth, *["no"] * 30], strict=True)
    )
    rates = {row.group["prompt"]: row.people for row in correct_rates(pl.concat([table, other]), labels)}
    assert rates == {"agree": pytest.approx(100 * truth.count("yes") / 30), "disagree": 0}


def test_a_rate_without_an_interval_is_named_in_the_remark():
    table, truth = answers(questions=30, samples=1)
    other = table.with_columns(prompt=pl.lit("disagree"), answer_id=pl.format("{}:d", "answer_id"))
    some = zip([*table["answer_id"], *other["answer_id"][:4]], [*truth, *["no"] * 4], strict=True)
    labels = make_labels({"item": name, "question": "verdict", "label": label} for name, label in some)
    rates = correct_rates(pl.concat([table, other]), labels)
    assert corrected_grid(rates).remarks == ("disagree: 4 clusters were read; an interval needs 10",)


def test_the_corrected_rate_is_nearer_to_the_truth_than_the_machine_s():
    table, truth = answers(questions=200)
    row = correct_rates(table, read_by_people(table, truth, count=200), within=4)[0]
    rate = 100 * truth.count("yes") / len(truth)
    assert abs(row.value - rate) < abs(row.machine - rate)
    assert row.low < rate < row.high
    assert row.high - row.low < row.people_high - row.people_low
    assert (row.read, row.answers) == (200, 1000)
    assert row.needed is not None


def test_a_half_width_that_all_answers_cannot_give_is_noted():
    table, truth = answers(questions=40)
    result = correct_rates(table, read_by_people(table, truth, count=100), within=1)
    assert (result[0].needed, result.notes) == (
        None,
        ("1 of 1 rates cannot reach ±1 points, even if all answers are read",),
    )


def test_an_answer_that_two_people_read_has_the_mean_of_what_they_say():
    table, truth = answers(questions=30, samples=1)
    labels = read_by_people(table, truth, count=30)
    other = labels.table.with_columns(label=pl.lit("no"))
    both = make_labels(pl.concat([labels.table, other]))
    assert correct_rates(table, both)[0].people == pytest.approx(correct_rates(table, labels)[0].people / 2)


def test_labels_of_other_answers_are_refused():
    table, truth = answers()
    labels = read_by_people(table, truth, count=20)
    with pytest.raises(IsoglossError, match="No label is about an answer of these runs"):
        correct_rates(table.with_columns(answer_id=pl.lit("b")), labels)
    with pytest.raises(UnknownName):
        correct_rates(table, labels, verdict="maybe")


def test_a_verdict_that_no_person_gave_has_the_rate_zero():
    table, truth = answers()
    never = table.with_columns(verdict=pl.lit("no"))
    (rate,) = correct_rates(never, read_by_people(table, ["no"] * len(truth), count=40))
    assert (rate.value, rate.people, rate.machine, rate.read) == (0, 0, 0, 40)
    (few,) = correct_rates(never, read_by_people(table, ["no"] * len(truth), count=20), within=8)
    (enough,) = correct_rates(never, read_by_people(table, ["no"] * len(truth), count=few.needed), within=8)
    assert few.needed > 25
    assert 50 * (enough.high - enough.low) / 100 < 9
    assert rate.high is not None
    assert 0 < rate.high < 30


def test_a_model_of_which_nothing_was_read_is_noted():
    table, truth = answers()
    other = table.with_columns(model=pl.lit("n"), answer_id=pl.lit("b:") + pl.col("answer_id"))
    result = correct_rates(pl.concat([table, other]), read_by_people(table, truth, count=40))
    assert [row.group["model"] for row in result] == ["m"]
    assert "nobody read answers of n" in result.notes[0]


@pytest.mark.slow
def test_corrected_rates_cover_a_known_truth():
    hits, rounds = 0, 300
    for seed in range(rounds):
        table, truth = answers(questions=120, samples=3, seed=seed)
        row = correct_rates(table, read_by_people(table, truth, count=90, seed=seed))[0]
        hits += row.low <= 40 <= row.high  # the mean of Beta(2, 3)
    assert 0.92 <= hits / rounds <= 0.98
