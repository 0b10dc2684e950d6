"""How a pass is run: without gradients, in full precision, with quick activations; seen by its attention, or short at its end.

The attention that each token receives is averaged over layers, heads and queries while the layers run. Behind its
attention the last layer treats every position by itself, so it may be given the asked positions only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from .head import TOLERANCE, gap, patched_forward
from .model import Model
from .questions import ARGMAX, DISTRIBUTION, LOGPROB, Question

EQUAL = 1e-6
EAGER = "eager"
WORTH = 2  # a short last layer is worth while when at most this part of the positions is asked: a half
AskedPositions = dict[tuple[int, int], int]


@contextmanager
def one_pass(model: Model) -> Iterator[None]:
    """While this is open, a model answers; afterwards it and torch are as they were."""
    kind = model.device.partition(":")[0]
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode())
        stack.enter_context(torch.autocast(kind, enabled=False))
        if kind == "cuda":  # products of float32 matrices with all their digits: with TF32 they have ten bits
            for switch in (torch.backends.cuda.matmul, torch.backends.cudnn):
                stack.callback(setattr, switch, "allow_tf32", switch.allow_tf32)
                switch.allow_tf32 = False
        for module in model.state.get("activations", ()):
            stack.enter_context(patched_forward(module, _gelu))
        yield


def send(inputs: Mapping[str, Tensor], device: str) -> dict[str, Tensor]:
    """The inputs on their way to the device; a graphics card takes them from pinned memory while we go on."""
    if not device.startswith("cuda"):
        return {name: tensor.to(device) for name, tensor in inputs.items()}
    return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in inputs.items()}


def pad(texts: Sequence[Sequence[int]], fill: int = 0) -> tuple[Tensor, Tensor]:
    """The tokens of texts as rows of one length, and a mask with 1 for each token that is not filled in."""
    longest = max(map(len, texts))
    ids = torch.tensor([[*text, *[fill] * (longest - len(text))] for text in texts])
    lengths = torch.tensor([len(text) for text in texts])
    return ids, (torch.arange(longest)[None] < lengths[:, None]).long()


def _gelu(values: Tensor) -> Tensor:
    return nn.functional.gelu(values, approximate="tanh")


def find_activations(net: Any) -> tuple[nn.Module, ...]:
    """The activations of transformers' own that give what torch's GELU gives in one step instead of eight."""
    sample = torch.linspace(-12, 12, 4001)
    equal = []
    for module in net.modules():
        if type(module).__module__ == "transformers.activations" and not [*module.parameters()]:
            own = module(sample)
            if isinstance(own, Tensor) and torch.allclose(own, _gelu(sample), atol=EQUAL, rtol=EQUAL):
                equal.append(module)
    return tuple(equal)


# ---- attention


@dataclass(frozen=True, slots=True)
class AttentionOutputs:
    """Where a model's attention can be seen: modules with the place in their output, and what the body must be told."""

    outputs: tuple[tuple[nn.Module, int], ...]
    arguments: dict[str, Any]


def find_attention(net: Any, body: nn.Module, *, inputs: dict[str, Any]) -> AttentionOutputs | None:
    """The modules of a body that give attention when it runs eagerly; nothing for a model without any."""
    length = inputs["input_ids"].shape[1]
    for arguments in ({}, {"output_attentions": True}):
        seen: dict[int, tuple[nn.Module, int]] = {}
        kept: list[Tensor] = []  # a tensor that is alive keeps its identity to itself

        def look(module: nn.Module, *passed: Any) -> None:
            output = passed[-1]
            for index, part in enumerate(output if isinstance(output, tuple) else ()):
                if is_attention(part, length) and id(part) not in seen:  # noqa: B023
                    seen[id(part)] = (module, index)  # noqa: B023
                    kept.append(part)  # noqa: B023

        hooks = [module.register_forward_hook(look) for module in body.modules()]
        try:
            with eager(net):
                body(**inputs, **arguments)
        except (RuntimeError, TypeError, IndexError, ValueError):
            continue
        finally:
            for hook in hooks:
                hook.remove()
        if seen:
            return AttentionOutputs(tuple(dict.fromkeys(seen.values())), arguments)
    return None


