"""Scores equal the published semantics, written again in `published.py`: one test for each row of the table in docs/dev/reproduction-record.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import AddedToken

from isogloss import measure
from isogloss.items import Item
from isogloss.models.load import describe, wrap
from isogloss.models.model import Model
from support import published, tiny
from support.examples import CLOSE, INTER, INTRA, blank, rows_of
from test_metrics_pairs import sentences
from test_pair_methods import PAIRS, SENTENCES, pair

TOLERANCE = {"mt5": 1e-4}  # as docs/reference/methods.md says, for log-probabilities
BERTS = ("bert", "electra", "distilbert")
MASKED = (*BERTS, "roberta", "xlm-roberta")
GLUED = ("stuck", "chinese")  # something is glued to the right of BLANK
FOLLOWED = [
    item
    for item in INTER
    if item.context and item.context.strip() not in ("", "!") and item.language in ("en", "de", "tr")
]


def near(found: float | None, wanted: float, *, name: str = "") -> bool:
    """Whether two probabilities are as near as the documented tolerance of their logarithms says."""
    assert found is not None
    return math.isclose(math.log(found), math.log(wanted), abs_tol=TOLERANCE.get(name, CLOSE), rel_tol=0)


def start_of(model: Model) -> int:
    token = model.tokenizer.bos_token_id
    return int(model.net.config.bos_token_id if token is None else token)


def without_space_in_mask() -> Model:
    """RoBERTa with a mask that does not take the space before it, as from a folder with vocab.json and merges.txt only."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = tiny._finish(
        tiny._bytes([*tiny._special("<s>", "<pad>", "</s>", "<unk>"), AddedToken("<mask>", special=True)]),
        "<s> $A </s>", bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>", unk_token="<unk>",
        pad_token="<pad>", mask_token="<mask>",
    )  # fmt: skip
    assert isinstance(tokenizer, PreTrainedTokenizerFast)
    net = tiny.network("roberta")
    return wrap(net, tokenizer, info=describe(net, tokenizer, name="tiny-roberta-old"))


# ---- 1, intrasentence, masked models


@pytest.mark.parametrize("name", BERTS)
def test_word_pieces_score_as_published_by_default(name: str) -> None:
    model = tiny.model(name)
    items = [item for item in INTRA if item.id not in GLUED]
    rows = rows_of(model, items, "unmask")
    for item in items:
        for candidate in item.candidates:
            wanted = published.intra_masked(model.net, model.tokenizer, item.context, candidate.word)
            assert near(rows[candidate.id].value, wanted), candidate.id


@pytest.mark.parametrize("name", MASKED)
def test_the_paper_variant_is_the_published_cutting_for_every_masked_model(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, INTRA, "unmask", variant="paper")
    for item in INTRA:
        for candidate in item.candidates:
            wanted = published.intra_masked(model.net, model.tokenizer, item.context, candidate.word)
            assert near(rows[candidate.id].value, wanted), candidate.id


def test_every_blank_gets_the_pieces_and_the_mask_and_the_first_mask_is_read() -> None:
    model = tiny.model("bert")
    item = blank("two", "en", "A BLANK man is a BLANK man.", "friendly", "compassionate", "green")
    rows = rows_of(model, [item], "unmask")
    for candidate in item.candidates:
        wanted = published.intra_masked(model.net, model.tokenizer, item.context, candidate.word)
        assert near(rows[candidate.id].value, wanted), candidate.id


def test_a_mask_that_leaves_the_space_before_it_gives_the_same_scores() -> None:
    old, usual = without_space_in_mask(), tiny.model("roberta")
    assert old.tokenizer.tokenize("is <mask>")[-2:] == ["Ġ", "<mask>"]
    for variant in ("prob", "all-masked"):
        found, wanted = (rows_of(model, INTRA, "unmask", variant=variant) for model in (old, usual))
        for key, row in wanted.items():
            assert found[key].pieces == row.pieces, key
            assert found[key].logprobs == pytest.approx(row.logprobs, abs=CLOSE), key


def in_place(model: Model, item: Item, word: str) -> list[float]:
    """Log-probabilities from the tokens of the filled sentence alone, the word's pieces found by their characters."""
    left, _, right = item.context.partition("BLANK")
    made = model.tokenizer(left + word + right, return_offsets_mapping=True)
    ids, offsets = made["input_ids"], made["offset_mapping"]
    low, high = len(left), len(left) + len(word)
    inside = [k for k, (start, end) in enumerate(offsets) if start >= low and low < end <= high]
    mask, found = model.tokenizer.mask_token_id, []
    for k, place in enumerate(inside):
        shown = [*ids[: inside[0]], *(ids[p] for p in inside[:k]), mask, *ids[inside[-1] + 1 :]]
        found.append(published.table(model.net, shown)[inside[0] + k, ids[place]].item())
    return found


