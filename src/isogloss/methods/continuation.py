"""Continuation: how well a candidate sentence follows its context, for causal and encoder-decoder models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..items import BLANK, Candidate, Item
from ..languages import finish_sentence, join_sentences
from ..models.continuations import STARTS, Span, started_span
from ..models.model import Model
from ..models.questions import Answer, Asking, Question
from ..models.text import Ids, count_unknown, decode, encode, shared_start
from ..scores import Row
from . import Method
from ._masked_sentence import EMPTY

SENTINEL = "<extra_id_0>"
NEEDS = {"d": "t", "orig": "ba", "b": "tw", "c": "w", "e": "tb", "f": "wb"}


def ask(item: Item, model: Model, *, options: Mapping[str, str]) -> Asking:
    """One generator per family, the same rows."""
    build = _seq2seq_spans if model.info.family == "seq2seq" else _causal_spans
    spans = [build(model, item, candidate=candidate, options=options) for candidate in item.candidates]
    answers = iter((yield [question for group in spans for found in group.values() for question in found.questions]))
    rows = []
    for candidate, group in zip(item.candidates, spans, strict=True):
        logs = {name: np.concatenate([[], *(next(answers) for _ in found.questions)]) for name, found in group.items()}
        row = _row(item, candidate.id, model=model, group=group, logs=logs)
        means = {name: float(np.exp(values.mean())) for name, values in logs.items() if row.value is not None}
        rows.append(replace(row, value=combine(options["case"], means)) if means else row)
    return rows


def _causal_spans(model: Model, item: Item, *, candidate: Candidate, options: Mapping[str, str]) -> dict[str, Span]:
    """The spans that the case needs: a = context, w = whole, t = candidate after the context, b = candidate alone."""
    start, context = options["start"], finish_sentence(item.context or "", item.language)
    whole = encode(model.tokenizer, join_sentences(context, candidate.text, tag=item.language))
    alone = encode(model.tokenizer, context)
    seam = shared_start(whole, alone)
    made = {
        "a": lambda: started_span(model, alone, start=start),
        "w": lambda: started_span(model, whole, start=start),
        "t": lambda: started_span(model, whole[seam:], start=start, before=whole[:seam]),
        "b": lambda: started_span(model, encode(model.tokenizer, candidate.text), start=start),
    }
    return {name: made[name]() for name in NEEDS[options["case"]]}


def _seq2seq_spans(model: Model, item: Item, *, candidate: Candidate, options: Mapping[str, str]) -> dict[str, Span]:
    tokenizer = model.tokenizer
    context = finish_sentence(item.context or "", item.language)
    source = tuple(tokenizer.encode(join_sentences(context, SENTINEL, tag=item.language)))
    target: Ids = encode(tokenizer, candidate.text)
    if options["closing"] == "with":
        target = (*target, tokenizer.eos_token_id)
    begin = (model.net.config.decoder_start_token_id, tokenizer.convert_tokens_to_ids(SENTINEL))
    question = Question(source, tuple(range(1, len(target) + 1)), target, decoder_ids=(*begin, *target[:-1]))
    return {"t": Span((question,) if target else (), False)}


def _row(item: Item, candidate: str, *, model: Model, group: Mapping[str, Span], logs: Mapping[str, Answer]) -> Row:
    if any(not len(values) for values in logs.values()):
        return Row(item, candidate, None, why=EMPTY)
    main = next(iter(group))
    targets = group[main].targets
    last = group[main].questions[-1]
    return Row(
        item,
        candidate,
        float(np.exp(logs[main].mean())),
        tokens=len(logs[main]),
        unknown=count_unknown(model.tokenizer, (*last.ids, *last.decoder_ids)),
        truncated=any(found.truncated for found in group.values()),
        pieces=decode(model.tokenizer, targets),
        logprobs=tuple(logs[main].tolist()),
    )


def combine(case: str, means: Mapping[str, float]) -> float:
    """The score of a case from the geometric means: a = context, w = whole, t = candidate after it, b = candidate alone."""
    if case == "orig":
        return means["b"] / means["a"]
    names = list(NEEDS[case])
    return means[names[0]] / means[names[1]] if len(names) == 2 else means[names[0]]


def refuse(model: Model, options: Mapping[str, str]) -> str | None:
    """A sentence when the options do not fit the model."""
    if model.info.family == "seq2seq":
        if options["case"] != "d":
            return f"The case '{options['case']}' is for causal models; an encoder-decoder model has the default only."
        if options["start"] != "auto":
            return f"The option 'start={options['start']}' is for causal models."
        if SENTINEL not in model.tokenizer.get_vocab():
            return f"'{model.info.name}' has no '{SENTINEL}' token, so it cannot continue a context this way."
    elif options["closing"] == "with":
        return "The option 'closing=with' is for encoder-decoder models."
    return None


method = Method(
    title="Continuation of a context",
    formula="d: G(B|A) · orig: G(B)/G(A) · b: G(B|A)/G(AB) · c: G(AB) · e: G(B|A)/G(B) · f: G(AB)/G(B); G = geometric mean",
    citation="Öztürk et al. (2023)",
    families=("causal", "seq2seq"),
    suits=lambda item: bool(item.context) and BLANK not in (item.context or ""),
    ask=ask,
    auto=(("intersentence", "causal"), ("intersentence", "seq2seq")),
    options={"case": ("d", "orig", "b", "c", "e", "f"), "closing": ("without", "with"), "start": STARTS[:2]},
    refuse=refuse,
    version=2,
)
