"""Attention received: how much each token is looked at, averaged over layers, heads and queries while the layers run."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

EAGER = "eager"


@dataclass(frozen=True, slots=True)
class AttentionOutputs:
    """Where a model's attention can be seen: modules with the place in their output, and what the body must be told."""

    outputs: tuple[tuple[nn.Module, int], ...]
    arguments: dict[str, Any]


class Received:
    """The running sum of the attention that every token received, and over how many layers."""

    def __init__(self, mask: Tensor) -> None:
        self.weights = mask.float() / mask.sum(1, keepdim=True)
        self.total = torch.zeros_like(self.weights)
        self.layers = 0

    def add(self, attention: Tensor) -> None:
        """One layer's attention, [rows, heads, queries, keys]; padded queries count for nothing."""
        self.total += torch.einsum("rhqk,rq->rk", attention.float(), self.weights) / attention.shape[1]
        self.layers += 1

    def mean(self) -> Tensor:
        """The average over layers: [rows, keys]."""
        return self.total / self.layers


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
    if (
        not isinstance(part, Tensor)
        or not part.is_floating_point()
        or part.ndim != 4
        or part.shape[-2:] != (length, length)
    ):
        return False
    sums = part.float().sum(-1)
    exact = max(1e-3, 4 * torch.finfo(part.dtype).eps)  # bfloat16 rounds each weight to two or three digits
    return bool(torch.allclose(sums, torch.ones_like(sums), rtol=0, atol=exact))


@contextmanager
def eager(net: Any) -> Iterator[None]:
    """While this is open, attention is computed step by step, so that it can be seen."""
    usual = net.config._attn_implementation
    if usual == EAGER:
        yield
        return
    net.set_attn_implementation(EAGER)
    try:
        yield
    finally:
        net.set_attn_implementation(usual)


@contextmanager
def watching(net: Any, outputs: AttentionOutputs, *, received: Received) -> Iterator[None]:
    """While this is open, every layer's attention is added up and let go."""

    def hook(index: int) -> Any:
        def take(module: nn.Module, *passed: Any) -> tuple[Any, ...]:
            output: tuple[Any, ...] = passed[-1]
            received.add(output[index])
            return (*output[:index], output[index].new_empty(0), *output[index + 1 :])

        return take

    hooks = [module.register_forward_hook(hook(index)) for module, index in outputs.outputs]
    try:
        with eager(net):
            yield
    finally:
        for handle in hooks:
            handle.remove()
