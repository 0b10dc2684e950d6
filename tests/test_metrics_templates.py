"""Measures of templates, worked out by hand in both modes, and the scorings behind them against plain forward passes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from isogloss.analysis.measures import measure
from isogloss.analysis.term_shares import measure_negation, measure_shares
from isogloss.errors import IsoglossError
from isogloss.items import Candidate, Item, Items
from isogloss.methods import distribution, fill_options, normalised
from isogloss.metrics._divergences import largest_pairs
from isogloss.models.engine import run_all
from isogloss.models.head import logits_of
from isogloss.scores import Row, Scored, item_table, make_scored, row_table
from support import tiny

MASKED = ["bert", "roberta", "deberta"]
CAUSAL = ["gpt2", "llama"]
Rows = list[tuple[Item, tuple[float, ...]]]


def item(name: str, roles: tuple[str, ...], *, task: str = "template", **facts: Any) -> Item:
    """An item named `set.wording.concept`."""
    one, wording, concept = name.split(".")
    tags = {"task": task, "set": one, "wording": wording, "concept": concept, **facts.pop("tags", {})}
    candidates = tuple(Candidate(f"{name}-{role}", role, f"{role} is {concept}.") for role in roles)
    return Item(name, "templates", "en", "gender", candidates, cluster=f"{one}-{wording}", tags=tags, **facts)


def scored(rows: Rows) -> Scored:
    """The items with the probability of each candidate's sentence, spread over two tokens."""
    found = [
        Row(one, candidate.id, share, tokens=2, logprobs=(math.log(share) - 1, 1.0))
        for one, shares in rows
        for candidate, share in zip(one.candidates, shares, strict=True)
    ]
    table = item_table(Items(tuple(one for one, _ in rows)))
    return make_scored(table, row_table(found), labels={"model": "m", "method": "pll"})


def value(scored: Scored, metric: str, mode: str = "corrected", by: tuple[str, ...] = ()) -> float:
    return measure(scored, metrics=[metric], by=list(by), mode=mode)[0].value


MW = ("man", "woman")
# set s, concept c1: templates w1 (0.8, 0.2) and w2 (0.4, 0.6); concept c2: w1 (0.5, 0.5), w2 (0.9, 0.1)
# half the difference d of two logarithms: variance d²/4
# corrected: ln 4 = 1.386294, ln(2/3) = -0.405465, 0, ln 9 = 2.197225 -> d²/4 = 0.480453, 0.041100, 0, 1.206949
#            mean 0.432126
# paper:     c1 mean shares (0.6, 0.4): ln 1.5 = 0.405465 -> 0.041100; c2 (0.7, 0.3): ln(7/3) = 0.847298 -> 0.179478
#            mean over the two cells 0.110289
HAND = [
    (item("s.w1.c1", MW), (0.08, 0.02)),
    (item("s.w2.c1", MW), (0.004, 0.006)),
    (item("s.w1.c2", MW), (0.05, 0.05)),
    (item("s.w2.c2", MW), (0.0009, 0.0001)),
]


def test_cb_of_four_items_is_what_was_worked_out_by_hand():
    assert value(scored(HAND), "cb") == pytest.approx(0.432126, abs=1e-6)
    assert value(scored(HAND), "cb", "paper") == pytest.approx(0.110289, abs=1e-6)


def test_the_published_aggregate_weighs_cells_of_concepts_not_templates():
    # a second set with one template and one concept, shares (0.9, 0.1): variance ln² 9 / 4 = 1.206949
    more = [*HAND, (item("t.w1.c1", MW), (0.9, 0.1))]
    assert value(scored(more), "cb", "paper") == pytest.approx((0.041100 + 0.179478 + 1.206949) / 3, abs=1e-6)
    assert value(scored(more), "cb") == pytest.approx((0.480453 + 0.041100 + 0 + 1.206949 + 1.206949) / 5, abs=1e-6)


def test_equal_sentences_have_no_cb_and_every_term_its_share():
    even = [(item("s.w1.c1", ("a", "b", "c")), (0.1, 0.1, 0.1))]
    assert value(scored(even), "cb") == pytest.approx(0)
    assert value(scored(even), "top_share") == pytest.approx(1 / 3)


def test_population_variance_over_three_terms():
    # logarithms 0, -1, -5 up to a constant: mean -2, squares 4, 1, 9 -> 14/3
    rows = [(item("s.w1.c1", ("a", "b", "c")), (math.exp(-1), math.exp(-2), math.exp(-6)))]
    assert value(scored(rows), "cb") == pytest.approx(14 / 3)


