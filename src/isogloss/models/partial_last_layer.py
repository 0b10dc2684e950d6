"""The last layer at the asked positions only: behind its attention every position goes its own way."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from .head import TOLERANCE, gap, patched_forward
from .questions import ARGMAX, DISTRIBUTION, LOGPROB, Question

WORTH = 2  # it is worth while when at most this part of the positions is asked: a half
Spots = dict[tuple[int, int], int]


def find_limited_module(body: Any, inputs: Any) -> nn.Module | None:
    """The module behind the last attention that may be given some positions only; nothing where that is not exact.

    It is where models that are built like BERT project what the attention found. `inputs` are two texts or more.
    """
    try:
        gate: nn.Module = body.encoder.layer[-1].attention.output
        if sum(layer.attention.output is gate for layer in body.encoder.layer) != 1:
            return None
        full = body(**inputs).last_hidden_state
        spots: Spots = {(1, 2): 0, (0, 0): 1, (0, full.shape[1] - 1): 2}
        with limit_positions(gate, spots):
            states = body(**inputs).last_hidden_state
    except (AttributeError, TypeError, IndexError, RuntimeError, ValueError):
        return None
    wanted = torch.stack([full[spot] for spot in spots])[None]
    return gate if states.shape == wanted.shape and gap(wanted, states) < TOLERANCE else None


@contextmanager
def limit_positions(gate: nn.Module, spots: Spots) -> Iterator[None]:
    """While this is open, the body gives the hidden states of the spots, [1, spots, width], instead of all."""
    rows, columns = map(list, zip(*spots, strict=True))
    own: Callable[..., Any] = gate.forward

    def forward(*states: Tensor, **named: Tensor) -> Any:
        chosen = [state[rows, columns][None] for state in states]
        return own(*chosen, **{name: state[rows, columns][None] for name, state in named.items()})

    with patched_forward(gate, forward):
        yield


def find_spots(questions: Sequence[Question], asked: Sequence[tuple[int, int]]) -> Spots | None:
    """The rows and positions that are asked for, numbered; nothing when questions want more than their positions."""
    spots: Spots = {}
    for row, index in asked:
        if questions[index].want not in (LOGPROB, ARGMAX, DISTRIBUTION):
            return None
        for position in questions[index].positions:
            spots.setdefault((row, position), len(spots))
    return spots or None
