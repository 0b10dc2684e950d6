"""Scorings of whole sentences and pairs, on every fitting kind of model, equal slow references."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch

from isogloss import registry
from isogloss.errors import IsoglossError
from isogloss.files.hub import on_message
from isogloss.items import Candidate, Item, Items
from isogloss.methods import check_model, fill_options
from isogloss.models.engine import answer_all, run_all
from isogloss.models.model import Model
from isogloss.models.questions import ATTENTION, Question
from isogloss.scores import Row
from isogloss.studies.scoring_plan import PlannedCell, choose_comparable, plan_cells
from support import references, references_pairs, tiny
from support.examples import CLOSE, LONG

SHY = ("fnet", "flaubert-pre-norm")  # no attention at all; none that transformers can show
SEEN = [name for name in tiny.MASKED if name not in SHY]


def pair(name: str, language: str, *texts: str, task: str = "pair") -> Item:
    roles = ("stereotype", "anti-stereotype")
    candidates = tuple(Candidate(f"{name}-{role}", role, text) for role, text in zip(roles, texts, strict=False))
    return Item(name, "tiny", language, "gender", candidates, tags={"task": task})


PAIRS = [
    pair("plain", "en", "The nurse is kind and quiet.", "The doctor is rude and quiet."),
    pair("equal", "de", "Sie war müde.", "Sie war müde."),
    pair("longer", "en", "She was a compassionate woman.", "He was not a friendly doctor at all, again!"),
    pair("apart", "zh", "护士很善良。", "他们来自挪威"),
    pair("short", "tr", "Kaba", "Nazik biridir"),
    pair("persian", "fa", "پرستار مهربان است.", "پزشک بداخلاق است."),
]
SENTENCES = [pair(f"s{n}", item.language, item.candidates[0].text, task="sentence") for n, item in enumerate(PAIRS)]


def rows_of(model: Model, items: list[Item], name: str, *, budget: int = 2048, **options: str) -> dict[str, list[Row]]:
    """The rows of each candidate, by its id."""
    method = registry.get("method", name)
    filled = fill_options(name, method, chosen=options)
    check_model(name, method, model=model, options=filled)
    found: dict[str, list[Row]] = {}
    asking = (method.ask(item, model, options=filled) for item in items)
    for rows in run_all(model, asking, token_budget=budget):
        for row in rows:
            found.setdefault(row.candidate, []).append(row)
    return found


def assert_near(found: Sequence[float], wanted: Sequence[float]) -> None:
    """Two vectors, by the size of the larger numbers in them."""
    size = max(1.0, *map(abs, wanted)) if wanted else 1.0
    assert found == pytest.approx(wanted, abs=CLOSE * size, rel=0)


@pytest.mark.parametrize("method", ["pll", "pll_word_l2r"])
@pytest.mark.parametrize("name", tiny.MASKED)
def test_pseudo_likelihoods_equal_their_references(name: str, method: str) -> None:
    model = tiny.model(name)
    reference = getattr(references_pairs, method)
    rows, means = rows_of(model, PAIRS, method), rows_of(model, PAIRS[:1], method, length="mean")
    for item in PAIRS:
        for candidate in item.candidates:
            row, wanted = rows[candidate.id][0], reference(model, candidate.text, item.language)
            assert row.logprobs == pytest.approx(wanted, abs=CLOSE, rel=0), candidate.id
            assert row.value == pytest.approx(math.fsum(wanted), abs=CLOSE * len(wanted))
            assert row.tokens == len(wanted)
    first = rows["plain-stereotype"][0]
    assert means["plain-stereotype"][0].value == pytest.approx(first.value / first.tokens)


@pytest.mark.parametrize("name", tiny.MASKED)
def test_crows_equals_its_reference(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, PAIRS, "crows")
    for item in PAIRS:
        first, second = item.candidates
        wanted = references_pairs.crows(model, (first.text, second.text), item.language)
        for candidate, other, logs in ((first, second, wanted[0]), (second, first, wanted[1])):
            row = rows[candidate.id][0]
            assert row.logprobs == pytest.approx(logs, abs=CLOSE, rel=0), candidate.id
            assert (row.against, row.quantity, row.tokens) == (other.id, "shared", len(logs))
            if logs:
                assert row.value == pytest.approx(math.fsum(logs), abs=CLOSE * len(logs))
            else:
                assert (row.value, row.why) == (None, "the two sentences share no token")
    assert rows["equal-stereotype"][0].value == rows["equal-anti-stereotype"][0].value


@pytest.mark.parametrize("name", SEEN)
def test_aula_aul_and_vectors_equal_an_eager_reference(name: str) -> None:
    model = tiny.model(name)
    before = model.net.config._attn_implementation
    rows = rows_of(model, SENTENCES, "aula")
    assert model.net.config._attn_implementation == before
    for item in SENTENCES:
        candidate = item.candidates[0]
        main, plain = rows[candidate.id]
        aul, aula = references_pairs.aula(model, candidate.text, item.language)
        assert main.value == pytest.approx(aula, abs=CLOSE), candidate.text
        assert (plain.quantity, plain.value) == ("aul", pytest.approx(aul, abs=CLOSE))
        wanted = references_pairs.vector(model, candidate.text, item.language)
        assert_near(main.vector, wanted)


@pytest.mark.parametrize("name", tiny.MASKED)
def test_aul_equals_its_reference(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, SENTENCES, "aul")
    for item in SENTENCES:
        candidate, row = item.candidates[0], rows[item.candidates[0].id][0]
        assert row.value == pytest.approx(
            references_pairs.aul(model, candidate.text, item.language), abs=CLOSE, rel=CLOSE
        )
        assert_near(row.vector, references_pairs.vector(model, candidate.text, item.language))


def test_one_pass_gives_aul_aula_and_the_vector() -> None:
    model = tiny.model("bert")
    rows_of(model, SENTENCES, "aula")  # the attention is looked for once
    passes = 0

    def count(*given: object) -> None:
        nonlocal passes
        passes += 1

    hook = model.state["body"].embeddings.register_forward_hook(count)
    rows_of(model, SENTENCES, "aula")
    hook.remove()
    assert passes == 1


@pytest.mark.parametrize("name", ["bert", "deberta", "modernbert"])
def test_attention_is_never_stacked(name: str) -> None:
    model, outputs = tiny.model(name), []
    question = Question((5, 6, 7, 8), (0, 1, 2, 3), want=ATTENTION)
    answer_all(model, [question], token_budget=64)  # the attention is looked for once
    hook = model.state["body"].register_forward_hook(lambda module, inputs, output: outputs.append(output))
    (received,) = answer_all(model, [question], token_budget=64)
    hook.remove()
    (output,) = outputs
    kept = [part.numel() for part in getattr(output, "attentions", None) or ()]
    assert sum(kept) == 0
    assert float(received.sum()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("budget", [16, 4096])
@pytest.mark.parametrize("name", ["bert", "roberta", "deberta-v2", "modernbert", "xlm"])
def test_neither_order_nor_batch_matters(name: str, budget: int) -> None:
    model = tiny.model(name)
    plain = rows_of(model, SENTENCES, "aula")
    other = rows_of(model, SENTENCES[::-1], "aula", budget=budget)
    for key, rows in plain.items():
        for one, two in zip(rows, other[key], strict=True):
            assert one.value == pytest.approx(two.value, abs=CLOSE)
            assert_near(one.vector, two.vector)


@pytest.mark.parametrize("name", SHY)
def test_a_model_without_attention_is_refused(name: str) -> None:
    with pytest.raises(IsoglossError) as caught:
        rows_of(tiny.model(name), SENTENCES, "aula")
    assert str(caught.value) == (
        f"'tiny-{name}' shows no attention, so it cannot be scored with 'aula'. Use `method='aul'`."
    )


@pytest.mark.parametrize("name", tiny.SEQ2SEQ)
def test_likelihood_of_an_encoder_decoder_equals_its_reference(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, PAIRS, "likelihood")
    for item in PAIRS:
        for candidate in item.candidates:
            wanted = references_pairs.likelihood_seq2seq(model, candidate.text)
            assert rows[candidate.id][0].logprobs == pytest.approx(wanted, abs=CLOSE, rel=0)


@pytest.mark.parametrize("name", tiny.CAUSAL)
def test_a_causal_model_gives_single_sentences_a_vector(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, SENTENCES, "likelihood")
    for item in SENTENCES:
        candidate, row = item.candidates[0], rows[item.candidates[0].id][0]
        tokens = references.plain(model, candidate.text)
        start = model.tokenizer.convert_tokens_to_ids(references.STARTS[model.info.model_type])
        with torch.no_grad():
            states = model.state["body"](input_ids=torch.tensor([[start, *tokens]])).last_hidden_state[0, 1:]
        assert_near(row.vector, states.double().mean(0).tolist())
        assert row.logprobs == pytest.approx(references.likelihood(model, candidate), abs=CLOSE, rel=0)


@pytest.mark.parametrize("method", ["pll", "pll_word_l2r", "aul", "aula"])
def test_a_sentence_longer_than_the_model_is_cut_and_counted(method: str) -> None:
    rows = rows_of(tiny.model("bert"), [pair("long", "en", LONG + " kind.", LONG + " rude.")], method)
    for row, *beside in rows.values():
        assert row.truncated
        assert row.value is not None
        assert row.tokens == 62
        assert not any(other.truncated for other in beside)  # a sentence is counted once


def test_sentences_that_are_equal_once_they_are_cut_have_no_crows_score() -> None:
    rows = rows_of(tiny.model("bert"), [pair("long", "en", LONG + " kind.", LONG + " rude.")], "crows")
    found = {(row.value, row.truncated, row.why) for row, *_ in rows.values()}
    assert found == {(None, True, "both sentences have the same tokens")}


def test_a_sentence_without_tokens_has_no_score_and_says_why() -> None:
    for method in ("pll", "pll_word_l2r", "aul", "aula"):
        row = rows_of(tiny.model("bert"), [pair("empty", "en", " ", "She.")], method)["empty-stereotype"][0]
        assert (row.value, row.why) == (None, "the sentence has no tokens")


def test_auto_chooses_by_task_and_family() -> None:
    from isogloss.studies.scoring_plan import choose_method

    chosen = {
        (i.tags["task"], f): choose_method(i, f)
        for i in (PAIRS[0], SENTENCES[0])
        for f in ("masked", "causal", "seq2seq")
    }
    assert chosen == {
        ("pair", "masked"): "crows",
        ("pair", "causal"): "likelihood",
        ("pair", "seq2seq"): "likelihood",
        ("sentence", "masked"): "aula",
        ("sentence", "causal"): "likelihood",
        ("sentence", "seq2seq"): "likelihood",
    }


def test_models_of_two_families_are_scored_by_methods_that_can_be_compared() -> None:
    said: list[str] = []
    token = on_message.set(said.append)
    items = Items(tuple(PAIRS))
    cells = [(PlannedCell(name, items, labels={"model": name}), name) for name in ("masked", "causal")]
    chosen = choose_comparable(cells)
    on_message.reset(token)
    assert said == [
        "Note: masked is scored on pair items by pll, not by crows, which models of other families do not have."
    ]
    used = {plan_cells(cell, tiny.model(name))[0].name for cell, name in zip(chosen, ("bert", "gpt2"), strict=True)}
    assert used == {"pll", "likelihood"}
    alone = choose_comparable(cells[:1])
    assert plan_cells(alone[0], tiny.model("bert"))[0].name == "crows"