def test_top_share_in_both_modes():
    # corrected: 0.8, 0.6, 0.5, 0.9 -> 0.7; paper: max of (0.6, 0.4) and of (0.7, 0.3) -> 0.65
    assert value(scored(HAND), "top_share") == pytest.approx(0.7)
    assert value(scored(HAND), "top_share", "paper") == pytest.approx(0.65)


def test_relative_cb_takes_each_terms_usual_share_away():
    # template w1: usual shares (0.65, 0.35); c1: ln(0.8/0.65), ln(0.2/0.35); c2: ln(0.5/0.65), ln(0.5/0.35)
    first = (math.log(0.8 / 0.65) - math.log(0.2 / 0.35)) ** 2 / 4
    second = (math.log(0.5 / 0.65) - math.log(0.5 / 0.35)) ** 2 / 4
    rows = [pair for pair in HAND if pair[0].id.startswith("s.w1")]
    assert value(scored(rows), "cb_relative") == pytest.approx((first + second) / 2)
    same = [(item(f"s.w1.c{n}", MW), (0.09, 0.01)) for n in range(3)]
    assert value(scored(same), "cb_relative") == pytest.approx(0)


def test_shares_are_means_over_templates_and_concepts_the_largest_first():
    found = measure_shares(scored(HAND), by=["set"])
    shares = [(row.group["term"], row.value) for row in found]
    assert shares == [("man", pytest.approx(0.65)), ("woman", pytest.approx(0.35))]
    by_concept = measure_shares(scored(HAND), by=["concept"], top=1)
    assert [(row.group["concept"], row.value) for row in by_concept] == [
        ("c1", pytest.approx(0.6)),
        ("c2", pytest.approx(0.7)),
    ]


def test_shares_have_an_interval_over_templates_from_ten_on():
    rows = [(item(f"s.w{n}.c1", MW), (0.1 + 0.05 * n, 0.9 - 0.05 * n)) for n in range(10)]
    first = measure_shares(scored(rows), by=["set"])[0]
    assert first.clusters == 10
    assert first.low < first.value < first.high
    assert measure_shares(scored(HAND), by=["set"])[0].why == "2 clusters; an interval needs 10"


def test_intervals_are_over_templates_in_both_modes():
    rows = [(item(f"s.w{n}.c{k}", MW), (0.1 + 0.04 * n + 0.1 * k, 0.4)) for n in range(20) for k in range(2)]
    for mode in ("corrected", "paper"):
        found = measure(scored(rows), metrics=["cb"], by=[], mode=mode)[0]
        assert found.clusters == 20
        assert found.low <= found.value <= found.high


def negated(name: str, shares: tuple[float, ...]) -> tuple[Item, tuple[float, ...]]:
    one = item(name, ("a", "b", "c"), derived_from=name, variant="negated")
    controls = tuple(Candidate(f"{c.id}-negated", c.role, f"not {c.text}") for c in one.candidates)
    return replace(one, id=f"{name}-negated", candidates=controls), shares


def test_negation_is_one_when_nothing_turns_and_minus_one_when_everything_does():
    shares = (0.4, 0.2, 0.1)
    turned = tuple(0.01 / share for share in shares)
    rows = [(item("s.w1.c1", ("a", "b", "c")), shares), negated("s.w1.c1", shares)]
    assert measure_negation(scored(rows))[0].value == pytest.approx(1)
    rows = [(item("s.w1.c1", ("a", "b", "c")), shares), negated("s.w1.c1", turned)]
    found = scored(rows)
    assert measure_negation(found)[0].value == pytest.approx(-1)
    # control items stay out of the other measures
    assert measure(found, metrics=["cb"], by=[])[0].n == 1


def test_negation_without_negated_items_is_refused():
    with pytest.raises(IsoglossError) as caught:
        measure_negation(scored(HAND))
    assert str(caught.value) == (
        "There are no negated counterparts among these scores. Write 'negated' in the wordings of a set."
    )


def test_periphrasis_is_half_the_sum_of_the_differences():
    # demonym (0.8, 0.2), periphrasis (0.5, 0.5): 0.3; second concept equal: 0; mean 0.15
    rows = [
        (item("s.w1.c1", MW), (0.08, 0.02)),
        (item("s.w1.c2", MW), (0.3, 0.1)),
        (item("p.w1.c1", MW, tags={"periphrasis_of": "s"}), (0.3, 0.3)),
        (item("p.w1.c2", MW, tags={"periphrasis_of": "s"}), (0.03, 0.01)),
    ]
    assert value(scored(rows), "periphrasis") == pytest.approx(0.15)


