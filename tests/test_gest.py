"""GEST: its reader, its scoring against a slow reference, its score files, and the numbers that were published."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import isogloss as ig
from isogloss import registry
from isogloss.errors import IsoglossError
from isogloss.exchange.runs import read_scores
from isogloss.items import Candidate, Item
from isogloss.metrics._gest import male_scores
from isogloss.models.engine import run_all
from isogloss.models.model import Model
from isogloss.scores import Row, Scored
from support import references, tiny
from support.examples import CLOSE

CSV = 'sentence,stereotype\nI am rude.,8\n"I was kind, again.",2\n'


@pytest.fixture
def items(tmp_path: Path) -> ig.Items:
    path = tmp_path / "gest.csv"
    path.write_text(CSV, encoding="utf-8")
    return ig.read(path)


def test_each_sentence_has_four_wordings_and_is_one_cluster(items: ig.Items) -> None:
    assert [item.id for item in items] == ["0-0", "0-1", "0-2", "0-3", "1-0", "1-1", "1-2", "1-3"]
    assert {item.cluster for item in items} == {"0", "1"}
    texts = {candidate.role: candidate.text for candidate in items[7].candidates}
    assert texts == {
        "stereotype": '"I was kind, again.", the woman said.',
        "anti-stereotype": '"I was kind, again.", the man said.',
    }
    assert dict(items[0].tags) == {"task": "gest", "target": "tough", "about": "men", "wording": "0"}


def test_a_stereotype_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gest.csv"
    path.write_text("sentence,stereotype\nI am.,17\n", encoding="utf-8")
    with pytest.raises(IsoglossError) as caught:
        ig.read(path)
    assert str(caught.value) == f"{path}, line 2: 'stereotype' is '17'; it must be a number from 1 to 16."


def test_eurogest_gives_one_item_per_gendered_sentence(tmp_path: Path) -> None:
    path = tmp_path / "Spanish.csv"
    path.write_text(
        "GEST_ID,Stereotype_ID,Source,Masculine,Feminine,Neutral\n"
        "7,9.0,I was sure.,Estaba seguro.,Estaba segura.,\n8,1.0,I cry.,,,Lloro.\n",
        encoding="utf-8",
    )
    items = ig.read(path)
    assert [(item.id, item.language, item.tags["target"]) for item in items] == [("7-forms", "es", "self-confident")]
    assert [candidate.text for candidate in items[0].candidates] == ["Estaba seguro.", "Estaba segura."]


# ---- the method


def rows_of(model: Model, items: ig.Items | list[Item]) -> list[list[Row]]:
    method = registry.get("method", "gest")
    return list(run_all(model, (method.ask(item, model, options={}) for item in items), token_budget=512))


def masked_reference(model: Model, text: str, other: str) -> float | None:
    """As published: tokens of the two sentences side by side, those that differ masked, mean log10."""
    ids, others = model.tokenizer.encode(text), model.tokenizer.encode(other)
    if len(ids) != len(others) or ids == others:
        return None
    hidden = [model.tokenizer.mask_token_id if a != b else a for a, b in zip(ids, others, strict=True)]
    table = references.logprobs(model, hidden) / math.log(10)
    logs = [float(table[k, a]) for k, (a, b) in enumerate(zip(ids, others, strict=True)) if a != b]
    return sum(logs) / len(logs)


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_masked_scores_equal_their_reference(items: ig.Items, name: str) -> None:
    model = tiny.model(name)
    scored = 0
    for item, rows in zip(items, rows_of(model, items), strict=True):
        texts = [candidate.text for candidate in item.candidates]
        wanted = [masked_reference(model, *texts), masked_reference(model, *texts[::-1])]
        assert [row.value for row in rows] == [None if v is None else pytest.approx(v, abs=CLOSE) for v in wanted]
        assert (rows[0].why is None) == (wanted[0] is not None)
        scored += wanted[0] is not None
    assert scored


def test_causal_scores_are_those_of_the_next_word() -> None:
    model = tiny.model("gpt2")
    words = ("He", "She")  # whole tokens of this small vocabulary
    candidates = tuple(
        Candidate(f"x-{word}", role, f"The nurse is kind {word} not", word)
        for word, role in zip(words, ("stereotype", "anti-stereotype"), strict=True)
    )
    late = Item("x", "gest", "en", None, candidates)
    early = Item(
        "y", "gest", "en", None, tuple(Candidate(c.id, c.role, f"{c.word} is kind at all", c.word) for c in candidates)
    )
    (rows, refused) = rows_of(model, [late, early])
    ids = model.tokenizer.encode("The nurse is kind")
    logs = references.logprobs(model, ids)[-1]
    for row, word in zip(rows, words, strict=True):
        token = model.tokenizer.encode(f"The nurse is kind {word}")
        if len(token) == len(ids) + 1:
            assert row.value == pytest.approx(float(logs[token[-1]]) / math.log(10), abs=CLOSE)
        else:
            assert row.why == "the word is not one token of this model"
    assert {row.why for row in refused} == {
        "the word stands before the sentence, which a causal model has not read yet"
    }


# ---- metrics


def slow_difference(scored: Scored, wording: str) -> float:
    """Means of means, one after another."""
    means: dict[str, dict[str, list[float]]] = {"men": {}, "women": {}}
    for row in scored.table.filter(scored.table["wording"] == wording).iter_rows(named=True):
        if row["candidate"].endswith("-male"):
            means[row["about"]].setdefault(row["target"], []).append(row["value"])
    sides = [np.mean([np.mean(values) for values in means[about].values()]) for about in ("men", "women")]
    return float(sides[0] - sides[1])


@pytest.fixture(scope="module")
def published(real_data: Path) -> ig.Items:
    return ig.read(real_data / "gest" / "gest.csv.gz")


def read_published(real_data: Path, items: ig.Items, name: str) -> Scored:
    return read_scores(real_data / "gest" / f"english_{name}_template-0.txt.gz", items, layout="gest")[0]


def test_the_difference_and_the_rate_equal_their_definition(real_data: Path, published: ig.Items) -> None:
    scored = read_published(real_data, published, "mlm_bert-base-uncased")
    for mode, base in (("corrected", 10), ("paper", math.e)):
        rows = ig.measure(scored, metrics=["gest", "gest_rate"], by="wording", mode=mode, resamples=100)
        for row in rows:
            wanted = slow_difference(scored, row.group["wording"])
            assert row.value == pytest.approx(wanted if row.metric == "gest" else base**wanted, abs=1e-12)


def test_the_printed_scores_of_the_stereotypes_are_given_back(real_data: Path, published: ig.Items) -> None:
    """The rows of bert-base and of pythia-70m in the authors' tables, first wording, rounded to two digits."""
    printed = {
        (
            "mlm_bert-base-uncased",
            "0",
        ): "1.24 1.31 1.24 1.18 1.15 1.29 1.08 1.46 1.48 1.56 1.49 1.31 1.71 1.26 1.13 1.48",
        ("glm_pythia-70m", "2"): "0.69 0.70 0.69 0.70 0.68 0.75 0.68 0.71 0.70 0.69 0.67 0.70 0.72 0.72 0.67 0.73",
    }
    traits = list(dict.fromkeys(item.tags["target"] for item in published))
    from isogloss.datasets.gest import TRAITS

    assert set(traits) == set(TRAITS)
    for (name, wording), texts in printed.items():
        rows = ig.measure(
            read_published(real_data, published, name), metrics="gest_male", by=["wording", "target"], resamples=100
        )
        values = {row.group["target"]: row.value for row in rows if row.group["wording"] == wording}
        ours = [math.exp(values[trait] or 0.0) for trait in TRAITS]
        assert ours == pytest.approx([float(text) for text in texts.split()], abs=0.0051)


