"""Models behind an address: servers that score given text, and any that speaks OpenAI's chat protocol."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from ...errors import IsoglossError
from .. import chat_protocol
from ..continuations import left_to_right
from ..model import ADDRESS, CONTINUE, Family, Loading, Model, ModelInfo, ModelSource
from ..questions import LOGPROB, TEXT, Keep, Passage, Prompt, Reply, Span
from ..retry import RetryPolicy
from ..served_tokenizer import ServedTokenizer
from ..server_connection import (
    Connection,
    Server,
    TryAgain,
    ask_all,
    charge,
    check_status,
    check_url,
    keep_trying,
    read_key,
    run_now,
    send,
)
from ..server_identity import find_local_tokenizer
from ..server_scoring import STATE, answer_questions, scoring_of

LOOPBACK = ("localhost", "127.0.0.1", "::1")
UNKNOWN_FIELD = (400, 422, 501)
LETTERS_A_TOKEN = 3
OUTLINE = "meta"  # the device of a model that is only counted, and not asked


def claim(name: str, loading: Loading) -> ModelSource | None:
    """An address, with the name of a model there; a model with such a name but no address is somebody else's."""
    if not name.startswith(ADDRESS):
        return None
    url = check_url(name)
    if not loading.served_model:
        raise IsoglossError(f"Which model does {url} serve? Use `served_model='NAME'`.")
    return ModelSource(loading.served_model, url, family="server")


def open_server(source: ModelSource, loading: Loading) -> Model:
    """The model behind an address; the address and the key are checked, and nothing is sent yet."""
    url = source.source
    server = Server(url, loading, RetryPolicy(loading.tries))
    read_key(server)
    if loading.key_env and urlsplit(url).scheme == "http" and urlsplit(url).hostname not in LOOPBACK:
        warnings.warn(f"{url} is not encrypted, so others on the way can read the key.", stacklevel=2)
    identity = {"address": url, "model": loading.served_model}
    info = ModelInfo(loading.served_model, "server", "server", source=url, dtype="", identity=identity)
    return Model(info, server, ServedTokenizer(), family, "server", {"prices": loading.prices})


def answer_each(model: Model, questions: Sequence[Any], *, keep: Keep, token_budget: int | None = None) -> None:
    """Answer questions and prompts, several at once; each answer is handed over as soon as it is there."""
    prompts = [question for question in questions if isinstance(question, Prompt)]
    others = [question for question in questions if not isinstance(question, Prompt)]
    if wrong := next((question.want for question in others if question.want != LOGPROB), None):
        raise IsoglossError(f"A server cannot answer '{wrong}'.")
    if prompts:
        _answer_prompts(model.net, prompts, keep=keep)
    if others:
        answer_questions(model, others, keep=keep)


def _answer_prompts(server: Server, prompts: Sequence[Prompt], *, keep: Keep) -> None:
    """Answer prompts in words; what the server does not understand is left out step by step until one was answered."""
    dialects = list(chat_protocol.DIALECTS)
    replies: list[Reply] = []

    async def ask(connection: Connection, prompt: Prompt) -> None:
        async def once() -> Reply:
            while True:
                dialect = dialects[0]
                body = chat_protocol.make_body(server.loading.served_model, prompt, dialect=dialect)
                response = await send(connection, f"{server.url}/chat/completions", body=body)
                if response.code in UNKNOWN_FIELD and not replies and len(dialects) > 1:
                    if dialects[0] is dialect:
                        dialects.pop(0)
                    continue
                content = check_status(server, response)
                try:
                    return chat_protocol.read_response(content, prompt)
                except chat_protocol.Unreadable as error:
                    raise TryAgain(f"it sent {error}") from error

        charge(server, prompt=len(prompt.text) // LETTERS_A_TOKEN, answer=prompt.max_tokens)
        reply = await keep_trying(connection, once)
        if reply is not None:
            replies.append(reply)
            keep({prompt: reply})

    run_now(ask_all(server, prompts, ask=ask))


def continue_text(model: Model, passage: Passage) -> Span:
    """The questions for every token of a text, which may be as long as the server says."""
    limit = model.state[STATE].limit if STATE in model.state else None
    return left_to_right(replace(model, info=replace(model.info, max_length=limit)), passage)


def refuse(model: Model, *, asked: str, options: Mapping[str, str]) -> str | None:
    """A sentence when a template is chosen, which a server has itself; a server that is to score must pass the canary."""
    if asked == TEXT and options.get("template", "auto") != "auto":
        return "'template' is for models on this machine; a server has its own."
    if asked == CONTINUE and model.device == OUTLINE:
        find_local_tokenizer(model, {})
    elif asked == CONTINUE:
        scoring_of(model)
    return None


def identify(model: Model, asked: str) -> Mapping[str, str]:
    """What scores depend on beside the name: what the server says about itself, and how it was asked."""
    if asked != CONTINUE or STATE not in model.state:
        return {}
    scoring = scoring_of(model)
    return scoring.statements | {"dialect": scoring.dialect.title, "tokenizer": model.tokenizer.source}


def ask_again(model: Model) -> tuple[Model, int] | None:
    """The model with another number of requests open at once, and how many items it is asked for a second time."""
    loading = model.net.loading
    other = replace(loading, concurrency=1 if loading.concurrency > 1 else 4)
    return (replace(model, net=replace(model.net, loading=other)), loading.repeat) if loading.repeat else None


family = Family(
    title="Models behind a server: vLLM, SGLang, and others with log-probabilities of prompts or OpenAI's chat protocol",
    wants=(LOGPROB, TEXT),
    claims=claim,
    open=open_server,
    answer_each=answer_each,
    continuing=continue_text,
    chats=True,
    identify=identify,
    ask_again=ask_again,
    refuse=refuse,
)