def test_other_scores_than_of_whole_sentences_are_refused():
    one = item("s.w1.c1", MW)
    table = row_table([Row(one, candidate.id, 0.5) for candidate in one.candidates])
    found = make_scored(item_table(Items((one,))), table, labels={"model": "m", "method": "unmask"})
    with pytest.raises(IsoglossError, match="score the templates with pll or likelihood"):
        measure(found, metrics=["cb"], by=[])
    with pytest.raises(IsoglossError, match="score the data set 'templates' with pll or likelihood"):
        measure_shares(found)


# ---- divergences


def divergences(values: dict[str, dict[tuple[str, str], float]], vocabulary: int = 10) -> Scored:
    rows = []
    for name, pairs in values.items():
        roles = tuple(dict.fromkeys(role for pair in pairs for role in pair))
        one = item(name, roles, task="template-blank")
        rows += [Row(one, f"{name}-{a}", v, vocabulary, "kl", against=f"{name}-{b}") for (a, b), v in pairs.items()]
    items = list(dict.fromkeys(row.item.id for row in rows))
    by_id = {row.item.id: row.item for row in rows}
    table = item_table(Items(tuple(by_id[name] for name in items)))
    return make_scored(table, row_table(rows), labels={"model": "m", "method": "distribution"})


def test_distribution_difference_in_both_modes_and_its_pair():
    # w1: a>b 1, b>a 3;  w2: a>b 4, b>a 1.   corrected: (3 + 4)/2 = 3.5; paper: means 2.5, 2 -> 2.5 / 10
    found = divergences({"s.w1.-": {("a", "b"): 1.0, ("b", "a"): 3.0}, "s.w2.-": {("a", "b"): 4.0, ("b", "a"): 1.0}})
    assert value(found, "distribution_difference") == pytest.approx(3.5)
    assert value(found, "distribution_difference", "paper") == pytest.approx(0.25)
    (pair,) = largest_pairs(found.table)
    assert (pair.model, pair.language, pair.set) == ("m", "en", "s")
    assert (pair.first, pair.second, pair.nats, pair.per_token) == ("a", "b", 2.5, 0.25)


def test_sets_with_different_terms_are_averaged_as_published():
    found = divergences({"s.w1.-": {("a", "b"): 1.0, ("b", "a"): 3.0}, "t.w1.-": {("x", "y"): 5.0, ("y", "x"): 1.0}})
    assert value(found, "distribution_difference", "paper") == pytest.approx((0.3 + 0.5) / 2)
    assert value(found, "distribution_difference") == pytest.approx(4)


def test_kl_by_hand():
    # p = (1/2, 1/4, 1/4), q = (1/4, 1/2, 1/4): KL = ½ ln 2 - ¼ ln 2 = ¼ ln 2 both ways; entropy of p = 1.5 ln 2
    logs = np.log([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]])
    kl, entropy = distribution.compare(logs)
    assert kl == pytest.approx(np.array([[0, 0.25 * math.log(2)], [0.25 * math.log(2), 0]]))
    assert entropy == pytest.approx([1.5 * math.log(2)] * 2)


def blank(name: str, *texts: str) -> Item:
    candidates = tuple(Candidate(f"{name}-{n}", f"t{n}", text) for n, text in enumerate(texts))
    return Item(name, "template_blanks", "en", "gender", candidates, cluster=name, tags={"task": "template-blank"})


BLANKS = [
    blank("one", "The nurse is BLANK and quiet.", "The doctor is BLANK and quiet.", "People from Ghana are BLANK."),
    blank("two", "She was a BLANK.", "They were a very quiet BLANK."),
]


def ask(method: Any, items: list[Item], model: Any, budget: int = 2048) -> list[list[Row]]:
    options = fill_options("x", method.method, chosen={})
    return run_all(model, [method.ask(one, model, options=options) for one in items], token_budget=budget)


def plain_logs(model: Any, text: str) -> torch.Tensor:
    """The log-probabilities at the blank, by the whole network on one text."""
    tokenizer = model.tokenizer
    with torch.inference_mode():
        if model.info.family == "masked":
            ids = torch.tensor([tokenizer.encode(text.replace("BLANK", tokenizer.mask_token))])
            index = ids[0].tolist().index(tokenizer.mask_token_id)
        else:
            left = text.partition("BLANK")[0].rstrip()
            start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
            ids = torch.tensor([[start, *tokenizer.encode(left, add_special_tokens=False)]])
            index = ids.shape[1] - 1
        return logits_of(model.net(input_ids=ids))[0, index].double().log_softmax(-1)


