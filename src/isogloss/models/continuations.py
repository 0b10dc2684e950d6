"""Texts that a model reads from left to right: the questions about the tokens that follow others."""

from collections.abc import Mapping
from typing import Any

from ..errors import IsoglossError
from ..languages import join_sentences
from .chat_template import frame_prompts
from .model import Model
from .questions import Passage, Question, Span
from .text import Ids, cached, encode, shared_start

STARTS = ("auto", "first", "none")
TEMPLATES = ("plain", "chat")
MESSAGE = "isogloss-message"  # stands for the message when a template is rendered once for all texts


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
    if passage.template == "chat":
        return _after_message(model, passage)
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


def _after_message(model: Model, passage: Passage) -> Span:
    """The questions for every token of a text that answers a user's message, which is the context or empty."""
    opening, closing = cached(model.tokenizer, ("message", ""), make=lambda: _frame(model))
    prompt = opening + passage.context + closing
    whole = encode(model.tokenizer, prompt + passage.text)
    seam = shared_start(whole, encode(model.tokenizer, prompt))
    return span(model, whole[seam:], start=(), before=whole[:seam])


def _frame(model: Model) -> tuple[str, str]:
    """What a model's chat template puts before a user's message, and between it and the answer."""
    (framed,) = frame_prompts(model.tokenizer, [MESSAGE], name=model.info.name)
    if framed.count(MESSAGE) != 1:
        raise IsoglossError(
            f"The chat template of '{model.info.name}' repeats the message. Use `options={{'template': 'plain'}}`."
        )
    opening, _, closing = framed.partition(MESSAGE)
    return opening, closing


def refuse_template(model: Model, options: Mapping[str, str]) -> str | None:
    """A sentence when a text cannot be scored in a chat template."""
    if options["template"] == "plain":
        return None
    if not model.family.chats:
        return "The option 'template=chat' is for causal models, here or behind a server."
    if not model.tokenizer.chat_template and model.device != "meta":
        where = " Use `tokenizer='NAME'`." if model.info.family == "server" else " Choose a chat model."
        return f"'{model.info.name}' has no chat template here.{where}"
    if options.get("start", "auto") != "auto":
        return "With 'template=chat' a text starts as the template says. Leave out 'start'."
    return None


def template_identity(model: Model, language: str, *, options: Mapping[str, str]) -> dict[str, Any]:
    """What scores in a chat template depend on beside model and text: the template."""
    return {} if options["template"] == "plain" else {"chat": model.tokenizer.chat_template}


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
