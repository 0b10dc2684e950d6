"""Spans of text that a model writes: a question about the tokens that follow others."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Model
from .questions import Question
from .text import Ids, encode, encode_full, token_id

SENTINEL = "<extra_id_0>"


STARTS = ("auto", "first", "none")


@dataclass(frozen=True, slots=True)
class Span:
    """The questions about some tokens, in order, none when there is nothing to ask; and whether text was cut for them."""

    questions: tuple[Question, ...]
    truncated: bool

    @property
    def targets(self) -> Ids:
        return tuple(target for question in self.questions for target in question.targets)


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
        return Span((), truncated)
    return Span((Question(full, tuple(range(first - 1, len(full) - 1)), targets),), truncated)


def started_span(model: Model, tokens: Ids, *, start: str, before: Ids = ()) -> Span:
    """The span after the start token (`auto`), without one (`none`), or as published (`first`).

    As published, only the first token of a text comes after the start token; the others see the text before them alone.
    """
    own = start_token(model)
    if start == "auto":
        return span(model, tokens, start=own, before=before)
    rest = span(model, tokens, start=(), before=before)
    if start == "none" or before or not tokens:
        return rest
    return Span((*span(model, tokens[:1], start=own).questions, *rest.questions), rest.truncated)


def sentence_span(model: Model, text: str, *, start: str = "auto") -> Span:
    """The questions for every token of a sentence; the first one after the model's start token.

    An encoder-decoder model reads a sentinel and is made to fill it with the sentence.
    """
    tokens = encode(model.tokenizer, text)
    if model.info.family != "seq2seq":
        return started_span(model, tokens, start=start)
    if not tokens:
        return Span((), False)
    source = encode_full(model.tokenizer, SENTINEL)
    begin = (model.net.config.decoder_start_token_id, token_id(model.tokenizer, SENTINEL))
    return Span((Question(source, tuple(range(1, len(tokens) + 1)), tokens, decoder_ids=(*begin, *tokens)),), False)


def refuse_without_sentinel(model: Model) -> str | None:
    """A sentence when an encoder-decoder model has no sentinel to fill."""
    if model.info.family == "seq2seq" and SENTINEL not in model.tokenizer.get_vocab():
        return f"'{model.info.name}' has no '{SENTINEL}' token, so it cannot be made to write a sentence."
    return None