@pytest.mark.parametrize(
    ("language", "context"),
    [("de", "Sie ist BLANKer als er."), ("tr", "Doktor BLANKdır."), ("en", "She was BLANKish quiet.")],
)
def test_what_is_glued_to_the_right_of_the_blank_is_cut_as_in_the_filled_sentence(language: str, context: str) -> None:
    model = tiny.model("bert")
    item = blank("glued", language, context, "kind", "nazik", "quiet")
    rows = rows_of(model, [item], "unmask")
    compared = 0
    for candidate in item.candidates:
        tokens = model.tokenizer.tokenize(candidate.text)
        own = model.tokenizer.tokenize(context.partition("BLANK")[0] + candidate.word)
        if tokens[: len(own)] != own:
            continue  # the trained tokenizer merges the suffix with this word; training breaks ties at random
        wanted = in_place(model, item, candidate.word)
        assert rows[candidate.id].logprobs == pytest.approx(wanted, abs=CLOSE), candidate.id
        compared += 1
    assert compared


# ---- 2 and 5, causal models


@pytest.mark.parametrize("name", tiny.CAUSAL)
def test_a_causal_sentence_scores_as_published_with_the_start_token_for_the_first_token_only(name: str) -> None:
    model = tiny.model(name)
    items = [item for item in INTRA if item.id != "alone"]
    rows = rows_of(model, items, "likelihood", start="first")
    for item in items:
        for candidate in item.candidates:
            wanted = published.intra_gpt2(model.net, model.tokenizer, candidate.text, start_of(model))
            assert near(rows[candidate.id].value, wanted), candidate.id


@pytest.mark.parametrize("case", ["orig", "b", "c", "d", "e", "f"])
@pytest.mark.parametrize("name", ["gpt2", "llama", "qwen2"])
def test_a_continuation_scores_as_published_in_every_case(name: str, case: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, FOLLOWED, "continuation", case=case, start="first")
    for item in FOLLOWED:
        for candidate in item.candidates:
            wanted = published.inter_gpt2(model.net, model.tokenizer, item.context, candidate.text, start_of(model))
            assert math.isclose(rows[candidate.id].value, wanted[case], rel_tol=5 * CLOSE), candidate.id


def test_a_single_sentence_has_its_vector_with_every_start() -> None:
    model = tiny.model("gpt2")
    text = SENTENCES[0].candidates[0].text
    ids = torch.tensor([model.tokenizer.encode(text, add_special_tokens=False)])
    with torch.no_grad():
        wanted = model.net.transformer(input_ids=ids).last_hidden_state[0].double().mean(0)
    row = rows_of(model, SENTENCES[:1], "likelihood", start="first")[SENTENCES[0].candidates[0].id]
    assert row.vector == pytest.approx(wanted.tolist(), abs=1e-4)


# ---- 3 and 5, encoder-decoder models


@pytest.mark.parametrize("name", tiny.SEQ2SEQ)
def test_t5_scores_as_published(name: str) -> None:
    model = tiny.model(name)
    intra = rows_of(model, INTRA, "unmask", variant="paper")
    for item in INTRA:
        for candidate in item.candidates:
            wanted = published.intra_t5(model.net, model.tokenizer, item.context, candidate.word)
            assert near(intra[candidate.id].value, wanted, name=name), candidate.id
    inter = rows_of(model, FOLLOWED, "continuation", closing="with")
    for item in FOLLOWED:
        for candidate in item.candidates:
            wanted = published.inter_t5(model.net, model.tokenizer, item.context, candidate.text)
            assert near(inter[candidate.id].value, wanted, name=name), candidate.id


# ---- 4, next sentences


@pytest.mark.parametrize("name", ["bert", "ernie"])
def test_next_sentences_score_as_published(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, FOLLOWED, "nsp")
    for item in FOLLOWED:
        for candidate in item.candidates:
            wanted = published.inter_nsp(model.net, model.tokenizer, item.context, candidate.text)
            assert near(rows[candidate.id].value, wanted), candidate.id


# ---- 6, CrowS-Pairs

TWO_WAYS = pair("two-ways", "en", "The nurse and the doctor is kind.", "The doctor and the nurse is kind.")


