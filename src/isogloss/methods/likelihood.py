"""Likelihood: how probable a causal model finds each whole sentence, per token."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..items import Item
from ..models.model import Model
from ..models.questions import Asking
from ..models.spans import span, start_token
from ..models.text import count_unknown, decode, encode
from ..scores import Row
from .method import Method


def ask(item: Item, model: Model, options: Mapping[str, str]) -> Asking:
    """One question per candidate: every token of the sentence as it is stored."""
    start = () if options["start"] == "none" else start_token(model)
    spans = [span(model, (), encode(model.tokenizer, candidate.text), start=start) for candidate in item.candidates]
    answers = iter((yield [found.question for found in spans if found.question is not None]))
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
            )
        )
    return rows


method = Method(
    title="Likelihood of the whole sentence",
    formula="geometric mean of P(w_t | w_<t) over the sentence's tokens, the first one after the model's start token",
    citation="Nadeem et al. (2021); Öztürk et al. (2023), Eq. 4",
    families=("causal",),
    suits=lambda item: True,
    ask=ask,
    auto=(("intrasentence", "causal"),),
    options={"start": ("auto", "none")},
)
