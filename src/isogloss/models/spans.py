"""Spans of text that a model writes: a question about the tokens that follow others."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Model
from .questions import Question
from .text import Ids, encode, encode_full, token_id

SENTINEL = "<extra_id_0>"


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


def sentence_span(model: Model, text: str, *, start: Ids | None = None) -> Span:
    """The question for every token of a sentence; the first one after the model's start token, or after `start`.

    An encoder-decoder model reads a sentinel and is made to fill it with the sentence.
    """
    tokens = encode(model.tokenizer, text)
    if model.info.family != "seq2seq":
        return span(model, tokens, start=start_token(model) if start is None else start)
    if not tokens:
        return Span(None, False)
    source = encode_full(model.tokenizer, SENTINEL)
    begin = (model.net.config.decoder_start_token_id, token_id(model.tokenizer, SENTINEL))
    return Span(Question(source, tuple(range(1, len(tokens) + 1)), tokens, decoder_ids=(*begin, *tokens)), False)


def refuse_without_sentinel(model: Model) -> str | None:
    """A sentence when an encoder-decoder model has no sentinel to fill."""
    if model.info.family == "seq2seq" and SENTINEL not in model.tokenizer.get_vocab():
        return f"'{model.info.name}' has no '{SENTINEL}' token, so it cannot be made to write a sentence."
    return None
