"""Encoder-decoder models (T5 class): an encoder input is read once for all decoder inputs that follow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutput

from ..engine import fill_batches
from ..forward import find_activations, one_pass, send
from ..head import find_head, read_head
from ..model import Bundle, Family, Model
from ..questions import ARGMAX, LOGPROB, VECTOR, Answer, Question

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
    model.state.update(encoder=encoder, decoder=decoder, head=head, activations=find_activations(model.net))


def _leave_unscaled(net: Any) -> None:
    """transformers 5 takes every UMT5 for one with tied matrices and scales its output; with untied ones it must not."""
    if net.config.model_type == "umt5" and net.lm_head.weight.data_ptr() != net.shared.weight.data_ptr():
        net.config.tie_word_embeddings = False


def bundle(model: Model, questions: Sequence[Question]) -> list[Bundle]:
    """Questions with the same encoder input go together."""
    same: dict[tuple[int, ...], list[int]] = {}
    for index, question in enumerate(questions):
        same.setdefault(question.ids, []).append(index)
    return [
        Bundle(tuple(part), len(ids) + sum(map(len, {questions[index].decoder_ids for index in part})))
        for ids, indices in same.items()
        for part in _cut(questions, indices)
    ]


def _cut(questions: Sequence[Question], indices: list[int]) -> Iterator[list[int]]:
    """Questions of one encoder input in parts of so many decoder tokens; equal decoder inputs stay together."""
    if sum(len(questions[index].decoder_ids) for index in indices) <= MOST_DECODED:
        yield indices
        return
    part: list[int] = []
    size = 0
    last: tuple[int, ...] = ()
    for index in sorted(indices, key=lambda index: (len(questions[index].decoder_ids), questions[index].decoder_ids)):
        ids = questions[index].decoder_ids
        if part and ids != last and size + len(ids) > MOST_DECODED:
            yield part
            part, size = [], 0
        size += len(ids) if ids != last or not part else 0
        part.append(index)
        last = ids
    yield part


def answer(model: Model, questions: Sequence[Question], *, batch: Sequence[Bundle]) -> dict[int, Answer]:
    """The encoder once per input, the decoder once per decoder input, the head at the asked positions.

    The two lengths of a question have little to do with each other, so encoder and decoder inputs are grouped apart.
    """
    rows: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for number, bundle in enumerate(batch):
        for index in bundle.indices:
            rows.setdefault((number, questions[index].decoder_ids), []).append(index)
    found: dict[int, Answer] = {}
    with one_pass(model):
        encoded = _encode(model, [questions[bundle.indices[0]].ids for bundle in batch])
        texts = list(rows)
        for group in _alike([len(ids) for _, ids in texts]):
            chosen = [texts[index] for index in group]
            states = _decode(model, [ids for _, ids in chosen], encoded=[encoded[number] for number, _ in chosen])
            asked = [(row, index) for row, text in enumerate(chosen) for index in rows[text]]
            found |= read_head(model.state["head"], states, questions=questions, asked=asked)
    return found


def _alike(lengths: Sequence[int]) -> list[list[int]]:
    """The places of texts in groups of about the same length."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    groups = fill_batches([Bundle((index,), lengths[index]) for index in order], MOST_DECODED)
    return [[bundle.indices[0] for bundle in group] for group in groups]


def _encode(model: Model, texts: Sequence[tuple[int, ...]]) -> dict[int, torch.Tensor]:
    """The hidden states of each text, by its place."""
    found: dict[int, torch.Tensor] = {}
    for group in _alike([len(text) for text in texts]):
        ids, mask = _padded([texts[index] for index in group], model.device)
        states = model.state["encoder"](input_ids=ids, attention_mask=mask).last_hidden_state
        found |= {index: line[: len(texts[index])] for index, line in zip(group, states, strict=True)}
    return found


def _decode(model: Model, texts: Sequence[tuple[int, ...]], *, encoded: Sequence[torch.Tensor]) -> torch.Tensor:
    """The decoder's hidden states for texts that follow what was encoded."""
    ids, mask = _padded(texts, model.device)
    source = torch.nn.utils.rnn.pad_sequence(list(encoded), batch_first=True)
    lengths = torch.tensor([len(states) for states in encoded], device=source.device)
    states: torch.Tensor = model.state["decoder"](
        input_ids=ids,
        attention_mask=mask,
        encoder_hidden_states=source,
        encoder_attention_mask=(torch.arange(source.shape[1], device=source.device)[None] < lengths[:, None]).long(),
        use_cache=False,
    ).last_hidden_state
    return states


def _padded(texts: Sequence[tuple[int, ...]], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, texts))
    ids = torch.tensor([[*text, *[0] * (longest - len(text))] for text in texts])
    lengths = torch.tensor([len(text) for text in texts])
    mask = (torch.arange(longest)[None] < lengths[:, None]).long()
    sent = send({"ids": ids, "mask": mask}, device)
    return sent["ids"], sent["mask"]


family = Family(
    title="Encoder-decoder models: T5, mT5, UMT5, ...",
    wants=(LOGPROB, ARGMAX, VECTOR),
    prepare=prepare,
    bundle=bundle,
    answer=answer,
    pads=False,
)
