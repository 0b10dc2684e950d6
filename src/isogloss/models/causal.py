"""Causal models (GPT class): texts with a common beginning are read as one packed row that branches after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .head import Head, read_head
from .model import Bundle, Family, Model
from .questions import ARGMAX, LOGPROB, Answer, Question
from .text import shared_start

CLOSE = 1e-4


def prepare(model: Model) -> None:
    """Find the body, check the head, and find out whether packed rows give the same hidden states as plain ones."""
    net = model.net
    body = net.base_model
    head = Head(
        net, body, lambda states: {"input_ids": torch.zeros(1, states.shape[0], dtype=torch.long, device=states.device)}
    )
    model.state.update(body=body, head=head, packed=False)
    sample = tuple(token % model.info.vocabulary for token in range(5, 13))
    with torch.inference_mode():
        states = body(input_ids=torch.tensor([sample], device=model.device), use_cache=False).last_hidden_state[0]
        head.check(states)
        model.state["packed"] = _packing_is_exact(model, sample)


def _packing_is_exact(model: Model, sample: tuple[int, ...]) -> bool:
    forks = [Question(sample[:3] + tail) for tail in (sample[3:], sample[6:2:-1], sample[4:6])]
    batch = [Bundle((0, 1, 2), 0), Bundle((2,), 0)]
    try:
        packed, places = _packed_states(model, forks, batch)
        plain = [
            model.state["body"](
                input_ids=torch.tensor([q.ids], device=model.device), use_cache=False
            ).last_hidden_state[0]
            for q in forks
        ]
    except (RuntimeError, ValueError, TypeError, IndexError, AttributeError):
        return False
    scale = max(float(states.abs().max()) for states in plain)
    gaps = [
        float((packed[row, places[place].columns] - plain[place]).abs().max())
        for row, place in ((0, 0), (0, 1), (1, 2))
    ]
    return max(gaps) < CLOSE * max(scale, 1e-6)


def bundle(model: Model, questions: Sequence[Question]) -> list[Bundle]:
    """Texts that begin alike go together when one packed row is shorter than its texts."""
    order = sorted(range(len(questions)), key=lambda place: questions[place].ids)
    groups: list[list[int]] = []
    shared = 0
    for place in order:
        ids = questions[place].ids
        if groups:
            first = questions[groups[-1][0]].ids
            common = shared_start(ids, first)
            same = ids == questions[groups[-1][-1]].ids
            branches = len({questions[other].ids for other in groups[-1]})
            now = min(shared, common)
            saves = (branches - 1) * (shared - now) < now
            if same or (model.state["packed"] and saves and _fits(model, questions, [*groups[-1], place], now)):
                groups[-1].append(place)
                shared = now if not same else shared
                continue
        groups.append([place])
        shared = len(ids)
    return [Bundle(tuple(group), _packed_length(questions, group)) for group in groups]


def _fits(model: Model, questions: Sequence[Question], group: list[int], shared: int) -> bool:
    texts = {questions[place].ids for place in group}
    length = shared + sum(len(text) - shared for text in texts)
    limit = min(model.info.max_length or 1024, 1024)
    return length <= limit


def _packed_length(questions: Sequence[Question], group: list[int]) -> int:
    texts = list(dict.fromkeys(questions[place].ids for place in group))
    shared = min(shared_start(texts[0], text) for text in texts)
    return shared + sum(len(text) - shared for text in texts)


class _Places:
    """Where a text's tokens stand in its packed row."""

    def __init__(self, row: int, shared: int, start: int, length: int) -> None:
        self.row = row
        self.columns = [*range(shared), *range(start, start + length - shared)]


def answer(model: Model, questions: Sequence[Question], batch: Sequence[Bundle]) -> dict[int, Answer]:
    """One pass over plain or packed rows; then the head, at the asked positions only."""
    with torch.inference_mode():
        states, places = _packed_states(model, questions, batch)
        moved = {
            place: Question(
                (),
                tuple(where.columns[p] for p in questions[place].positions),
                questions[place].targets,
                questions[place].want,
            )
            for place, where in places.items()
        }
        order = sorted(moved)
        asked = [(places[place].row, i) for i, place in enumerate(order)]
        found = read_head(model.state["head"], states, [moved[place] for place in order], asked)
        return {order[i]: value for i, value in found.items()}


def _packed_states(
    model: Model, questions: Sequence[Question], batch: Sequence[Bundle]
) -> tuple[torch.Tensor, dict[int, _Places]]:
    """The hidden states of the batch's rows, and where each question's tokens stand in them."""
    rows, places = [], {}
    for number, bundle in enumerate(batch):
        texts = list(dict.fromkeys(questions[place].ids for place in bundle.places))
        shared = min(shared_start(texts[0], text) for text in texts)
        starts, cursor = {}, shared
        for text in texts:
            starts[text] = cursor
            cursor += len(text) - shared
        rows.append((texts, shared, cursor))
        for place in bundle.places:
            ids = questions[place].ids
            places[place] = _Places(number, shared, starts[ids], len(ids))
    inputs = _plain_inputs(rows) if all(len(texts) == 1 for texts, _, _ in rows) else _packed_inputs(rows)
    on_device = {name: tensor.to(model.device, non_blocking=True) for name, tensor in inputs.items()}
    return model.state["body"](**on_device, use_cache=False).last_hidden_state, places


Rows = Sequence[tuple[list[tuple[int, ...]], int, int]]


def _plain_inputs(rows: Rows) -> dict[str, Any]:
    longest = max(length for _, _, length in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros(len(rows), longest, dtype=torch.long)
    for number, (texts, _, length) in enumerate(rows):
        ids[number, :length] = torch.tensor(texts[0])
        mask[number, :length] = 1
    return {"input_ids": ids} if bool(mask.all()) else {"input_ids": ids, "attention_mask": mask}


def _packed_inputs(rows: Rows) -> dict[str, Any]:
    """Rows of a common beginning and branches; a float mask lets a branch see the beginning and itself only."""
    longest = max(length for _, _, length in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    positions = torch.zeros(len(rows), longest, dtype=torch.long)
    branch = torch.full((len(rows), longest), -1)
    for number, (texts, shared, length) in enumerate(rows):
        packed = [*texts[0][:shared], *(token for text in texts for token in text[shared:])]
        ids[number, :length] = torch.tensor(packed)
        steps = [*range(shared), *(step for text in texts for step in range(shared, len(text)))]
        positions[number, :length] = torch.tensor(steps)
        marks = [0] * shared + [mark for mark, text in enumerate(texts, 1) for _ in text[shared:]]
        branch[number, :length] = torch.tensor(marks)
    before = torch.ones(longest, longest, dtype=torch.bool).tril()
    same = (branch[:, :, None] == branch[:, None, :]) | (branch[:, None, :] == 0)
    seen = (same & before) | torch.eye(longest, dtype=torch.bool)
    mask = torch.zeros(len(rows), 1, longest, longest).masked_fill_(~seen[:, None], torch.finfo(torch.float32).min)
    return {"input_ids": ids, "position_ids": positions, "attention_mask": mask}


family = Family(
    title="Causal models: GPT-2, Llama, Gemma, Qwen, BLOOM, OPT, ...",
    wants=(LOGPROB, ARGMAX),
    prepare=prepare,
    bundle=bundle,
    answer=answer,
)
