"""How a pass is run: without gradients, in full precision, with inputs on their way, and with quick activations."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from .head import patched_forward
from .model import Model

EQUAL = 1e-6


@contextmanager
def one_pass(model: Model) -> Iterator[None]:
    """While this is open, a model answers; afterwards it and torch are as they were."""
    kind = model.device.partition(":")[0]
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode())
        stack.enter_context(torch.autocast(kind, enabled=False))
        if kind == "cuda":
            stack.enter_context(_without_tf32())
        for module in model.state.get("activations", ()):
            stack.enter_context(patched_forward(module, _gelu))
        yield


@contextmanager
def _without_tf32() -> Iterator[None]:
    """Products of float32 matrices with all their digits: with TF32 they have ten bits."""
    switches = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [switch.allow_tf32 for switch in switches]
    for switch in switches:
        switch.allow_tf32 = False
    try:
        yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.allow_tf32 = value


def send(inputs: Mapping[str, Tensor], device: str) -> dict[str, Tensor]:
    """The inputs on their way to the device; a graphics card takes them from pinned memory while we go on."""
    if not device.startswith("cuda"):
        return {name: tensor.to(device) for name, tensor in inputs.items()}
    return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in inputs.items()}


def _gelu(values: Tensor) -> Tensor:
    return nn.functional.gelu(values, approximate="tanh")


def find_activations(net: Any) -> tuple[nn.Module, ...]:
    """The activations of transformers' own that give what torch's GELU gives in one step instead of eight."""
    sample = torch.linspace(-12, 12, 4001)
    own = [module for module in net.modules() if type(module).__module__ == "transformers.activations"]
    return tuple(module for module in own if not [*module.parameters()] and _is_gelu(module, sample))


def _is_gelu(module: nn.Module, sample: Tensor) -> bool:
    own = module(sample)
    return isinstance(own, Tensor) and bool(torch.allclose(own, _gelu(sample), atol=EQUAL, rtol=EQUAL))