@pytest.mark.parametrize("name", [*MASKED, *CAUSAL])
def test_divergences_equal_those_of_plain_forward_passes_whatever_the_batch(name):
    model = tiny.model(name)
    found = ask(distribution, BLANKS, model)
    for one, rows in zip(BLANKS, found, strict=True):
        logs = {candidate.id: plain_logs(model, candidate.text) for candidate in one.candidates}
        pairs = [row for row in rows if row.quantity == "kl"]
        assert len(pairs) == len(logs) * (len(logs) - 1)
        for row in pairs:
            wanted = (logs[row.candidate].exp() * (logs[row.candidate] - logs[row.against])).sum()
            assert row.value == pytest.approx(float(wanted), rel=1e-3, abs=1e-4)
            assert row.tokens == len(logs[row.candidate])
        top = next(row for row in rows if row.quantity == "entropy")
        assert top.logprobs[0] == pytest.approx(float(logs[top.candidate].max()), abs=1e-4)
    small = ask(distribution, BLANKS[::-1], model, budget=1)[::-1]
    for first, second in zip(found, small, strict=True):
        assert [row.value for row in first] == pytest.approx([row.value for row in second], rel=1e-3, abs=1e-4)


def test_a_causal_model_that_does_not_see_the_terms_says_so():
    after = blank("after", "BLANK is what nurses are.", "BLANK is what doctors are.")
    rows = ask(distribution, [after], tiny.model("gpt2"))[0]
    assert {row.value for row in rows} == {None}
    assert rows[0].why == "the terms stand after the blank, where a causal model does not see them"


# ---- normalised word probability


def shown(context: str, concept: str, *words: str) -> Item:
    candidates = tuple(Candidate(word, word, context.replace("BLANK", word), word) for word in words)
    tags = {"task": "template", "concept_word": concept}
    return Item(context, "templates", "en", "gender", candidates, context=context, cluster=context, tags=tags)


@pytest.mark.parametrize("context", ["The BLANK is rude.", "It is rude that the BLANK is here."])
def test_normalised_probability_equals_plain_forward_passes(context):
    model = tiny.model("bert")
    tokenizer = model.tokenizer
    rows = ask(normalised, [shown(context, "rude", "nurse", "compassionate")], model)[0]
    for row in rows:
        pieces = tokenizer.encode(row.candidate, add_special_tokens=False)
        own = tokenizer.mask_token * len(pieces)
        cover = tokenizer.mask_token * len(tokenizer.encode("rude", add_special_tokens=False))
        total = []
        for text in (context, context.replace("rude", cover)):
            ids = tokenizer.encode(text.replace("BLANK", own))
            masks = [k for k, token in enumerate(ids) if token == tokenizer.mask_token_id]
            positions = (
                masks[: len(pieces)] if context.index("BLANK") < context.index("rude") else masks[-len(pieces) :]
            )
            with torch.inference_mode():
                logs = logits_of(model.net(input_ids=torch.tensor([ids])))[0].double().log_softmax(-1)
            total.append(sum(float(logs[position, piece]) for position, piece in zip(positions, pieces, strict=True)))
        assert row.value == pytest.approx(total[0] - total[1], abs=1e-3)


def test_normalised_cb_is_the_variance_of_the_logarithms():
    one = item("s.w1.c1", MW)
    table = row_table(
        [Row(one, c.id, v, quantity="normalised") for c, v in zip(one.candidates, (1.0, 4.0), strict=True)]
    )
    found = make_scored(item_table(Items((one,))), table, labels={"model": "m", "method": "normalised"})
    assert value(found, "cb_normalised") == pytest.approx(2.25)


def test_a_concept_that_stands_twice_cannot_be_normalised():
    row = ask(normalised, [shown("A rude BLANK is rude.", "rude", "nurse")], tiny.model("bert"))[0][0]
    assert (row.value, row.why) == (None, "term or concept cannot be masked by themselves here")


def test_frames_leave_items_without_all_scores_out():
    one = item("s.w1.c1", MW)
    rows = [Row(one, one.candidates[0].id, 0.5, logprobs=(-1.0,)), Row(one, one.candidates[1].id, None)]
    found = make_scored(item_table(Items((one,))), row_table(rows), labels={"model": "m", "method": "pll"})
    assert isinstance(found.table, pl.DataFrame)
    assert measure(found, metrics=["cb"], by=[])[0].value is None
