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


def span(model: Model, before: Ids, tokens: Ids, *, start: Ids) -> Span:
    """The question for the log-probabilities of `tokens` after `start` and `before`; too long a text loses its end.

    Without a start token the very first token of a text cannot be asked for and is left out.
    """
    full = (*start, *before, *tokens)
    limit = model.info.max_length
    truncated = limit is not None and len(full) > limit
    full = full[:limit]
    first = max(1, len(start) + len(before))
    targets = full[first:]
    if not targets:
        return Span(None, truncated)
    return Span(Question(full, tuple(range(first - 1, len(full) - 1)), targets), truncated)
