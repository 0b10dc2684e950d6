"""Pseudo-log-likelihood: every token of a sentence, masked alone, given all the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..items import Item
from ..models.model import HIDE, Model
from ..models.questions import Asking
from ..scores import Row
from . import Method, Options
from ._masked_sentence import masked_question, read_sentence, row_of


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """One question per token and candidate."""
    sentences = [read_sentence(model, candidate.text) for candidate in item.candidates]
    questions = [
        [
            masked_question(model, one, position=position, hidden=[position], language=item.language)
            for position in one.inner
        ]
        for one in sentences
    ]
    answers = iter((yield [question for group in questions for question in group]))
    rows: list[Row] = []
    for candidate, one, group in zip(item.candidates, sentences, questions, strict=True):
        logs = np.array([next(answers)[0] for _ in group])
        row = row_of(item, candidate, model=model, sentence=one, logs=logs)
        value = float(logs.mean() if options["length"] == "mean" else logs.sum()) if len(logs) else None
        rows.append(replace(row, value=value))
    return rows


method = Method(
    title="Pseudo-log-likelihood",
    formula="sum over tokens of log P(w_t | all other tokens), each masked alone",
    citation="Wang and Cho (2019); Salazar et al. (2020)",
    uses=(HIDE,),
    suits=lambda item: True,
    ask=ask,
    auto=("template",),
    options={"length": ("sum", "mean")},
)
