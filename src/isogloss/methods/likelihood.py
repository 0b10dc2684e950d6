"""Likelihood: how probable a model finds each whole sentence, token after token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..items import Item
from ..models.model import Model
from ..models.questions import VECTOR, Asking, Question
from ..models.spans import refuse_without_sentinel, sentence_span
from ..models.text import count_unknown, decode
from ..scores import Row
from .method import Method


def ask(item: Item, model: Model, *, options: Mapping[str, str]) -> Asking:
    """One question per candidate: every token of the sentence as it is stored; for a single sentence its vector too."""
    start = () if options["start"] == "none" else None
    spans = [sentence_span(model, candidate.text, start=start) for candidate in item.candidates]
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


def _vector(question: Question) -> Question:
    """The question for the mean hidden state of the tokens that are asked for: each stands one place after the asking."""
    return replace(question, positions=tuple(place + 1 for place in question.positions), targets=(), want=VECTOR)


def refuse(model: Model, options: Mapping[str, str]) -> str | None:
    """A sentence when the options or the model do not fit."""
    if model.info.family == "seq2seq" and options["start"] == "none":
        return "The option 'start=none' is for causal models."
    return refuse_without_sentinel(model)


method = Method(
    title="Likelihood of the whole sentence",
    formula="geometric mean of P(w_t | w_<t) over the sentence's tokens, the first one after the model's start token",
    citation="Nadeem et al. (2021); Öztürk et al. (2023), Eq. 4",
    families=("causal", "seq2seq"),
    suits=lambda item: True,
    ask=ask,
    auto=(
        ("intrasentence", "causal"),
        *((task, family) for task in ("pair", "sentence", "template") for family in ("causal", "seq2seq")),
    ),
    options={"start": ("auto", "none")},
    refuse=refuse,
)
