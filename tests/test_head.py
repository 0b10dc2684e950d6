"""The head: log-probabilities at the asked positions equal those of a full pass, without positions × vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
import transformers
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from isogloss.errors import IsoglossError
from isogloss.models import head as head_module
from isogloss.models.head import find_head, logits_of
from isogloss.models.model import Model
from support import tiny
from support.references import NoCache

CLOSE = 1e-5
OWN_WAY = {"gemma2", "mobilebert", "deberta-new-head"}
IDS = torch.tensor([[5, 9, 14, 30, 31, 7, 8, 100, 11, 6]])


def full_pass(model: Model) -> torch.Tensor:
    """The logits of one text in a plain pass."""
    inputs: dict[str, Any] = {"input_ids": IDS}
    if model.info.family == "seq2seq":
        inputs["decoder_input_ids"] = IDS
    if getattr(model.net.config, "pre_norm", False):
        inputs["cache"] = NoCache()
    with torch.no_grad():
        return logits_of(model.net(**inputs))[0]


def states_of(model: Model) -> torch.Tensor:
    """The body's hidden states for the same text."""
    caught: list[torch.Tensor] = []
    body = model.state["head"].body
    hook = body.register_forward_hook(lambda module, given, output: caught.append(output.last_hidden_state[0]))
    full_pass(model)
    hook.remove()
    return caught[0]


def check_every_target(model: Model) -> None:
    """Every token of the vocabulary at every position."""
    head, states, wanted = model.state["head"], states_of(model), full_pass(model).log_softmax(-1)
    size = wanted.shape[1]
    rows = torch.arange(len(states)).repeat_interleave(size)
    with torch.inference_mode():
        found = head.logprobs(states[rows], torch.arange(size).repeat(len(states)))
    assert torch.allclose(found.view(len(states), size), wanted, atol=CLOSE, rtol=0)
    with torch.inference_mode():
        assert torch.equal(head.argmax(states), wanted.argmax(-1))


@pytest.mark.parametrize("name", tiny.KINDS)
def test_log_probabilities_equal_those_of_a_full_pass(name: str) -> None:
    check_every_target(tiny.model(name))


@pytest.mark.parametrize("name", tiny.KINDS)
def test_the_blocked_way_is_taken_where_it_is_exact(name: str) -> None:
    assert tiny.model(name).state["head"].blocked is (name not in OWN_WAY)


@pytest.mark.parametrize("name", tiny.KINDS)
def test_blocks_of_any_size_give_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_module, "LOGITS_AT_ONCE", 1)
    monkeypatch.setattr(head_module, "LOGITS_IN_CACHE", 1)
    monkeypatch.setattr(head_module, "LEAST_BLOCK", 7)
    check_every_target(tiny.model(name))


class Largest(TorchDispatchMode):
    """Notes the size of the largest tensor that is made while it is open."""

    def __init__(self) -> None:
        super().__init__()
        self.size = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        for one in made if isinstance(made, tuple | list) else [made]:
            if isinstance(one, torch.Tensor) and one.untyped_storage().data_ptr() not in self.known:
                self.size = max(self.size, one.numel())
        return made

    @contextmanager
    def besides(self, model: Model) -> Iterator[None]:
        self.known = {tensor.untyped_storage().data_ptr() for tensor in model.net.parameters()}
        with self:
            yield


