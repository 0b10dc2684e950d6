"""The floor: what the bare body and the bare output matrix of a model need, with nothing to prepare and nothing padded."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

import isogloss as ig
from isogloss.items import Items
from isogloss.models.head import Head
from isogloss.models.model import Model

SHAPES = ((32, 16), (64, 16), (64, 24), (96, 20))
POSITIONS = 256
BLOCK = 1024


@dataclass(frozen=True)
class Floor:
    """Two pieces of work to time among the others, and how many tokens and positions they read."""

    body: Callable[[], object]
    head: Callable[[], object]
    tokens: int
    positions: int = POSITIONS


def find_floor(model: Model) -> Floor:
    """The body at the best of a few shapes, and the product of hidden states with the output matrix in blocks."""
    body = model.state.get("encoder") or model.state["body"]
    matrix = model.net.get_output_embeddings().weight
    states, buffer = torch.randn(POSITIONS, matrix.shape[1]), torch.empty(POSITIONS, BLOCK)

    def read(ids: torch.Tensor) -> None:
        with torch.inference_mode():
            body(input_ids=ids)

    def project() -> None:
        with torch.inference_mode():
            for block in matrix[: len(matrix) // BLOCK * BLOCK].split(BLOCK):
                torch.mm(states, block.T, out=buffer)

    inputs = min((torch.randint(5, 5000, shape) for shape in SHAPES), key=lambda ids: _seconds(read, ids) / ids.numel())
    return Floor(lambda: read(inputs), project, inputs.numel())


def _seconds(read: Callable[[torch.Tensor], None], ids: torch.Tensor) -> float:
    read(ids)
    started = time.perf_counter()
    read(ids)
    return time.perf_counter() - started


@contextmanager
def watched_head() -> Iterator[Counter[str]]:
    """How many hidden states go through the head meanwhile, and how many seconds that takes."""
    usual, watched = Head.logprobs, Counter[str]()

    def logprobs(self: Head, states: torch.Tensor, targets: torch.Tensor, **more: Any) -> torch.Tensor:
        started = time.perf_counter()
        values = usual(self, states, targets, **more)
        watched["seconds"] += time.perf_counter() - started  # type: ignore[assignment]
        watched["positions"] += len(states)
        return values

    Head.logprobs = logprobs  # type: ignore[method-assign,assignment]
    try:
        yield watched
    finally:
        Head.logprobs = usual  # type: ignore[method-assign]


def count(model: Model, items: Items, method: str) -> dict[str, float]:
    """Per item: questions, passes over inputs, tokens in the plain way and in ours, padding, and where the time goes.

    They explain the ratios: plain tokens by ours is what sharing gives, the rest is batching and the head.
    """
    found: Counter[str] = Counter()
    family, passes = model.family, 0.0

    def bundle(opened: Model, questions: Any) -> Any:
        found["questions"] += len(questions)
        found["tokens, plain"] += sum(len(question.ids) + len(question.decoder_ids) for question in questions)
        return family.bundle(opened, questions)

    def answer(opened: Model, questions: Any, *, batch: Any) -> Any:
        nonlocal passes
        found["inputs"] += len(batch)
        found["tokens"] += sum(one.cost for one in batch)
        found["tokens read"] += batch[0].cost * len(batch) if family.pads else sum(one.cost for one in batch)
        started = time.perf_counter()
        answers = family.answer(opened, questions, batch=batch)
        passes += time.perf_counter() - started
        return answers

    counting = replace(model, family=replace(family, answer=answer, bundle=bundle))
    with watched_head() as head:
        started = time.perf_counter()
        scored = ig.score(items, model=counting, method=method)
        total = time.perf_counter() - started
    found["positions"] = head["positions"]
    spent = {"body": passes - head["seconds"], "head": head["seconds"], "outside": total - passes}
    per_item = {name: round(value / len(items), 2) for name, value in found.items()}
    per_item |= {f"ms, {part}": round(1000 * seconds / len(items), 2) for part, seconds in spent.items()}
    pieces = float(scored.table["tokens"].mean())  # type: ignore[arg-type]
    waste = 1 - found["tokens"] / found["tokens read"]
    return per_item | {"tokens asked per candidate": round(pieces, 2), "padding": round(waste, 3)}


def items_at_floor(counts: dict[str, float], seconds: dict[str, float], *, floor: Floor) -> float:
    """Items per second when the tokens and positions that must be read cost what they cost at the floor."""
    body = counts["tokens"] * seconds["body"] / floor.tokens
    return 1 / (body + counts["positions"] * seconds["head"] / floor.positions)
