"""The chat protocol of OpenAI-compatible endpoints: a request's body, and what a response says or why it says nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..answers.records import OPENING, Answer
from .requests import Plan, Request, seed_of

TOP = 20
PIECE = 5
LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class Dialect:
    """What an endpoint understands: log-probabilities, and how it names the limit of an answer."""

    logprobs: bool = True
    limit: str = "max_tokens"


DIALECTS = (Dialect(), Dialect(False), Dialect(True, "max_completion_tokens"), Dialect(False, "max_completion_tokens"))


class Unreadable(Exception):
    """A response that is no answer; the message says what it is."""


def make_body(model: str, request: Request, *, plan: Plan, dialect: Dialect) -> dict[str, Any]:
    """The body of one request."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": request.text}],
        "temperature": plan.temperature,
        dialect.limit: plan.max_tokens,
    }
    if plan.temperature > 0:
        body["seed"] = seed_of(request, plan.seed) % 2**31
    if dialect.logprobs:
        body |= {"logprobs": True, "top_logprobs": TOP}
    return body


def read_response(raw: bytes, request: Request) -> Answer:
    """The answer in a response; HTML, half a JSON, or anything else that is none raises Unreadable."""
    choice, usage = _choice(raw)
    content = choice["message"].get("content")
    tokens = _tokens(choice)
    texts = [str(token.get("token", "")) for token in tokens]
    yes, no = chances(tokens, request.words)
    return Answer(
        *request.key,
        text=content.strip() if isinstance(content, str) else "",
        opening="".join(texts[:OPENING]).strip() if texts else None,
        finish=str(choice["finish_reason"]) if choice.get("finish_reason") is not None else None,
        prompt_tokens=_count(usage, "prompt_tokens"),
        answer_tokens=_count(usage, "completion_tokens"),
        yes=yes,
        no=no,
    )


def error_text(raw: bytes, *, key: str) -> str:
    """What an endpoint says about its refusal, in brackets and cut short; nothing when a piece of the key is in it."""
    try:
        found = json.loads(raw)
        while isinstance(found, dict):
            found = next(found[name] for name in ("error", "message", "detail") if name in found)
    except (ValueError, RecursionError, StopIteration):
        return ""
    pieces = {key[start : start + PIECE] for start in range(max(1, len(key) - PIECE + 1))} - {""}
    if not isinstance(found, str) or any(piece in raw.decode("utf-8", "replace") for piece in pieces):
        return ""
    return f" ({found.strip()[:LONGEST_REASON].rstrip('.')})" if found.strip() else ""


def _choice(raw: bytes) -> tuple[dict[str, Any], Mapping[str, Any]]:
    start = raw.lstrip()[:1]
    if not start:
        raise Unreadable("an empty response")
    if start == b"<":
        raise Unreadable("a web page, not JSON")
    try:
        found = json.loads(raw)
        choice = found["choices"][0]
        if not isinstance(choice["message"], dict):
            raise TypeError
    except (ValueError, RecursionError) as error:
        raise Unreadable("broken JSON") from error
    except (KeyError, IndexError, TypeError) as error:
        raise Unreadable("JSON without an answer in it") from error
    usage = found.get("usage")
    return choice, usage if isinstance(usage, dict) else {}


def _tokens(choice: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The answer's tokens with their alternatives; none where the endpoint does not give them."""
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    return [token for token in content if isinstance(token, dict)] if isinstance(content, list) else []


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    count = usage.get(name)
    return count if type(count) is int and count >= 0 else None


def chances(tokens: Sequence[Mapping[str, Any]], words: tuple[str, str]) -> tuple[float | None, float | None]:
    """The log-probabilities that the first token begins yes, or no; both or neither, when one side is not listed.

    A token that begins both words says nothing and counts for neither.
    """
    listed = tokens[0].get("top_logprobs") if tokens else None
    sums = [0.0, 0.0]
    for one in listed if isinstance(listed, list) else []:
        sides = [side for side, word in enumerate(words) if _begins(str(one.get("token", "")), word)]
        if len(sides) == 1 and isinstance(one.get("logprob"), int | float):
            sums[sides[0]] += math.exp(min(0.0, one["logprob"]))
    if min(sums) <= 0:
        return None, None
    return math.log(sums[0]), math.log(sums[1])


def _begins(token: str, word: str) -> bool:
    piece = token.strip().casefold()
    return bool(piece) and word.casefold().startswith(piece)
