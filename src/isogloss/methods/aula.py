"""All unmasked likelihood with attention: each token weighted by the attention it receives; AUL and the vector beside it."""

from dataclasses import replace

import numpy as np

from ..items import Item
from ..models.model import Model
from ..models.questions import ATTENTION, VECTOR, Answer, Asking, Question
from ..scores import Row
from . import VECTOR_TASKS, Method, Options
from ._masked_sentence import MaskedSentence, read_sentence, row_of


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """Questions that share one pass: the tokens, the attention they receive, and the vector of a single sentence."""
    sentences = [read_sentence(model, candidate.text) for candidate in item.candidates]
    wants = (ATTENTION, VECTOR) if item.tags.get("task") in VECTOR_TASKS else (ATTENTION,)
    answers = iter((yield [question for sentence in sentences for question in _questions(item, sentence, wants=wants)]))
    rows: list[Row] = []
    for candidate, sentence in zip(item.candidates, sentences, strict=True):
        logs = next(answers) if sentence.tokens else np.array([])
        row = row_of(item, candidate, model=model, sentence=sentence, logs=logs)
        rows += _rows(row, logs, more=[next(answers) for _ in wants]) if sentence.tokens else [row]
    return rows


def _questions(item: Item, sentence: MaskedSentence, *, wants: tuple[str, ...]) -> list[Question]:
    if not sentence.tokens:
        return []
    plain = Question(sentence.ids, tuple(sentence.inner), sentence.tokens, language=item.language)
    return [plain, *(replace(plain, targets=(), want=want) for want in wants)]


def _rows(row: Row, logs: Answer, *, more: list[Answer]) -> list[Row]:
    """The score with its vector, and AUL from the same pass as a quantity of its own."""
    vector = tuple(more[1].tolist()) if len(more) > 1 else ()
    plain = replace(row, value=float(logs.mean()), quantity="aul", unknown=0, truncated=False, pieces=(), logprobs=())
    return [replace(row, value=float((more[0] * logs).mean()), vector=vector), plain]


method = Method(
    title="All unmasked likelihood with attention (AULA)",
    formula="1/|T| · sum over tokens of a_t · log P(w_t | T), a_t the attention that t receives, averaged over layers, heads, queries",
    citation="Kaneko and Bollegala (2022); Kaneko et al. (2022)",
    uses=(ATTENTION,),
    suits=lambda item: True,
    ask=ask,
    auto=("sentence",),
)
