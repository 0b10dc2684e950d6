"""All unmasked likelihood: every token of a sentence where it stands, nothing masked; and the sentence's vector."""

from dataclasses import replace

import numpy as np

from ..items import Item
from ..models.model import IN_PLACE, Model
from ..models.questions import VECTOR, Asking, Question
from ..scores import Row
from . import VECTOR_TASKS, Method, Options
from ._masked_sentence import read_sentence, row_of


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """Two questions per candidate that share one pass: the tokens, and their mean hidden state for single sentences."""
    sentences = [read_sentence(model, candidate.text) for candidate in item.candidates]
    wants_vector = item.tags.get("task") in VECTOR_TASKS
    questions = []
    for sentence in sentences:
        if sentence.tokens:
            plain = Question(sentence.ids, tuple(sentence.inner), sentence.tokens, language=item.language)
            questions += [plain] + ([replace(plain, targets=(), want=VECTOR)] if wants_vector else [])
    answers = iter((yield questions))
    rows: list[Row] = []
    for candidate, sentence in zip(item.candidates, sentences, strict=True):
        logs = next(answers) if sentence.tokens else np.array([])
        row = row_of(item, candidate, model=model, sentence=sentence, logs=logs)
        if sentence.tokens:
            vector = tuple(next(answers).tolist()) if wants_vector else ()
            row = replace(row, value=float(logs.mean()), vector=vector)
        rows.append(row)
    return rows


method = Method(
    title="All unmasked likelihood (AUL)",
    formula="1/|T| · sum over tokens of log P(w_t | the whole sentence T, nothing masked)",
    citation="Kaneko and Bollegala (2022)",
    uses=(IN_PLACE,),
    suits=lambda item: True,
    ask=ask,
)
