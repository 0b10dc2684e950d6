"""Likelihood: how probable a model finds each whole sentence, token after token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..items import Item
from ..models.continuations import STARTS, Span, refuse_without_sentinel, sentence_span
from ..models.model import Model
from ..models.questions import VECTOR, Asking, Question
from ..models.text import count_unknown, decode
from ..scores import Row
from . import Method
from ._masked_sentence import EMPTY


def ask(item: Item, model: Model, *, options: Mapping[str, str]) -> Asking:
    """One question per candidate: every token of the sentence as it is stored; for a single sentence its vector too."""
    spans = [sentence_span(model, candidate.text, start=options["start"]) for candidate in item.candidates]
    wants_vector = item.tags.get("task") == "sentence"
    answers = iter((yield [q for found in spans for q in _questions(found, wants_vector=wants_vector)]))
    rows = []
    for candidate, found in zip(item.candidates, spans, strict=True):
        if not found.questions:
            rows.append(Row(item, candidate.id, None, why=EMPTY))
            continue
        logs = np.concatenate([next(answers) for _ in found.questions])
        rows.append(
            Row(
                item,
                candidate.id,
                float(logs.sum() if options["length"] == "sum" else np.exp(logs.mean())),
                tokens=len(logs),
                unknown=count_unknown(model.tokenizer, found.targets),
                truncated=found.truncated,
                pieces=decode(model.tokenizer, found.targets),
                logprobs=tuple(logs.tolist()),
                vector=tuple(next(answers).tolist()) if wants_vector else (),
            )
        )
    return rows


def _questions(found: Span, *, wants_vector: bool) -> tuple[Question, ...]:
    """The span's questions, and one for the mean hidden state of the tokens asked for: they end the last question's text."""
    if not wants_vector or not found.questions:
        return found.questions
    last = found.questions[-1]
    length = len(last.decoder_ids or last.ids)
    positions = tuple(range(length - len(found.targets), length))
    return (*found.questions, replace(last, positions=positions, targets=(), want=VECTOR))


def refuse(model: Model, options: Mapping[str, str]) -> str | None:
    """A sentence when the options or the model do not fit."""
    if model.info.family == "seq2seq" and options["start"] != "auto":
        return f"The option 'start={options['start']}' is for causal models."
    return refuse_without_sentinel(model)


method = Method(
    title="Likelihood of the whole sentence",
    formula="geometric mean of P(w_t | s, w_<t) over the sentence's tokens, s the model's start token; start=first: P(w_1 | s) and P(w_t | w_<t); length=sum: the sum of the logarithms",
    citation="Nadeem et al. (2021); Öztürk et al. (2023), Eq. 4",
    families=("causal", "seq2seq"),
    suits=lambda item: True,
    ask=ask,
    auto=(
        ("intrasentence", "causal"),
        *((task, family) for task in ("pair", "sentence", "template") for family in ("causal", "seq2seq")),
    ),
    options={"start": STARTS, "length": ("mean", "sum")},
    refuse=refuse,
)