@pytest.mark.parametrize("name", ["bert", "gpt2", "gemma2", "t5"])
def test_no_tensor_holds_positions_times_vocabulary(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, size = tiny.model(name), tiny.model(name).info.vocabulary
    states = states_of(model).repeat(100, 1)
    monkeypatch.setattr(head_module, "LOGITS_AT_ONCE", 4 * size)
    monkeypatch.setattr(head_module, "LOGITS_IN_CACHE", 4 * size)
    monkeypatch.setattr(head_module, "LEAST_BLOCK", 4)
    largest = Largest()
    with torch.inference_mode(), largest.besides(model):
        model.state["head"].logprobs(states, torch.arange(len(states)) % size)
    assert largest.size <= len(states) * 2 * tiny.WIDE
    assert largest.size < len(states) * size / 3


def test_soft_capped_logits_are_never_taken_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny.model("gemma2")
    head, states = model.state["head"], states_of(model)
    targets = torch.arange(len(states))
    with torch.inference_mode():
        right = head.logprobs(states, targets)
        monkeypatch.setattr(head, "blocked", True)
        wrong = head.logprobs(states, targets)
    assert (right - wrong).abs().max() > 0.1


def test_a_head_that_the_body_does_not_feed_is_not_trusted() -> None:
    net = tiny.network("opt")
    sample = {"input_ids": IDS, "use_cache": False}
    with torch.inference_mode():
        found = find_head(net, [net.base_model, net.get_decoder()], inputs=head_module.blank_inputs, sample=sample)
        assert found.body is net.model.decoder
        with pytest.raises(IsoglossError) as caught:
            find_head(net, [net.base_model], inputs=head_module.blank_inputs, sample=sample)
    assert str(caught.value) == ("The head of a 'opt' model cannot be separated from its body. Choose another model.")


@pytest.mark.parametrize("name", tiny.KINDS)
def test_the_network_is_left_as_it_was(name: str) -> None:
    model = tiny.model(name)
    before = full_pass(model)
    states = states_of(model)
    with torch.inference_mode():
        model.state["head"].logprobs(states, torch.zeros(len(states), dtype=torch.long))
    assert torch.equal(full_pass(model), before)
    assert "forward" not in model.state["head"].body.__dict__
    assert "forward" not in model.net.get_output_embeddings().__dict__


@pytest.mark.parametrize(("name", "scale"), [("t5", tiny.WIDE**-0.5), ("t5-v1.1", 1.0), ("mt5", 1.0), ("umt5", 1.0)])
def test_only_a_t5_with_tied_matrices_scales_its_output(name: str, scale: float) -> None:
    model = tiny.model(name)
    states = states_of(model)
    logits = scale * states @ model.net.lm_head.weight.T
    wanted = logits.log_softmax(-1)[torch.arange(len(states)), IDS[0]]
    with torch.inference_mode():
        found = model.state["head"].logprobs(states, IDS[0])
    assert torch.allclose(found, wanted, atol=CLOSE)


class Peeking(nn.Module):
    """Adds to every state the states that come after it."""

    def __init__(self, own: nn.Module) -> None:
        super().__init__()
        self.own = own

    def forward(self, states: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return self.own(states + states.flip(1), *args, **kwargs)


def test_a_model_that_sees_later_tokens_is_not_scored_as_causal() -> None:
    net, tokenizer = tiny.network("gpt2"), tiny.tokenizer_of("gpt2")
    net.transformer.h[1].mlp = Peeking(net.transformer.h[1].mlp)
    with pytest.raises(IsoglossError) as caught:
        tiny.wrap(net, tokenizer, info=tiny.describe(net, tokenizer, name="peek"))
    assert str(caught.value) == (
        "'peek' is a 'gpt2' model, which sees later tokens; it cannot be scored as a causal model."
    )


@pytest.mark.parametrize("blocked", [True, False])
def test_a_large_vocabulary_costs_no_precision(blocked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # torch's own log_softmax in float32 is off by 3e-5 here, and by 1e-4 on the real weights of Gemma 3
    torch.manual_seed(0)
    options = {"vocab_size": 262_144, "n_embd": 8, "n_layer": 1, "n_head": 1, "n_positions": 16}
    net = transformers.GPT2LMHeadModel(transformers.GPT2Config(**options, initializer_range=1.0)).eval()
    sample = {"input_ids": IDS, "use_cache": False}
    with torch.inference_mode():
        head = find_head(net, [net.base_model], inputs=head_module.blank_inputs, sample=sample)
        monkeypatch.setattr(head, "blocked", blocked)
        states = net.base_model(**sample).last_hidden_state[0]
        found = head.logprobs(states, IDS[0])
        logits = states.double() @ net.lm_head.weight.double().T
    wanted = logits.log_softmax(-1)[torch.arange(len(states)), IDS[0]]
    assert (found.double() - wanted).abs().max() < CLOSE
