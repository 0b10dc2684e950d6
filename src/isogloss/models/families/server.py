"""Models behind an address: any server that speaks OpenAI's chat protocol, asked several times at once."""

import asyncio
import os
import random
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ...errors import IsoglossError, require
from .. import chat_protocol
from ..model import Family, Loading, Model, ModelInfo, ModelSource
from ..questions import TEXT, Keep, Prompt, Reply
from ..retry import MOST, RetryPolicy, asked_wait, next_wait

LOOPBACK = ("localhost", "127.0.0.1", "::1")
BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
UNKNOWN_FIELD = (400, 422, 501)
KEPT = "What was answered is kept; run the same command again to resume."


@dataclass(frozen=True, slots=True)
class Server:
    """The address of a server, and how it is asked."""

    url: str
    loading: Loading
    policy: RetryPolicy


@dataclass
class _Connection:
    """An open connection to a server: its client, what it understands so far, and why it was closed."""

    client: Any
    server: Server
    dialects: list[chat_protocol.Dialect]
    draw: random.Random
    answered: bool = False
    broken: IsoglossError | None = None


class _Retry(Exception):
    """A try that failed in a way that may pass; with the wait that was asked for."""

    def __init__(self, why: str, asked: float | None = None) -> None:
        super().__init__(why)
        self.asked = asked


def claim(name: str, loading: Loading) -> ModelSource | None:
    """An address, with the name of a model there; a model with such a name but no address is somebody else's."""
    if not name.startswith(("http://", "https://")):
        return None
    url = check_url(name)
    if not loading.served_model:
        raise IsoglossError(f"Which model does {url} serve? Use --served-model NAME.")
    return ModelSource(loading.served_model, url, family="server")


def open_server(source: ModelSource, loading: Loading) -> Model:
    """The model behind an address; the address and the key are checked, and nothing is sent yet."""
    url = source.source
    server = Server(url, loading, RetryPolicy(loading.tries))
    _key(server)
    if loading.key_env and urlsplit(url).scheme == "http" and urlsplit(url).hostname not in LOOPBACK:
        warnings.warn(f"{url} is not encrypted, so others on the way can read the key.", stacklevel=2)
    identity = {"address": url, "model": loading.served_model}
    info = ModelInfo(loading.served_model, "server", "server", source=url, dtype="", identity=identity)
    return Model(info, server, None, family, "server")


