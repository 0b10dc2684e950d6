"""The back end behind an address: any endpoint that speaks OpenAI's chat protocol, asked several times at once."""

import asyncio
import os
import random
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ..errors import IsoglossError, require
from . import protocol
from .records import Answer
from .requests import AskSettings, Backend, OnAnswers, PromptRequest
from .retry import MOST, RetryPolicy, asked_wait, next_wait

LOOPBACK = ("localhost", "127.0.0.1", "::1")
BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
UNKNOWN_FIELD = (400, 422, 501)
KEPT = "What was answered is kept; run the same command again to resume."


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint's address, the model's name there, and the environment variable that holds the key, if it needs one."""

    url: str
    model: str
    key_env: str | None = None
    concurrency: int = 4
    timeout: float = 60.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass
class _Connection:
    """An open connection to an endpoint: its client, what it understands so far, and why it was closed."""

    client: Any
    endpoint: Endpoint
    plan: AskSettings
    dialects: list[protocol.Dialect]
    draw: random.Random
    answered: bool = False
    broken: IsoglossError | None = None


class _Retry(Exception):
    """A try that failed in a way that may pass; with the wait that was asked for."""

    def __init__(self, why: str, asked: float | None = None) -> None:
        super().__init__(why)
        self.asked = asked


def http_backend(endpoint: Endpoint, settings: AskSettings) -> Backend:
    """The endpoint as something that answers; the address and the key are checked, and nothing is sent yet."""
    url = check_url(endpoint.url)
    _key(endpoint)
    if settings.template != "auto":
        raise IsoglossError("'template' is for models on this machine; an endpoint has its own.")
    if endpoint.key_env and urlsplit(url).scheme == "http" and urlsplit(url).hostname not in LOOPBACK:
        warnings.warn(f"{url} is not encrypted, so others on the way can read the key.", stacklevel=2)

    def answer(requests: Sequence[PromptRequest], on_answers: OnAnswers) -> None:
        asyncio.run(_ask_all(endpoint, settings, requests=requests, on_answers=on_answers))

    return Backend(endpoint.model, settings, {"endpoint": url, "model": endpoint.model}, answer, {"endpoint": url})


def check_url(url: str) -> str:
    """The address without a slash at its end; one that holds a key or is none is refused, and never repeated."""
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise IsoglossError(
            "The address of an endpoint holds no key, query or password. Put the key in the environment: --key-env NAME"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise IsoglossError(f"'{url}' is not an address. Use --endpoint https://…/v1")
    return url.rstrip("/")


def _key(endpoint: Endpoint) -> str:
    """The key that the environment holds; empty for an endpoint that needs none, and refused when it cannot be one."""
    if endpoint.key_env is None:
        return ""
    key = os.environ.get(endpoint.key_env, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise IsoglossError(f"The environment has no usable {endpoint.key_env}. Set it to your key.")
    return key


async def _ask_all(
    endpoint: Endpoint, settings: AskSettings, *, requests: Sequence[PromptRequest], on_answers: OnAnswers
) -> None:
    """Ask everything with several workers; when one gives up, the others finish what they have begun."""
    httpx = require("httpx", extra="ask")
    waiting = iter(requests)
    limits = httpx.Limits(max_connections=endpoint.concurrency)
    headers = {"Accept-Encoding": "gzip"} | ({"Authorization": f"Bearer {_key(endpoint)}"} if endpoint.key_env else {})
    async with httpx.AsyncClient(headers=headers, limits=limits, timeout=None) as client:
        connection = _Connection(client, endpoint, settings, list(protocol.DIALECTS), random.Random())

        async def work() -> None:
            for request in waiting:
                try:
                    answer = None if connection.broken else await _ask_one(connection, request)
                except IsoglossError as error:
                    connection.broken = connection.broken or error
                    return
                if answer is None:
                    return
                on_answers([answer])

        await asyncio.gather(*(work() for _ in range(endpoint.concurrency)))
    if connection.broken is not None:
        raise connection.broken


async def _ask_one(connection: _Connection, request: PromptRequest) -> Answer | None:
    """The answer, after as many tries as the policy allows; none when the connection was closed meanwhile."""
    policy = connection.endpoint.retry
    for turn in range(policy.tries):
        try:
            return await _try(connection, request)
        except _Retry as error:
            wait = next_wait(policy, turn, asked=error.asked, draw=connection.draw)
            if turn + 1 == policy.tries or wait > policy.longest:
                times = f"{turn + 1} times" if turn else "once"
                seconds = f"{wait:.0f}" if wait < MOST else f"more than {MOST:.0f}"
                later = f" and asks to wait {seconds} seconds" if wait > policy.longest else ""
                raise IsoglossError(
                    f"{connection.endpoint.url} was asked {times} and gave no answer: {error}{later}. {KEPT}"
                ) from error
            await asyncio.sleep(wait)
        if connection.broken is not None:
            return None
    return None


async def _try(connection: _Connection, request: PromptRequest) -> Answer:
    """One try; while nothing was answered yet, what the endpoint does not understand is left out step by step."""
    while True:
        dialect = connection.dialects[0]
        body = protocol.make_body(connection.endpoint.model, request, settings=connection.plan, dialect=dialect)
        code, headers, content = await _post(connection, body)
        if code in UNKNOWN_FIELD and not connection.answered and len(connection.dialects) > 1:
            if connection.dialects[0] is dialect:
                connection.dialects.pop(0)
            continue
        if code in BUSY:
            raise _Retry(f"it answered {code}", asked_wait(headers.get("Retry-After")))
        if code != 200:
            raise _refusal(connection.endpoint, code, content=content)
        try:
            answer = protocol.read_response(protocol.mask_key(content, _key(connection.endpoint)), request)
        except protocol.Unreadable as error:
            raise _Retry(f"it sent {error}") from error
        connection.answered = True
        return answer


async def _post(connection: _Connection, body: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
    """The status, the headers and the unpacked body of a response, within the time and the size that it may take."""
    httpx = require("httpx", extra="ask")
    url = connection.endpoint.url.rstrip("/")
    try:
        async with asyncio.timeout(connection.endpoint.timeout):
            async with connection.client.stream("POST", f"{url}/chat/completions", json=body) as response:
                raw = bytearray()
                async for block in response.aiter_raw():
                    raw += block
                    if len(raw) > protocol.LARGEST:
                        break
                content = protocol.unpack(bytes(raw), response.headers.get("Content-Encoding", ""))
                return response.status_code, response.headers, content
    except protocol.TooLarge as error:
        raise IsoglossError(
            f"{url} sent more than {protocol.LARGEST // 10**6} MB for one answer. Check the address. {KEPT}"
        ) from error
    except protocol.Unreadable as error:
        raise _Retry(f"it sent {error}") from error
    except TimeoutError as error:
        raise _Retry(f"nothing came within {connection.endpoint.timeout:g} seconds") from error
    except httpx.HTTPError as error:
        raise _Retry(f"the connection failed ({type(error).__name__})") from error


def _refusal(endpoint: Endpoint, code: int, *, content: bytes) -> IsoglossError:
    """The error for a status where trying again cannot help."""
    problem = f" to the model '{endpoint.model}'{protocol.error_text(content, key=_key(endpoint))}. Check both."
    if code in (401, 403):
        key = f"Check the key in {endpoint.key_env}." if endpoint.key_env else "Use --key-env NAME."
        problem = f": it does not accept the key. {key}"
    if code == 404:
        problem = ": check the address, which often ends in /v1, and the model's name."
    return IsoglossError(f"{endpoint.url} answered {code}{problem} {KEPT}")
