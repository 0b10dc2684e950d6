"""Next sentence prediction: the probability that a candidate is the sentence after its context."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..items import BLANK, Item
from ..models.model import Model
from ..models.questions import CLASS, Asking, Question
from ..models.text import count_unknown, encode
from ..scores import Row
from .method import Method

IS_NEXT = 0


def ask(item: Item, model: Model, *, options: Mapping[str, str]) -> Asking:
    """One question per candidate: the class of the pair."""
    pairs = [_pair(model, item.context or "", text=candidate.text) for candidate in item.candidates]
    answers = yield [question for question, _ in pairs]
    return [
        Row(
            item,
            candidate.id,
            float(np.exp(classes[IS_NEXT])),
            tokens=len(question.ids),
            unknown=count_unknown(model.tokenizer, encode(model.tokenizer, candidate.text)),
            truncated=truncated,
            logprobs=tuple(classes.tolist()),
        )
        for candidate, (question, truncated), classes in zip(item.candidates, pairs, answers, strict=True)
    ]


def _pair(model: Model, context: str, *, text: str) -> tuple[Question, bool]:
    """The pair as the tokenizer joins it; too long a context loses its beginning."""
    tokenizer, limit = model.tokenizer, model.info.max_length
    made = tokenizer(context, text, return_token_type_ids=True)
    ids, segments = tuple(made["input_ids"]), tuple(made["token_type_ids"])
    extra = len(ids) - limit if limit is not None else 0
    if extra > 0:
        ids, segments = ids[:1] + ids[1 + extra :], segments[:1] + segments[1 + extra :]
    return Question(ids, want=CLASS, segments=segments), extra > 0


def refuse(model: Model, options: Mapping[str, str]) -> str | None:
    """A sentence when the model has no trained next-sentence head; judged by its weights, never by its scores."""
    name = model.info.name
    if "nsp" not in model.info.heads:
        return f"'{name}' has no next-sentence head, so it cannot be scored with 'nsp'."
    return None


method = Method(
    title="Next sentence prediction",
    formula="P(is next | context, candidate)",
    citation="Nadeem et al. (2021)",
    families=("masked",),
    suits=lambda item: bool(item.context) and BLANK not in (item.context or ""),
    ask=ask,
    auto=(("intersentence", "masked"),),
    needs="nsp",
    refuse=refuse,
)
