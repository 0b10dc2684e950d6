"""Masked models (BERT class): equal inputs share one pass; the head sees the asked positions only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .head import Head, as_array, read_head
from .model import Bundle, Family, Model
from .questions import ARGMAX, CLASS, LOGPROB, Answer, Question


def prepare(model: Model) -> None:
    """Find the body and check the head."""
    net = model.net
    body = net.base_model
    head = Head(
        net, body, lambda states: {"input_ids": torch.zeros(1, states.shape[0], dtype=torch.long, device=states.device)}
    )
    model.state.update(body=body, head=head)
    sample = torch.arange(5, 13, device=model.device)[None] % model.info.vocabulary
    with torch.inference_mode():
        head.check(body(input_ids=sample).last_hidden_state[0])


def bundle(model: Model, questions: Sequence[Question]) -> list[Bundle]:
    """Questions with the same input go together."""
    same: dict[tuple[Any, ...], list[int]] = {}
    for place, question in enumerate(questions):
        same.setdefault((question.ids, question.segments, question.language), []).append(place)
    return [Bundle(tuple(places), len(key[0])) for key, places in same.items()]


def answer(model: Model, questions: Sequence[Question], batch: Sequence[Bundle]) -> dict[int, Answer]:
    """One padded pass of the body; then the heads, at the asked places only."""
    firsts = [questions[bundle.places[0]] for bundle in batch]
    inputs = _inputs(model, firsts)
    with torch.inference_mode():
        output = model.state["body"](**inputs)
        states = output.last_hidden_state
        asked = [(row, place) for row, bundle in enumerate(batch) for place in bundle.places]
        found = _classes(model, questions, output, asked)
        return found | read_head(model.state["head"], states, questions, asked)


def _classes(
    model: Model, questions: Sequence[Question], output: Any, asked: list[tuple[int, int]]
) -> dict[int, Answer]:
    pairs = [(row, place) for row, place in asked if questions[place].want == CLASS]
    if not pairs:
        return {}
    logits = model.net.cls.seq_relationship(output.pooler_output[[row for row, _ in pairs]])
    return {place: as_array(line) for (_, place), line in zip(pairs, logits.float().log_softmax(-1), strict=True)}


def _inputs(model: Model, firsts: Sequence[Question]) -> dict[str, Any]:
    longest = max(len(question.ids) for question in firsts)
    pad = model.tokenizer.pad_token_id or 0
    ids = torch.tensor([[*question.ids, *[pad] * (longest - len(question.ids))] for question in firsts])
    inputs: dict[str, Any] = {"input_ids": ids}
    if any(len(question.ids) < longest for question in firsts):
        lengths = torch.tensor([len(question.ids) for question in firsts])
        inputs["attention_mask"] = (torch.arange(longest)[None] < lengths[:, None]).long()
    if any(question.segments for question in firsts):
        segments = [[*question.segments, *[0] * (longest - len(question.segments))] for question in firsts]
        inputs["token_type_ids"] = torch.tensor(segments)
    codes = getattr(model.net.config, "lang2id", None) or {}
    if getattr(model.net.config, "n_langs", 1) > 1 and codes:
        chosen = [codes.get((question.language or "").split("-")[0], 0) for question in firsts]
        inputs["langs"] = torch.tensor(chosen)[:, None].expand_as(ids)
    return {name: tensor.to(model.device, non_blocking=True) for name, tensor in inputs.items()}


family = Family(
    title="Masked models: BERT, RoBERTa, ALBERT, ELECTRA, DistilBERT, DeBERTa, XLM-R, ModernBERT, FlauBERT, XLM, ...",
    wants=(LOGPROB, ARGMAX, CLASS),
    prepare=prepare,
    bundle=bundle,
    answer=answer,
)
