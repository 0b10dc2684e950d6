"""Next sentence prediction: the probability that a candidate is the sentence after its context."""

import numpy as np

from ..items import BLANK, Item
from ..models.model import PAIR, Model
from ..models.next_sentence import class_logprobs, next_class, pair_question
from ..models.questions import Asking
from ..models.text import count_unknown
from ..scores import Row
from . import Method, Options


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """One question per candidate: the class of the pair."""
    pairs = [pair_question(model, item.context or "", second=candidate.text) for candidate in item.candidates]
    answers = yield [question for question, _ in pairs]
    logprobs = [class_logprobs(model, answer) for answer in answers]
    return [
        Row(
            item,
            candidate.id,
            float(np.exp(classes[next_class(model)])),
            tokens=len(question.ids),
            unknown=count_unknown(model.tokenizer, question.ids),
            truncated=truncated,
            logprobs=tuple(classes.tolist()),
        )
        for candidate, (question, truncated), classes in zip(item.candidates, pairs, logprobs, strict=True)
    ]


def refuse(model: Model, options: Options) -> str | None:
    """A sentence when the model has no trained next-sentence head; judged by its weights, never by its scores."""
    name = model.info.name
    if "nsp" not in model.info.heads:
        return f"'{name}' has no next-sentence head, so it cannot be scored with 'nsp'. Train one: isogloss nsp train"
    return None


method = Method(
    title="Next sentence prediction",
    formula="P(is next | context, candidate)",
    citation="Nadeem et al. (2021)",
    uses=(PAIR,),
    suits=lambda item: bool(item.context) and BLANK not in (item.context or ""),
    ask=ask,
    auto=("intersentence",),
    needs="nsp",
    refuse=refuse,
)
