"""Continuation: how well a candidate sentence follows its context, for causal and encoder-decoder models."""

import numpy as np

from ..items import BLANK, Item
from ..languages import finish_sentence, join_sentences
from ..models.continuations import STARTS, TEMPLATES, ask_for, refuse_template, template_identity
from ..models.model import CONTINUE, Model
from ..models.questions import Asking, Passage, Span
from ..scores import Row
from . import EMPTY, Method, Options, fill_row

# a case's score is the first of its geometric means, divided by the second if there is one
MEANS = {"d": "t", "orig": "ba", "b": "tw", "c": "w", "e": "tb", "f": "wb"}


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """The tokens of every span of a case: a = context, w = whole, t = candidate after it, b = candidate alone."""
    context = finish_sentence(item.context or "", item.language)
    closed = options["closing"] == "with"
    spans: list[list[Span]] = []
    for candidate in item.candidates:
        texts = {
            "a": (context, ""),
            "w": (join_sentences(context, candidate.text, tag=item.language), ""),
            "t": (candidate.text, context),
            "b": (candidate.text, ""),
        }
        passages = [
            Passage(*texts[name], item.language, options["start"], closed, options["template"])
            for name in MEANS[options["case"]]
        ]
        spans.append([ask_for(model, passage) for passage in passages])
    answers = iter((yield [question for group in spans for span in group for question in span.questions]))
    rows = []
    for candidate, group in zip(item.candidates, spans, strict=True):
        logs = [np.concatenate([[], *(next(answers) for _ in span.questions)]) for span in group]
        if not all(map(len, logs)):
            rows.append(Row(item, candidate.id, None, why=EMPTY))
            continue
        means = [float(np.exp(values.mean())) for values in logs]
        value = means[0] / means[1] if len(means) == 2 else means[0]
        row = Row(item, candidate.id, value, truncated=any(span.truncated for span in group))
        last = group[0].questions[-1]
        rows.append(fill_row(row, model, tokens=group[0].targets, logs=logs[0], read=(*last.ids, *last.decoder_ids)))
    return rows


def refuse(model: Model, options: Options) -> str | None:
    """A sentence when the options do not fit the model."""
    if options["closing"] == "with" and model.family.chats:
        return "The option 'closing=with' is for encoder-decoder models."
    return refuse_template(model, options)


method = Method(
    title="Continuation of a context",
    formula="d: G(B|A) · orig: G(B)/G(A) · b: G(B|A)/G(AB) · c: G(AB) · e: G(B|A)/G(B) · f: G(AB)/G(B); G = geometric mean",
    citation="Öztürk et al. (2023)",
    uses=(CONTINUE,),
    suits=lambda item: bool(item.context) and BLANK not in (item.context or ""),
    ask=ask,
    auto=("intersentence",),
    options={"case": tuple(MEANS), "closing": ("without", "with"), "start": STARTS[:2], "template": TEMPLATES},
    refuse=refuse,
    identity=template_identity,
    later=("template",),
    version=2,
)