def check_url(url: str) -> str:
    """The address without a slash at its end; one that holds a key or is none is refused, and never repeated."""
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise IsoglossError(
            "The address of a server holds no key, query or password. Put the key in the environment: --key-env NAME"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise IsoglossError(f"'{url}' is not an address. Write it as https://…/v1")
    return url.rstrip("/")


def _key(server: Server) -> str:
    """The key that the environment holds; empty for a server that needs none, and refused when it cannot be one."""
    variable = server.loading.key_env
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise IsoglossError(f"The environment has no usable {variable}. Set it to your key.")
    return key


def answer_each(model: Model, questions: Sequence[Any], *, keep: Keep, token_budget: int | None = None) -> None:
    """Answer prompts, several at once; each answer is handed over as soon as it is there."""
    asyncio.run(_ask_all(model.net, questions, keep))


async def _ask_all(server: Server, prompts: Sequence[Prompt], keep: Keep) -> None:
    """Ask everything with several workers; when one gives up, the others finish what they have begun."""
    httpx = require("httpx", extra="ask")
    waiting = iter(prompts)
    limits = httpx.Limits(max_connections=server.loading.concurrency)
    key = _key(server)
    headers = {"Accept-Encoding": "gzip"} | ({"Authorization": f"Bearer {key}"} if key else {})
    async with httpx.AsyncClient(headers=headers, limits=limits, timeout=None) as client:
        connection = _Connection(client, server, list(chat_protocol.DIALECTS), random.Random())

        async def work() -> None:
            for prompt in waiting:
                try:
                    reply = None if connection.broken else await _ask_one(connection, prompt)
                except IsoglossError as error:
                    connection.broken = connection.broken or error
                    return
                if reply is None:
                    return
                keep({prompt: reply})

        await asyncio.gather(*(work() for _ in range(server.loading.concurrency)))
    if connection.broken is not None:
        raise connection.broken


async def _ask_one(connection: _Connection, prompt: Prompt) -> Reply | None:
    """The answer, after as many tries as the policy allows; none when the connection was closed meanwhile."""
    policy = connection.server.policy
    for turn in range(policy.tries):
        try:
            return await _try(connection, prompt)
        except _Retry as error:
            wait = next_wait(policy, turn, asked=error.asked, draw=connection.draw)
            if turn + 1 == policy.tries or wait > policy.longest:
                times = f"{turn + 1} times" if turn else "once"
                seconds = f"{wait:.0f}" if wait < MOST else f"more than {MOST:.0f}"
                later = f" and asks to wait {seconds} seconds" if wait > policy.longest else ""
                raise IsoglossError(
                    f"{connection.server.url} was asked {times} and gave no answer: {error}{later}. {KEPT}"
                ) from error
            await asyncio.sleep(wait)
        if connection.broken is not None:
            return None
    return None


async def _try(connection: _Connection, prompt: Prompt) -> Reply:
    """One try; while nothing was answered yet, what the server does not understand is left out step by step."""
    while True:
        dialect = connection.dialects[0]
        body = chat_protocol.make_body(connection.server.loading.served_model, prompt, dialect=dialect)
        code, headers, content = await _post(connection, body)
        if code in UNKNOWN_FIELD and not connection.answered and len(connection.dialects) > 1:
            if connection.dialects[0] is dialect:
                connection.dialects.pop(0)
            continue
        if code in BUSY:
            raise _Retry(f"it answered {code}", asked_wait(headers.get("Retry-After")))
        if code != 200:
            raise _refusal(connection.server, code, content=content)
        try:
            reply = chat_protocol.read_response(chat_protocol.mask_key(content, _key(connection.server)), prompt)
        except chat_protocol.Unreadable as error:
            raise _Retry(f"it sent {error}") from error
        connection.answered = True
        return reply


async def _post(connection: _Connection, body: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
    """The status, the headers and the unpacked body of a response, within the time and the size that it may take."""
    httpx = require("httpx", extra="ask")
    url = connection.server.url
    try:
        async with asyncio.timeout(connection.server.loading.timeout):
            async with connection.client.stream("POST", f"{url}/chat/completions", json=body) as response:
                raw = bytearray()
                async for block in response.aiter_raw():
                    raw += block
                    if len(raw) > chat_protocol.LARGEST:
                        break
                content = chat_protocol.unpack(bytes(raw), response.headers.get("Content-Encoding", ""))
                return response.status_code, response.headers, content
    except chat_protocol.TooLarge as error:
        raise IsoglossError(
            f"{url} sent more than {chat_protocol.LARGEST // 10**6} MB for one answer. Check the address. {KEPT}"
        ) from error
    except chat_protocol.Unreadable as error:
        raise _Retry(f"it sent {error}") from error
    except TimeoutError as error:
        raise _Retry(f"nothing came within {connection.server.loading.timeout:g} seconds") from error
    except httpx.HTTPError as error:
        raise _Retry(f"the connection failed ({type(error).__name__})") from error


def _refusal(server: Server, code: int, *, content: bytes) -> IsoglossError:
    """The error for a status where trying again cannot help."""
    problem = f" to the model '{server.loading.served_model}'{chat_protocol.error_text(content, key=_key(server))}. Check both."
    if code in (401, 403):
        key = f"Check the key in {server.loading.key_env}." if server.loading.key_env else "Use --key-env NAME."
        problem = f": it does not accept the key. {key}"
    if code == 404:
        problem = ": check the address, which often ends in /v1, and the model's name."
    return IsoglossError(f"{server.url} answered {code}{problem} {KEPT}")


def refuse(model: Model, *, asked: str, options: Mapping[str, str]) -> str | None:
    """A sentence when a template is chosen: a server frames its prompts itself."""
    if asked == TEXT and options.get("template", "auto") != "auto":
        return "'template' is for models on this machine; a server has its own."
    return None


family = Family(
    title="Models behind a server: an address that speaks OpenAI's chat protocol",
    wants=(TEXT,),
    claims=claim,
    open=open_server,
    answer_each=answer_each,
    refuse=refuse,
)
