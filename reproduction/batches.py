"""The fault of the published runs: an input with two masks shifts all later inputs of its batch by one.

The published code collects the rows of all masks of a batch and pairs them by position with the tokens to look up. An
input with two masks has one row too many, so that every later token of the batch is looked up at another input's mask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from isogloss.items import BLANK, Item

SIZES = (1, 2, 3, 4, 8, 16, 32, 64)
CLOSE = 1e-3  # relative: small probabilities of another machine's float32


@dataclass(frozen=True, slots=True)
class Input:
    """A context with the mask behind the first pieces of a word, and the piece to look up there."""

    candidate: str
    text: str
    piece: int


def published_inputs(tokenizer: Any, items: Sequence[Item]) -> list[Input]:
    """Every input of the published run, in its order: item by item, candidate by candidate, piece by piece."""
    inputs = []
    for item in items:
        for candidate in item.candidates:
            pieces = tokenizer.encode(candidate.word, add_special_tokens=False)
            for k, piece in enumerate(pieces):
                filling = tokenizer.decode(pieces[:k]) + tokenizer.mask_token
                inputs.append(Input(candidate.id, (item.context or "").replace(BLANK, filling), piece))
    return inputs


def published_scores(net: Any, tokenizer: Any, *, inputs: Sequence[Input], size: int) -> dict[str, float]:
    """The published scores of the candidates that an input with two masks could touch, with batches of this size."""
    doubled = [k for k, one in enumerate(inputs) if one.text.count(tokenizer.mask_token) > 1]
    touched = {inputs[k].candidate for d in doubled for k in range(d, min(len(inputs), (d // size + 1) * size))}
    batches = sorted({k // size for k, one in enumerate(inputs) if one.candidate in touched})
    values: dict[str, list[float]] = {}
    for number in batches:
        batch = inputs[number * size : (number + 1) * size]
        for one, value in zip(batch, _look_up(net, tokenizer, batch), strict=True):
            values.setdefault(one.candidate, []).append(value)
    return {name: sum(values[name]) / len(values[name]) for name in touched}


def _look_up(net: Any, tokenizer: Any, batch: Sequence[Input]) -> list[float]:
    """The k-th token at the k-th mask of the batch, whichever input that mask belongs to."""
    encoded = tokenizer([one.text for one in batch], padding=True, return_tensors="pt", return_token_type_ids=False)
    with torch.no_grad():
        states = net.bert(**encoded).last_hidden_state[encoded.input_ids == tokenizer.mask_token_id]
        probabilities = net.cls.predictions(states).softmax(-1)
    return [float(probabilities[k, one.piece]) for k, one in enumerate(batch)]


@dataclass(frozen=True, slots=True)
class Shift:
    """The batch size that explains the published scores: how many candidates it touches, and how many of them it gives back."""

    size: int
    touched: tuple[str, ...]
    given: int


def find_shift(net: Any, tokenizer: Any, *, items: Sequence[Item], published: Mapping[str, float]) -> Shift:
    """The batch size whose scores agree with the published ones for the largest share of the candidates that it touches."""
    inputs = published_inputs(tokenizer, items)
    shifts = []
    for size in SIZES:
        scores = published_scores(net, tokenizer, inputs=inputs, size=size)
        given = sum(is_close(value, published[name]) for name, value in scores.items())
        shifts.append(Shift(size, tuple(sorted(scores)), given))
    return max(shifts, key=lambda shift: (shift.given / len(shift.touched), shift.given))


def is_close(a: float, b: float, *, within: float = CLOSE) -> bool:
    """Whether two scores differ by no more than this share of the second."""
    return abs(a - b) <= within * abs(b)