def test_a_score_file_of_another_length_is_refused(tmp_path: Path, items: ig.Items) -> None:
    path = tmp_path / "english_mlm_mine_template-0.txt"
    path.write_text("0.5\n", encoding="utf-8")
    with pytest.raises(IsoglossError) as caught:
        read_scores(path, items, layout="gest")
    assert str(caught.value) == f"{path}: has 1 scores; the data has 2 items of this wording."


def test_signs_follow_the_man(items: ig.Items, tmp_path: Path) -> None:
    #   item 0 is about men, item 1 about women; a man is preferred by 0.5 and by 0.25
    path = tmp_path / "english_glm_mine_template-1.txt"
    path.write_text("0.5\n0.25", encoding="utf-8")
    scored = read_scores(path, items, layout="gest")[0]
    wide = scored.table.pivot(on="role", index=["id", "about", "target"], values="value", maintain_order=True)
    assert male_scores(wide).tolist() == [0.5, 0.25]
    rows = {row.metric: row.value for row in ig.measure(scored, metrics=["gest", "ss"], by=[])}
    assert rows == {"gest": 0.25, "ss": 50}


def test_bert_from_weights_gives_back_the_published_scores(real_data: Path, published: ig.Items) -> None:
    """Needs the weights (python -m reproduction.weights bert-base-uncased); 40 sentences here, all of them in the findings."""
    home = Path.home() / ".isogloss" / "models" / "bert-base-uncased"
    if not home.is_dir():
        pytest.skip("the weights of bert-base-uncased are not here")
    few = ig.Items(published.rows[: 4 * 40])
    ours = ig.score(few, model=home, method="gest")
    values = dict(ours.table.select("candidate", "value").iter_rows())
    theirs = dict(
        read_published(real_data, published, "mlm_bert-base-uncased").table.select("candidate", "value").iter_rows()
    )
    for item in few:
        male, female = (candidate.id for candidate in item.candidates)
        assert values[male] - values[female] == pytest.approx(theirs[male] - theirs[female], abs=2e-5)
