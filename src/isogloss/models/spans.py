"""Spans of a causal model's text: a question about the tokens that follow others."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Model
from .questions import Question
from .text import Ids


@dataclass(frozen=True, slots=True)
class Span:
    """A question about some tokens, or none when there is nothing to ask; and whether text was cut for it."""

    question: Question | None
    truncated: bool


def start_token(model: Model) -> Ids:
    """The token that a text begins with: the beginning-of-text token, or what the model has in its place."""
    tokenizer = model.tokenizer
    for token in (tokenizer.bos_token_id, model.net.config.get_text_config().bos_token_id, tokenizer.eos_token_id):
        if token is not None:
            return (int(token),)
    return ()


def span(model: Model, tokens: Ids, *, start: Ids, before: Ids = ()) -> Span:
    """The question for the log-probabilities of `tokens` after `start` and `before`.

    Too long a text loses the beginning of `before`, and the end of `tokens` when that is not enough.
    Without a start token the very first token of a text cannot be asked for and is left out.
    """
    limit = model.info.max_length
    extra = len(start) + len(before) + len(tokens) - limit if limit is not None else 0
    before = before[max(0, extra) :]
    full = (*start, *before, *tokens)[:limit]
    truncated = extra > 0
    first = max(1, len(start) + len(before))
    targets = full[first:]
    if not targets:
        return Span(None, truncated)
    return Span(Question(full, tuple(range(first - 1, len(full) - 1)), targets), truncated)