def is_attention(part: Any, length: int) -> bool:
    """Whether a part of a module's output is the attention of a text of that length: rows that sum to one."""
    if not isinstance(part, Tensor) or not part.is_floating_point():
        return False
    if part.ndim != 4 or part.shape[-2:] != (length, length):
        return False
    sums = part.float().sum(-1)
    exact = max(1e-3, 4 * torch.finfo(part.dtype).eps)  # bfloat16 rounds each weight to two or three digits
    return bool(torch.allclose(sums, torch.ones_like(sums), rtol=0, atol=exact))


@contextmanager
def eager(net: Any) -> Iterator[None]:
    """While this is open, attention is computed step by step, so that it can be seen."""
    usual = net.config._attn_implementation
    if usual != EAGER:
        net.set_attn_implementation(EAGER)
    try:
        yield
    finally:
        if usual != EAGER:
            net.set_attn_implementation(usual)


@contextmanager
def watching(net: Any, outputs: AttentionOutputs, *, mask: Tensor) -> Iterator[list[Tensor]]:
    """While this is open, every layer's attention is let go; the list gets what each token received, [rows, keys]."""
    weights = mask.float() / mask.sum(1, keepdim=True)  # padded queries count for nothing
    received: list[Tensor] = []

    def take(module: nn.Module, *passed: Any, index: int) -> tuple[Any, ...]:
        output: tuple[Any, ...] = passed[-1]
        attention = output[index]  # [rows, heads, queries, keys]
        received.append(torch.einsum("rhqk,rq->rk", attention.float(), weights) / attention.shape[1])
        return (*output[:index], attention.new_empty(0), *output[index + 1 :])

    hooks = [module.register_forward_hook(partial(take, index=index)) for module, index in outputs.outputs]
    try:
        with eager(net):
            yield received
    finally:
        for handle in hooks:
            handle.remove()


# ---- the last layer


def find_limited_module(body: Any, inputs: Any) -> nn.Module | None:
    """The module behind the last attention that may be given some positions only; nothing where that is not exact.

    It is where models that are built like BERT project what the attention found. `inputs` are two texts or more.
    """
    try:
        last_attention_output: nn.Module = body.encoder.layer[-1].attention.output
        if sum(layer.attention.output is last_attention_output for layer in body.encoder.layer) != 1:
            return None
        full = body(**inputs).last_hidden_state
        asked_positions: AskedPositions = {(1, 2): 0, (0, 0): 1, (0, full.shape[1] - 1): 2}
        with limit_positions(last_attention_output, asked_positions):
            states = body(**inputs).last_hidden_state
    except (AttributeError, TypeError, IndexError, RuntimeError, ValueError):
        return None
    wanted = torch.stack([full[place] for place in asked_positions])[None]
    return last_attention_output if states.shape == wanted.shape and gap(wanted, states) < TOLERANCE else None


@contextmanager
def limit_positions(last_attention_output: nn.Module, asked_positions: AskedPositions) -> Iterator[None]:
    """While this is open, the body gives the hidden states of the asked positions, [1, positions, width], instead of all."""
    rows, columns = map(list, zip(*asked_positions, strict=True))
    own: Callable[..., Any] = last_attention_output.forward

    def forward(*states: Tensor, **named: Tensor) -> Any:
        chosen = [state[rows, columns][None] for state in states]
        return own(*chosen, **{name: state[rows, columns][None] for name, state in named.items()})

    with patched_forward(last_attention_output, forward):
        yield


def find_asked_positions(questions: Sequence[Question], asked: Sequence[tuple[int, int]]) -> AskedPositions | None:
    """The rows and positions that are asked for, numbered; nothing when questions want more than their positions."""
    asked_positions: AskedPositions = {}
    for row, index in asked:
        if questions[index].want not in (LOGPROB, ARGMAX, DISTRIBUTION):
            return None
        for position in questions[index].positions:
            asked_positions.setdefault((row, position), len(asked_positions))
    return asked_positions or None
