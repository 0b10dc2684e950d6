"""Likelihood: how probable a model finds each whole sentence, token after token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..items import Item
from ..models.model import Model
from ..models.questions import VECTOR, Asking, Question
from ..models.spans import Span, span, start_token
from ..models.text import count_unknown, decode, encode
from ..scores import Row
from .method import Method

SENTINEL = "<extra_id_0>"


def ask(item: Item, model: Model, *, options: Mapping[str, str]) -> Asking:
    """One question per candidate: every token of the sentence as it is stored; for a single sentence its vector too."""
    spans = [_span(model, candidate.text, start=options["start"]) for candidate in item.candidates]
    wants_vector = item.tags.get("task") == "sentence"
    asked = [found.question for found in spans if found.question is not None]
    answers = iter((yield [q for one in asked for q in ([one, _vector(one)] if wants_vector else [one])]))
    rows = []
    for candidate, found in zip(item.candidates, spans, strict=True):
        if found.question is None:
            rows.append(Row(item, candidate.id, None))
            continue
        logs = next(answers)
        rows.append(
            Row(
                item,
                candidate.id,
                float(np.exp(logs.mean())),
                tokens=len(logs),
                unknown=count_unknown(model.tokenizer, found.question.targets),
                truncated=found.truncated,
                pieces=decode(model.tokenizer, found.question.targets),
                logprobs=tuple(logs.tolist()),
                vector=tuple(next(answers).tolist()) if wants_vector else (),
            )
        )
    return rows


def _span(model: Model, text: str, *, start: str) -> Span:
    """The question for a sentence; an encoder-decoder model reads a sentinel and is made to fill it with the sentence."""
    tokens = encode(model.tokenizer, text)
    if model.info.family != "seq2seq":
        return span(model, tokens, start=() if start == "none" else start_token(model))
    if not tokens:
        return Span(None, False)
    source = tuple(model.tokenizer.encode(SENTINEL))
    begin = (model.net.config.decoder_start_token_id, model.tokenizer.convert_tokens_to_ids(SENTINEL))
    return Span(Question(source, tuple(range(1, len(tokens) + 1)), tokens, decoder_ids=(*begin, *tokens)), False)


def _vector(question: Question) -> Question:
    """The question for the mean hidden state of the tokens that are asked for: each stands one place after the asking."""
    return replace(question, positions=tuple(place + 1 for place in question.positions), targets=(), want=VECTOR)


def refuse(model: Model, options: Mapping[str, str]) -> str | None:
    """A sentence when the options or the model do not fit."""
    if model.info.family != "seq2seq":
        return None
    if options["start"] == "none":
        return "The option 'start=none' is for causal models."
    if SENTINEL not in model.tokenizer.get_vocab():
        return f"'{model.info.name}' has no '{SENTINEL}' token, so it cannot be made to write a sentence."
    return None


method = Method(
    title="Likelihood of the whole sentence",
    formula="geometric mean of P(w_t | w_<t) over the sentence's tokens, the first one after the model's start token",
    citation="Nadeem et al. (2021); Öztürk et al. (2023), Eq. 4",
    families=("causal", "seq2seq"),
    suits=lambda item: True,
    ask=ask,
    auto=(
        ("intrasentence", "causal"),
        *((task, family) for task in ("pair", "sentence") for family in ("causal", "seq2seq")),
    ),
    options={"start": ("auto", "none")},
    refuse=refuse,
)
