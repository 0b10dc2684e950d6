"""Likelihood: how probable a model finds each whole sentence, token after token."""

from dataclasses import replace

import numpy as np

from ..items import Item
from ..models.continuations import STARTS, TEMPLATES, ask_for, refuse_template, template_identity
from ..models.model import CONTINUE, Model
from ..models.questions import VECTOR, Asking, Passage, Question, Span
from ..scores import Row
from . import EMPTY, VECTOR_TASKS, Method, Options, fill_row


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """One question per candidate: every token of the sentence as it is stored; for a single sentence its vector too."""
    wants_vector = item.tags.get("task") in VECTOR_TASKS and VECTOR in model.family.wants
    spans: list[Span] = []
    questions: list[Question] = []
    for candidate in item.candidates:
        span = ask_for(model, _passage(item, candidate.text, options=options))
        spans.append(span)
        questions += span.questions
        if wants_vector and span.questions:  # of the tokens asked for, which end the last question's text
            last = span.questions[-1]
            length = len(last.decoder_ids or last.ids)
            positions = tuple(range(length - len(span.targets), length))
            questions.append(replace(last, positions=positions, targets=(), want=VECTOR))
    answers = iter((yield questions))
    rows = []
    for candidate, span in zip(item.candidates, spans, strict=True):
        if not span.questions:
            rows.append(Row(item, candidate.id, None, why=EMPTY))
            continue
        logs = np.concatenate([next(answers) for _ in span.questions])
        value = float(logs.sum() if options["length"] == "sum" else np.exp(logs.mean()))
        vector = tuple(next(answers).tolist()) if wants_vector else ()
        row = Row(item, candidate.id, value, truncated=span.truncated, vector=vector)
        rows.append(fill_row(row, model, tokens=span.targets, logs=logs))
    return rows


def _passage(item: Item, text: str, *, options: Options) -> Passage:
    return Passage(text, language=item.language, start=options["start"], template=options["template"])


method = Method(
    title="Likelihood of the whole sentence",
    formula="geometric mean of P(w_t | s, w_<t) over the sentence's tokens, with s the model's start token; start=first: P(w_1 | s) and P(w_t | w_<t); length=sum: the sum of the logarithms",
    citation="Nadeem et al. (2021); Öztürk et al. (2023), Eq. 4",
    uses=(CONTINUE,),
    suits=lambda item: True,
    ask=ask,
    auto=("intrasentence", "pair", "sentence", "template"),
    options={"start": STARTS, "length": ("mean", "sum"), "template": TEMPLATES},
    refuse=refuse_template,
    identity=template_identity,
    later=("template",),
)
