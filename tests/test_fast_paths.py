"""What makes the engine fast gives the same numbers, is put back afterwards, and is left out where it would not be exact."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from isogloss.models import engine, forward, text
from isogloss.models.families import masked
from isogloss.models.head import patched_forward
from isogloss.models.model import Model
from isogloss.models.questions import ARGMAX, DISTRIBUTION, LOGPROB, VECTOR, Question
from support import tiny

CLOSE = 1e-5
BERT_LIKE = (
    "bert", "ernie", "megatron-bert", "roberta", "electra", "deberta", "deberta-new-head", "deberta-v2", "xlm-roberta",
    "convbert",
)  # fmt: skip
IDS = [(5, 9, 14, 30, 31, 7, 8), (6, 20, 11, 40, 9, 12), (5, 9, 15, 30, 31, 7, 10)]


def answers(model: Model, questions: Sequence[Question]) -> list[Any]:
    return engine.answer_all(model, questions, token_budget=2048)


# ---- the last layer


@pytest.mark.parametrize("name", tiny.MASKED)
def test_the_last_layer_is_cut_where_the_model_is_built_like_bert(name: str) -> None:
    assert (tiny.model(name).state["last_attention_output"] is not None) is (name in BERT_LIKE)


@pytest.mark.parametrize("name", BERT_LIKE)
def test_the_last_layer_at_asked_positions_gives_what_the_full_one_gives(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny.model(name)
    questions = [Question(ids, (2, 4), (ids[2], 9), want) for ids in IDS for want in (LOGPROB, ARGMAX)]
    questions += [Question(IDS[0], (3,), want=DISTRIBUTION)]
    shapes: list[tuple[int, ...]] = []
    own = masked.read_head
    monkeypatch.setattr(
        masked, "read_head", lambda head, states, **more: shapes.append(states.shape) or own(head, states, **more)
    )
    found = answers(model, questions)
    monkeypatch.setitem(model.state, "last_attention_output", None)
    for one, wanted in zip(found, answers(model, questions), strict=True):
        assert np.abs(one - wanted).max() < CLOSE
    if model.state["padded"]:
        assert [shape[:2] for shape in shapes] == [(1, 7), (3, 7)]


def test_the_last_layer_is_whole_when_more_than_positions_is_wanted() -> None:
    asked = [(0, 0), (1, 1)]
    plain = Question(IDS[0], (2,), (4,))
    assert forward.find_asked_positions([plain, replace(plain, positions=(2, 3))], asked) == {
        (0, 2): 0,
        (1, 2): 1,
        (1, 3): 2,
    }
    assert forward.find_asked_positions([plain, replace(plain, want=VECTOR)], asked) is None


def test_a_layer_that_mixes_positions_behind_its_attention_is_not_cut() -> None:
    net, tokenizer = tiny.network("bert"), tiny.tokenizer_of("bert")
    layer = net.bert.encoder.layer[-1]
    own = layer.output.forward
    layer.output.forward = lambda states, before: own(states, before + before.flip(1))
    model = tiny.wrap(net, tokenizer, info=tiny.describe(net, tokenizer, name="mixing"))
    assert model.state["last_attention_output"] is None


# ---- activations


@pytest.mark.parametrize("name", ["gpt2", "albert", "mt5", "t5-v1.1", "umt5"])
def test_quick_activations_give_the_same_and_are_put_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny.model(name)
    decoder = {"decoder_ids": (0, 9, 8)} if name in tiny.SEQ2SEQ else {}
    questions = [Question(ids, (1, 2), (7, 9), **decoder) for ids in IDS]  # type: ignore[arg-type]
    assert len(model.state["activations"]) >= 2
    found = answers(model, questions)
    assert not any("forward" in module.__dict__ for module in model.state["activations"])
    monkeypatch.setitem(model.state, "activations", ())
    for one, wanted in zip(found, answers(model, questions), strict=True):
        assert np.abs(one - wanted).max() < CLOSE


def test_only_activations_that_are_equal_are_replaced() -> None:
    from transformers.activations import ClippedGELUActivation, NewGELUActivation

    new = NewGELUActivation()
    assert forward.find_activations(torch.nn.Sequential(new, ClippedGELUActivation(-1, 1), torch.nn.ReLU())) == (new,)


# ---- the head


def test_far_away_logits_are_neither_lost_nor_slow() -> None:
    head = tiny.model("gpt2").state["head"]
    logits = torch.tensor([[0.0, -50.0, -95.0, -torch.inf], [3.0, 3.0, -300.0, 3.0]])
    from isogloss.models.head import sum_of_powers

    wanted = logits.double().sub(logits.double().amax(1, keepdim=True)).exp().sum(1)
    found = sum_of_powers(logits.clone(), logits.amax(1))
    assert (found.double() - wanted).abs().max() < 1e-7
    assert head.blocked


# ---- what a tokenizer said before


class Counting:
    """A tokenizer that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def encode(self, given: str, add_special_tokens: bool = True) -> list[int]:
        self.asked += 1
        return [1, *map(ord, given), 2] if add_special_tokens else [*map(ord, given)]

    def decode(self, ids: list[int]) -> str:
        self.asked += 1
        return chr(ids[0])


