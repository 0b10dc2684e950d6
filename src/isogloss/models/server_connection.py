"""Requests to a server: its address and key, tries that are bounded, several requests at once, and what a refusal says."""

import asyncio
import os
import random
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ..errors import IsoglossError, require
from . import chat_protocol
from .model import Loading
from .retry import MOST, RetryPolicy, asked_wait, next_wait

BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
KEPT = "What was answered is kept; run the same command again to resume."
Result = TypeVar("Result")


@dataclass
class Spending:
    """What a server was asked for in this process: requests, and the tokens of prompts and answers."""

    requests: int = 0
    prompt: int = 0
    answer: int = 0

    def cost(self, prices: tuple[float, float]) -> float:
        """What the tokens cost at these prices of a million."""
        return (self.prompt * prices[0] + self.answer * prices[1]) / 1e6


@dataclass(frozen=True, slots=True)
class Server:
    """The address of a server, how it is asked, and what it was asked for so far."""

    url: str
    loading: Loading
    policy: RetryPolicy
    spent: Spending = field(default_factory=Spending)

    @property
    def origin(self) -> str:
        """The address without its path, where servers have what is not in OpenAI's protocol."""
        return self.url.removesuffix("/v1")


@dataclass
class Connection:
    """An open connection to a server: its client, and why it was closed."""

    client: Any
    server: Server
    draw: random.Random
    broken: IsoglossError | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """The status, the headers and the unpacked body of a response."""

    code: int
    headers: Mapping[str, str]
    content: bytes


class TryAgain(Exception):
    """A try that failed in a way that may pass; with the wait that was asked for."""

    def __init__(self, why: str, asked: float | None = None) -> None:
        super().__init__(why)
        self.asked = asked


def check_url(url: str) -> str:
    """The address without a slash at its end; one that holds a key or is none is refused, and never repeated."""
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise IsoglossError(
            "The address of a server holds no key, query or password. Put the key in the environment: `key_env='NAME'`"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise IsoglossError(f"'{url}' is not an address. Write it as https://…/v1")
    return url.rstrip("/")


def read_key(server: Server) -> str:
    """The key that the environment holds; empty for a server that needs none, and refused when it cannot be one."""
    variable = server.loading.key_env
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise IsoglossError(f"The environment has no usable {variable}. Set it to your key.")
    return key


def run_now(work: Coroutine[Any, Any, Result]) -> Result:
    """What asynchronous work gives; in a thread of its own where a loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    results: list[Result] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


async def ask_all(
    server: Server, jobs: Iterable[Any], *, ask: Callable[[Connection, Any], Awaitable[None]], concurrency: int = 0
) -> None:
    """Ask for every job with several workers; when one gives up, the others finish what they have begun."""
    httpx = require("httpx", extra="ask")
    waiting = iter(jobs)
    workers = concurrency or server.loading.concurrency
    key = read_key(server)
    headers = {"Accept-Encoding": "gzip"} | ({"Authorization": f"Bearer {key}"} if key else {})
    limits = httpx.Limits(max_connections=workers)
    async with httpx.AsyncClient(headers=headers, limits=limits, timeout=None) as client:
        connection = Connection(client, server, random.Random())

        async def work() -> None:
            for job in waiting:
                if connection.broken:
                    return
                try:
                    await ask(connection, job)
                except IsoglossError as error:
                    connection.broken = connection.broken or error
                    return

        await asyncio.gather(*(work() for _ in range(workers)))
    if connection.broken is not None:
        raise connection.broken


async def keep_trying(connection: Connection, ask: Callable[[], Awaitable[Result]]) -> Result | None:
    """What `ask` gives, after as many tries as the policy allows; none when the connection was closed meanwhile."""
    policy = connection.server.policy
    for turn in range(policy.tries):
        try:
            return await ask()
        except TryAgain as error:
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


async def send(connection: Connection, url: str, *, body: Mapping[str, Any] | None = None) -> Response:
    """The response to a body that is posted, or to a plain request, within the time and the size that it may take."""
    httpx = require("httpx", extra="ask")
    server = connection.server
    try:
        async with asyncio.timeout(server.loading.timeout):
            method = "GET" if body is None else "POST"
            async with connection.client.stream(method, url, **({} if body is None else {"json": body})) as response:
                raw = bytearray()
                async for block in response.aiter_raw():
                    raw += block
                    if len(raw) > chat_protocol.LARGEST:
                        break
                content = chat_protocol.unpack(bytes(raw), response.headers.get("Content-Encoding", ""))
                return Response(response.status_code, response.headers, content)
    except chat_protocol.TooLarge as error:
        raise IsoglossError(
            f"{server.url} sent more than {chat_protocol.LARGEST // 10**6} MB for one answer. Check the address. {KEPT}"
        ) from error
    except chat_protocol.Unreadable as error:
        raise TryAgain(f"it sent {error}") from error
    except TimeoutError as error:
        raise TryAgain(f"nothing came within {server.loading.timeout:g} seconds") from error
    except httpx.HTTPError as error:
        raise TryAgain(f"the connection failed ({type(error).__name__})") from error


def check_status(server: Server, response: Response) -> bytes:
    """The content of a response without the key in it; a busy server is tried again, and a refusal is an error."""
    if response.code in BUSY:
        raise TryAgain(f"it answered {response.code}", asked_wait(response.headers.get("Retry-After")))
    if response.code != 200:
        raise refusal(server, response)
    return chat_protocol.mask_key(response.content, read_key(server))


def refusal(server: Server, response: Response) -> IsoglossError:
    """The error for a status where trying again cannot help."""
    reason = chat_protocol.error_text(response.content, key=read_key(server))
    problem = f" to the model '{server.loading.served_model}'{reason}. Check both."
    if response.code in (401, 403):
        key = f"Check the key in {server.loading.key_env}." if server.loading.key_env else "Use `key_env='NAME'`."
        problem = f": it does not accept the key. {key}"
    if response.code == 404:
        problem = ": check the address, which often ends in /v1, and the model's name."
    return IsoglossError(f"{server.url} answered {response.code}{problem} {KEPT}")


def charge(server: Server, *, prompt: int, answer: int) -> None:
    """Count a request with the tokens that it may take; one that the budget does not allow is an error before it is sent."""
    loading, spent = server.loading, server.spent
    if loading.max_requests is not None and spent.requests >= loading.max_requests:
        raise IsoglossError(f"The budget of {loading.max_requests} requests to {server.url} is used up. {KEPT}")
    after = Spending(spent.requests + 1, spent.prompt + prompt, spent.answer + answer)
    if loading.max_cost is not None and after.cost(loading.prices) > loading.max_cost:
        raise IsoglossError(
            f"The budget of {loading.max_cost:g} for {server.url} is used up: {spent.cost(loading.prices):.4f} after "
            f"{spent.requests} requests. {KEPT}"
        )
    spent.requests, spent.prompt, spent.answer = after.requests, after.prompt, after.answer
