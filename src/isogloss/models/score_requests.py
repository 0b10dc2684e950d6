"""Requests for the log-probabilities of a prompt: one of many on an open connection, or one alone."""

from ..errors import IsoglossError
from .chat_protocol import Unreadable
from .server_connection import (
    KEPT,
    Connection,
    Server,
    TryAgain,
    ask_all,
    charge,
    check_status,
    keep_trying,
    refusal,
    run_now,
    send,
)
from .server_scores import BadScores, PromptTokens, ScoreDialect, ScoredPrompt, read_scores

UNKNOWN = (400, 404, 405, 422, 501)  # the server does not know this way of asking


async def request_scores(
    connection: Connection, dialect: ScoreDialect, *, prompt: PromptTokens, max_tokens: int
) -> ScoredPrompt | None:
    """What a server returns for a prompt, within its budget; none when the connection was closed meanwhile."""
    server = connection.server
    sent = "".join(prompt.pieces) if prompt.as_text else list(prompt.ids)
    body = {"model": server.loading.served_model} | dialect.body(sent, max_tokens)
    charge(server, prompt=len(prompt.ids), answer=max_tokens)

    async def once() -> ScoredPrompt | BadScores:
        response = await send(connection, dialect.address(server), body=body)
        if response.code in UNKNOWN:
            return BadScores(str(refusal(server, response)).removesuffix(f" {KEPT}").rstrip("."))
        try:
            return read_scores(dialect, check_status(server, response), ids=prompt.ids)
        except Unreadable as error:
            raise TryAgain(f"it sent {error}") from error
        except BadScores as error:
            return error

    scored = await keep_trying(connection, once)
    if isinstance(scored, BadScores):
        raise scored
    return scored


def ask_once(server: Server, dialect: ScoreDialect, *, prompt: PromptTokens, max_tokens: int) -> ScoredPrompt:
    """What a server returns for one prompt; a way of asking that it does not know raises BadScores."""
    results: list[ScoredPrompt] = []

    async def ask(connection: Connection, job: PromptTokens) -> None:
        scored = await request_scores(connection, dialect, prompt=job, max_tokens=max_tokens)
        if scored is not None:
            results.append(scored)

    run_now(ask_all(server, [prompt], ask=ask, concurrency=1))
    if not results:
        raise IsoglossError(f"{server.url} gave no answer. {KEPT}")
    return results[0]
