"""Pseudo-log-likelihood within words from left to right: a token does not see the rest of its own word."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..items import Item
from ..models.model import HIDE, Model
from ..models.questions import Asking, Question
from ..scores import Row
from . import Method, Options
from ._masked_sentence import MaskedSentence, later_in_word, masked_question, read_sentence, row_of


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """One question per token and candidate; the later tokens of its word are masked with it."""
    sentences = [read_sentence(model, candidate.text) for candidate in item.candidates]
    found = zip(item.candidates, sentences, strict=True)
    questions = [_questions(model, one, text=candidate.text, language=item.language) for candidate, one in found]
    answers = iter((yield [question for group in questions for question in group]))
    rows: list[Row] = []
    for candidate, one, group in zip(item.candidates, sentences, questions, strict=True):
        logs = np.array([next(answers)[0] for _ in group])
        row = row_of(item, candidate, model=model, sentence=one, logs=logs)
        value = float(logs.mean() if options["length"] == "mean" else logs.sum()) if len(logs) else None
        rows.append(replace(row, value=value))
    return rows


def _questions(model: Model, sentence: MaskedSentence, *, text: str, language: str) -> list[Question]:
    tails = later_in_word(model, text, count=len(sentence.tokens))
    found = []
    for position, tail in zip(sentence.inner, tails, strict=True):
        hidden = [position, *(sentence.inner[k] for k in tail)]
        found.append(masked_question(model, sentence, position=position, hidden=hidden, language=language))
    return found


def refuse(model: Model, options: Options) -> str | None:
    """A sentence when the tokenizer does not know where words end."""
    if not getattr(model.tokenizer, "is_fast", False):
        return f"The tokenizer of '{model.info.name}' does not say where words end. Use --method pll."
    return None


method = Method(
    title="Pseudo-log-likelihood, within words left to right",
    formula="sum over tokens of log P(w_t | all other words, and the tokens before it in its own word)",
    citation="Kauf and Ivanova (2023)",
    uses=(HIDE,),
    suits=lambda item: True,
    ask=ask,
    options={"length": ("sum", "mean")},
    refuse=refuse,
    version=2,
)