def test_a_tokenizer_is_asked_once_for_each_text() -> None:
    tokenizer = Counting()
    for _ in range(3):
        assert text.encode(tokenizer, "ab") == (97, 98)
        assert text.encode_full(tokenizer, "ab") == (1, 97, 98, 2)
        assert text.special_tokens(tokenizer) == ((1,), (2,))
        assert text.decode(tokenizer, (97, 98, 97)) == ("a", "b", "a")
    assert tokenizer.asked == 2 + 2 + 2
    assert text.encode(Counting(), "ab") == (97, 98)


def test_what_is_known_stays_small_and_goes_with_its_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MOST_CACHED", 10)
    tokenizer = Counting()
    for number in range(100):
        assert text.encode(tokenizer, f"text {number}")[-1] == ord(str(number)[-1])
    for number in range(89):  # of the earlier ones none is kept
        text.encode(tokenizer, f"text {number}")
    assert tokenizer.asked == 100 + 89
    known = weakref.ref(tokenizer)
    del tokenizer
    assert known() is None


# ---- encoder-decoder models


def test_decoder_inputs_of_like_length_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny.model("t5")
    shapes: list[tuple[int, ...]] = []
    hook = model.state["decoder"].register_forward_hook(
        lambda module, given, options, output: shapes.append(tuple(options["input_ids"].shape)), with_kwargs=True
    )
    monkeypatch.setattr(engine.fill_batches, "__kwdefaults__", {"extra": 1})
    ends = [(0, *range(10, 10 + size)) for size in (2, 12, 2, 12)]
    questions = [Question(IDS[n % 2], (1,), (9,), decoder_ids=end) for n, end in enumerate(ends)]
    questions += [replace(question, ids=IDS[1 - n % 2]) for n, question in enumerate(questions)]
    try:
        together = answers(model, questions)
    finally:
        hook.remove()
    assert sorted(shape for shape in shapes if shape[0] > 1) == [(2, 3), (2, 13)]  # single ones are the head's
    for question, found in zip(questions, together, strict=True):
        assert np.abs(found - answers(model, [question])[0]).max() < CLOSE


# ---- graphics cards, simulated: none was at hand


class Sent:
    """A tensor that notes how it is moved."""

    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def pin_memory(self) -> Sent:
        self.log.append("pinned")
        return self

    def to(self, device: str, non_blocking: bool = False) -> Sent:
        self.log.append((device, non_blocking))
        return self


@pytest.mark.parametrize(
    ("device", "moves"),
    [("cpu", [("cpu", False)]), ("cuda:1", ["pinned", ("cuda:1", True)]), ("mps", [("mps", False)])],
)
def test_inputs_go_to_a_graphics_card_from_pinned_memory_without_waiting(device: str, moves: list[Any]) -> None:
    log: list[Any] = []
    forward.send({"ids": Sent(log)}, device)  # type: ignore[dict-item]
    assert log == moves


def test_products_have_all_their_digits_on_a_graphics_card_and_the_switch_is_put_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    switches = SimpleNamespace(allow_tf32=True), SimpleNamespace(allow_tf32=True)
    monkeypatch.setattr(torch.backends.cuda, "matmul", switches[0])
    monkeypatch.setattr(torch.backends, "cudnn", switches[1])
    seen: list[Any] = []
    monkeypatch.setattr(torch, "autocast", lambda kind, enabled: seen.append((kind, enabled)) or torch.no_grad())
    with forward.one_pass(replace(tiny.model("gpt2"), device="cuda:0")):
        assert [switch.allow_tf32 for switch in switches] == [False, False]
        assert torch.is_inference_mode_enabled()
    assert [switch.allow_tf32 for switch in switches] == [True, True]
    assert seen == [("cuda", False)]


def test_scores_do_not_change_under_an_autocast_of_the_caller() -> None:
    model, questions = tiny.model("bert"), [Question(ids, (2,), (9,)) for ids in IDS]
    wanted = answers(model, questions)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = answers(model, questions)
    assert [one.tolist() for one in found] == [one.tolist() for one in wanted]


def test_memory_of_a_graphics_card_is_given_back_before_a_batch_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    emptied: list[int] = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append(1))
    model = tiny.model("bert")

    def answer(own: Model, questions: Any, *, batch: Any) -> Any:
        if len(batch) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return model.family.answer(model, questions, batch=batch)

    there = replace(model, device="cuda", family=replace(model.family, answer=answer))
    questions = [Question(ids, (2,), (9,)) for ids in IDS]
    found = engine.answer_all(there, questions, token_budget=2048)
    assert len(emptied) >= 1
    assert np.allclose(np.concatenate(found), np.concatenate(answers(model, questions)), atol=CLOSE)


def test_a_module_that_was_replaced_is_as_it_was_after_an_error() -> None:
    module = torch.nn.ReLU()
    with pytest.raises(ValueError, match="no"), patched_forward(module, lambda given: given):
        raise ValueError("no")
    assert "forward" not in module.__dict__
