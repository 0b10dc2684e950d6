"""Encoder-decoder models (T5 class): an encoder input is read once for all decoder inputs that follow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutput

from .head import find_head, read_head
from .model import Bundle, Family, Model
from .questions import ARGMAX, LOGPROB, VECTOR, Answer, Question

MOST_DECODED = 2048


def prepare(model: Model) -> None:
    """Find encoder, decoder and head."""
    _leave_unscaled(model.net)
    encoder, decoder = model.net.get_encoder(), model.net.get_decoder()

    def head_inputs(states: torch.Tensor) -> dict[str, object]:
        ids = torch.zeros(1, len(states), dtype=torch.long, device=states.device)
        return {
            "encoder_outputs": BaseModelOutput(last_hidden_state=states[None]),
            "decoder_input_ids": ids,
            "use_cache": False,
        }

    ids = torch.arange(5, 13, device=model.device)[None] % model.info.vocabulary
    sample = {"input_ids": ids, "decoder_input_ids": ids, "use_cache": False}
    with torch.inference_mode():
        head = find_head(model.net, [decoder], inputs=head_inputs, sample=sample)
    model.state.update(encoder=encoder, decoder=decoder, head=head)


def _leave_unscaled(net: Any) -> None:
    """transformers 5 takes every UMT5 for one with tied matrices and scales its output; with untied ones it must not."""
    if net.config.model_type == "umt5" and net.lm_head.weight.data_ptr() != net.shared.weight.data_ptr():
        net.config.tie_word_embeddings = False


def bundle(model: Model, questions: Sequence[Question]) -> list[Bundle]:
    """Questions with the same encoder input go together."""
    same: dict[tuple[int, ...], list[int]] = {}
    for place, question in enumerate(questions):
        same.setdefault(question.ids, []).append(place)
    return [
        Bundle(tuple(part), len(ids) + sum(map(len, {questions[place].decoder_ids for place in part})))
        for ids, places in same.items()
        for part in _cut(questions, places)
    ]


def _cut(questions: Sequence[Question], places: list[int]) -> Iterator[list[int]]:
    """Questions of one encoder input in parts of so many decoder tokens; equal decoder inputs stay together."""
    if sum(len(questions[place].decoder_ids) for place in places) <= MOST_DECODED:
        yield places
        return
    part: list[int] = []
    size = 0
    last: tuple[int, ...] = ()
    for place in sorted(places, key=lambda place: (len(questions[place].decoder_ids), questions[place].decoder_ids)):
        ids = questions[place].decoder_ids
        if part and ids != last and size + len(ids) > MOST_DECODED:
            yield part
            part, size = [], 0
        size += len(ids) if ids != last or not part else 0
        part.append(place)
        last = ids
    yield part


def answer(model: Model, questions: Sequence[Question], *, batch: Sequence[Bundle]) -> dict[int, Answer]:
    """The encoder once per input, the decoder once per decoder input, the head at the asked positions."""
    with torch.inference_mode():
        ids, mask = _padded([questions[bundle.places[0]].ids for bundle in batch], model.device)
        encoded = model.state["encoder"](input_ids=ids, attention_mask=mask).last_hidden_state
        rows: dict[tuple[int, tuple[int, ...]], int] = {}
        asked = []
        for number, bundle in enumerate(batch):
            for place in bundle.places:
                row = rows.setdefault((number, questions[place].decoder_ids), len(rows))
                asked.append((row, place))
        decoder_ids, decoder_mask = _padded([text for _, text in rows], model.device)
        source = torch.tensor([number for number, _ in rows], device=model.device)
        states = model.state["decoder"](
            input_ids=decoder_ids,
            attention_mask=decoder_mask,
            encoder_hidden_states=encoded[source],
            encoder_attention_mask=mask[source],
            use_cache=False,
        ).last_hidden_state
        return read_head(model.state["head"], states, questions=questions, asked=asked)


def _padded(texts: Sequence[tuple[int, ...]], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, texts))
    ids = torch.tensor([[*text, *[0] * (longest - len(text))] for text in texts])
    lengths = torch.tensor([len(text) for text in texts])
    mask = (torch.arange(longest)[None] < lengths[:, None]).long()
    return ids.to(device, non_blocking=True), mask.to(device, non_blocking=True)


family = Family(
    title="Encoder-decoder models: T5, mT5, UMT5, ...",
    wants=(LOGPROB, ARGMAX, VECTOR),
    prepare=prepare,
    bundle=bundle,
    answer=answer,
)
