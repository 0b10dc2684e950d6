"""Continuation: how well a candidate sentence follows its context, for causal and encoder-decoder models."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..items import BLANK, Candidate, Item
from ..languages import finish_sentence, join_sentences
from ..models.continuations import STARTS, ask_for, left_to_right
from ..models.model import CONTINUE, Model
from ..models.questions import Answer, Asking, Passage, Span
from ..scores import Row
from . import EMPTY, Method, fill_row

NEEDS = {"d": "t", "orig": "ba", "b": "tw", "c": "w", "e": "tb", "f": "wb"}


def ask(item: Item, model: Model, *, options: Mapping[str, str]) -> Asking:
    """The tokens of every span that the case needs."""
    spans = [_spans(model, item, candidate=candidate, options=options) for candidate in item.candidates]
    answers = iter((yield [question for group in spans for span in group.values() for question in span.questions]))
    rows = []
    for candidate, group in zip(item.candidates, spans, strict=True):
        logs = {name: np.concatenate([[], *(next(answers) for _ in span.questions)]) for name, span in group.items()}
        row = _row(item, candidate.id, model=model, group=group, logs=logs)
        means = {name: float(np.exp(values.mean())) for name, values in logs.items() if row.value is not None}
        rows.append(replace(row, value=combine(options["case"], means)) if means else row)
    return rows


def _spans(model: Model, item: Item, *, candidate: Candidate, options: Mapping[str, str]) -> dict[str, Span]:
    """The spans that the case needs: a = context, w = whole, t = candidate after the context, b = candidate alone."""
    context, text = finish_sentence(item.context or "", item.language), candidate.text
    passages = {
        "a": Passage(context),
        "w": Passage(join_sentences(context, text, tag=item.language)),
        "t": Passage(text, context),
        "b": Passage(text),
    }
    how: dict[str, Any] = {
        "language": item.language,
        "start": options["start"],
        "closed": options["closing"] == "with",
    }
    return {name: ask_for(model, replace(passages[name], **how)) for name in NEEDS[options["case"]]}


def _row(item: Item, candidate: str, *, model: Model, group: Mapping[str, Span], logs: Mapping[str, Answer]) -> Row:
    if any(not len(values) for values in logs.values()):
        return Row(item, candidate, None, why=EMPTY)
    (name, main), *_ = group.items()
    last, truncated = main.questions[-1], any(span.truncated for span in group.values())
    row = Row(item, candidate, float(np.exp(logs[name].mean())), truncated=truncated)
    return fill_row(row, model, tokens=main.targets, logs=logs[name], read=(*last.ids, *last.decoder_ids))


def combine(case: str, means: Mapping[str, float]) -> float:
    """The score of a case from the geometric means: a = context, w = whole, t = candidate after it, b = candidate alone."""
    if case == "orig":
        return means["b"] / means["a"]
    names = list(NEEDS[case])
    return means[names[0]] / means[names[1]] if len(names) == 2 else means[names[0]]


def refuse(model: Model, options: Mapping[str, str]) -> str | None:
    """A sentence when the options do not fit the model."""
    if options["closing"] == "with" and model.family.continuing is left_to_right:
        return "The option 'closing=with' is for encoder-decoder models."
    return None


method = Method(
    title="Continuation of a context",
    formula="d: G(B|A) · orig: G(B)/G(A) · b: G(B|A)/G(AB) · c: G(AB) · e: G(B|A)/G(B) · f: G(AB)/G(B); G = geometric mean",
    citation="Öztürk et al. (2023)",
    uses=(CONTINUE,),
    suits=lambda item: bool(item.context) and BLANK not in (item.context or ""),
    ask=ask,
    auto=("intersentence",),
    options={"case": ("d", "orig", "b", "c", "e", "f"), "closing": ("without", "with"), "start": STARTS[:2]},
    refuse=refuse,
    version=2,
)