@pytest.mark.parametrize("direction", ["stereo", "antistereo"])
@pytest.mark.parametrize("name", MASKED)
def test_crows_pairs_score_as_published_in_either_direction(name: str, direction: str) -> None:
    model = tiny.model(name)
    items = [replace(item, tags={**item.tags, "direction": direction}) for item in (*PAIRS, TWO_WAYS)]
    rows = rows_of(model, items, "crows")
    for item in items:
        more, less = item.candidates
        wanted = published.crows(model.net, model.tokenizer, more.text, less.text, direction == "antistereo")
        for candidate, value in zip((more, less), wanted, strict=True):
            row = rows[candidate.id]
            if row.value is None:
                assert value == 0.0
                assert row.why == "the two sentences share no token"
            else:
                assert row.value == pytest.approx(value, abs=CLOSE * max(1, row.tokens or 0))


def test_a_pair_without_a_shared_token_has_no_score_and_says_why() -> None:
    rows = rows_of(tiny.model("bert"), [pair("apart", "en", "nurse", "doctor")], "crows")
    for row in rows.values():
        assert (row.value, row.tokens, row.why) == (None, 0, "the two sentences share no token")


# ---- 7, pseudo-log-likelihood


@pytest.mark.parametrize("name", MASKED)
def test_pseudo_log_likelihoods_are_those_of_minicons(name: str) -> None:
    model = tiny.model(name)
    pairs = [item for item in PAIRS if item.language in ("en", "de", "tr")]
    plain, within = rows_of(model, pairs, "pll"), rows_of(model, pairs, "pll_word_l2r")
    for item in pairs:
        for candidate in item.candidates:
            size = CLOSE * plain[candidate.id].tokens
            wanted = published.pll(model.net, model.tokenizer, candidate.text)
            assert plain[candidate.id].value == pytest.approx(wanted, abs=size)
            wanted = published.pll_word_l2r(model.net, model.tokenizer, candidate.text)
            assert within[candidate.id].value == pytest.approx(wanted, abs=size)


# ---- 8, lm-evaluation-harness


@pytest.mark.parametrize("name", tiny.CAUSAL)
def test_the_summed_likelihood_is_what_lm_eval_computes(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, PAIRS, "likelihood", length="sum")
    for item in PAIRS:
        for candidate in item.candidates:
            row = rows[candidate.id]
            wanted = published.loglikelihood(model.net, model.tokenizer, candidate.text, start_of(model))
            assert row.value == pytest.approx(wanted, abs=CLOSE * row.tokens), candidate.id


# ---- 9, AUL, AULA and MBE


@pytest.mark.parametrize("name", MASKED)
def test_aul_aula_and_vectors_are_those_of_kaneko(name: str) -> None:
    model = tiny.model(name)
    plain, rows = rows_of(model, SENTENCES, "aul"), rows_of(model, SENTENCES, "aula")
    for item in SENTENCES:
        candidate = item.candidates[0]
        aul, _, vector = published.kaneko(model.net, model.tokenizer, candidate.text)
        assert plain[candidate.id].value == pytest.approx(aul, abs=CLOSE)
        assert plain[candidate.id].vector == pytest.approx(vector.tolist(), abs=10 * CLOSE)
        assert rows[candidate.id].value == pytest.approx(aul, abs=CLOSE)  # the last of its rows is AUL


def test_aula_is_seen_in_bfloat16() -> None:
    """Rows of attention add up to one only as exactly as the number format allows."""
    from isogloss.models.forward import is_attention

    exact = torch.softmax(4 * torch.randn(2, 3, 60, 60, generator=torch.Generator().manual_seed(0)), -1)
    assert is_attention(exact, 60)
    assert is_attention(exact.bfloat16(), 60)
    assert is_attention(exact.half(), 60)
    assert not is_attention(exact * 1.01, 60)
    assert not is_attention((exact * 1.1).bfloat16(), 60)


def test_mbe_in_paper_mode_is_kaneko_s_score() -> None:
    rng = np.random.default_rng(0)
    scores, vectors = rng.normal(size=11), (rng.normal(size=(11, 4)) + 1).astype(np.float32)
    scored = sentences(scores.tolist(), vectors, ["female"] * 5 + ["male"] * 6)
    weights = torch.tensor(vectors[:5].astype(float) @ vectors[5:].astype(float).T)
    wanted = published.mbe(scores[:5].tolist(), scores[5:].tolist(), weights)
    found = measure(scored, metrics=["mbe"], mode="paper", resamples=100)[0]
    assert found.value == pytest.approx(wanted, abs=1e-6)
