"""Texts that a model reads from left to right: the questions about the tokens that follow others."""

from ..errors import IsoglossError
from ..languages import join_sentences
from .model import Model
from .questions import Passage, Question, Span
from .text import Ids, encode, shared_start

STARTS = ("auto", "first", "none")


def start_token(model: Model) -> Ids:
    """The token that a text begins with: the beginning-of-text token, or what the model has in its place."""
    tokenizer, config = model.tokenizer, getattr(model.net, "config", None)
    own = config.get_text_config().bos_token_id if config is not None else None
    for token in (tokenizer.bos_token_id, own, tokenizer.eos_token_id):
        if token is not None:
            return (int(token),)
    return ()


def ask_for(model: Model, passage: Passage) -> Span:
    """The questions for every token of a text, as the model's family asks for them."""
    if model.family.continuing is None:
        raise IsoglossError(f"A {model.info.family} model cannot be asked for a text token by token.")
    return model.family.continuing(model, passage)


def left_to_right(model: Model, passage: Passage) -> Span:
    """The questions for every token of a text, each after all those before it; those of the context are not asked for."""
    tokens = encode(model.tokenizer, passage.text)
    before: Ids = ()
    if passage.context:
        whole = encode(model.tokenizer, join_sentences(passage.context, passage.text, tag=passage.language))
        seam = shared_start(whole, encode(model.tokenizer, passage.context))
        before, tokens = whole[:seam], whole[seam:]
    own = start_token(model)
    if passage.start == "auto":
        return span(model, tokens, start=own, before=before)
    rest = span(model, tokens, start=(), before=before)
    if passage.start == "none" or before or not tokens:
        return rest
    return Span((*span(model, tokens[:1], start=own).questions, *rest.questions), rest.truncated)


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
    known = len(start) + len(before)
    first = max(1, known)
    targets = full[first:]
    if not targets:
        return Span((), truncated)
    question = Question(full, tuple(range(first - 1, len(full) - 1)), targets)
    return Span((question,), truncated, full[known:first])
