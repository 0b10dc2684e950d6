"""The chat protocol of OpenAI-compatible endpoints: a request's body, and what a response says or why it says nothing."""

import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..chat.records import MOST_TOKENS, OPENING, THOUGHT
from .questions import Prompt, Reply

TOP = 20
PIECE = 5
LONGEST_REASON = 200
LARGEST = 16_000_000  # bytes of a response, packed or not
SLACK = 1e-3  # a rounded log-probability may lie so far above 0
LEAST = -10_000.0
SHORTEST_KEY = 8  # a shorter one is a placeholder, whose letters any answer may have
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What an endpoint understands: log-probabilities, and how it names the limit of an answer."""

    logprobs: bool = True
    limit: str = "max_tokens"


DIALECTS = (Dialect(), Dialect(False), Dialect(True, "max_completion_tokens"), Dialect(False, "max_completion_tokens"))


class Unreadable(Exception):
    """A response that is no answer; the message says what it is."""


class TooLarge(Exception):
    """A response of more bytes than any answer has."""


def unpack(raw: bytes, encoding: str) -> bytes:
    """The bytes of a response without its Content-Encoding, as far as an answer may be long."""
    how = encoding.strip().lower()
    content, whole = raw, how in ("", "identity")
    if how in ("gzip", "deflate"):
        reader = zlib.decompressobj(47)  # gzip or zlib, whichever it is
        try:
            content = reader.decompress(raw, LARGEST + 1)
            whole = reader.eof
        except zlib.error:
            whole = False
    if max(len(content), len(raw)) > LARGEST:
        raise TooLarge
    if not whole:
        raise Unreadable(f"a response packed as '{how[:20]}' that cannot be unpacked")
    return content


def mask_key(raw: bytes, key: str) -> bytes:
    """The bytes with `[key]` where the endpoint repeats the key."""
    return raw.replace(key.encode(), b"[key]") if len(key) >= SHORTEST_KEY else raw


def make_body(model: str, prompt: Prompt, *, dialect: Dialect) -> dict[str, Any]:
    """The body of one request."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": prompt.text}],
        "temperature": prompt.temperature,
        dialect.limit: prompt.max_tokens,
    }
    if prompt.temperature > 0:
        body["seed"] = prompt.seed % 2**31
    if dialect.logprobs:
        body |= {"logprobs": True, "top_logprobs": TOP}
    return body


def read_response(raw: bytes, prompt: Prompt) -> Reply:
    """The answer in a response; HTML, half a JSON, or anything else that is none raises Unreadable."""
    choice, usage = _choice(raw)
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    tokens = [token for token in content if isinstance(token, dict)] if isinstance(content, list) else []
    texts = [_plain(token.get("token")) for token in tokens]
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    known = [count if type(count) is int and 0 <= count <= MOST_TOKENS else None for count in counts]
    text = content_text(choice["message"].get("content")).strip()
    return Reply(
        text=text,
        opening=_opening(texts, text),
        finish=_plain(choice.get("finish_reason")) or None,
        prompt_tokens=known[0],
        answer_tokens=known[1],
        logprobs=option_logprobs(tokens, prompt.options) if prompt.options else None,
    )


def _opening(tokens: list[str], text: str) -> str | None:
    """The text of the first tokens, where they are known; servers list the token that ends an answer, too."""
    if not tokens or THOUGHT in "".join(tokens):
        return None
    opening = "".join(tokens[:OPENING]).strip()
    return text if opening.startswith(text) and (text or len(tokens) == 1) else opening


def content_text(content: Any) -> str:
    """The text of a message's content: a text, a list of pieces, or nothing; other values raise Unreadable."""
    pieces = content if isinstance(content, list) else [content or ""]
    texts = [piece.get("text", "") if isinstance(piece, dict) and piece is not content else piece for piece in pieces]
    if not all(isinstance(text, str) for text in texts):
        raise Unreadable("an answer that is not text")
    return "".join(map(_plain, texts))


def _plain(text: Any) -> str:
    """The text with a replacement character for half a surrogate pair; of what is no text, nothing."""
    return SURROGATE.sub("\ufffd", text) if isinstance(text, str) else ""


def error_text(raw: bytes, *, key: str) -> str:
    """What an endpoint says about its refusal, in brackets and cut short; nothing when a piece of the key is in it."""
    try:
        content = json.loads(raw)
        while isinstance(content, dict):
            content = next(content[name] for name in ("error", "message", "detail") if name in content)
    except (ValueError, RecursionError, StopIteration):
        return ""
    pieces = {key[start : start + PIECE] for start in range(max(1, len(key) - PIECE + 1))} - {""}
    if not isinstance(content, str) or any(piece in raw.decode("utf-8", "replace") for piece in pieces):
        return ""
    return f" ({content.strip()[:LONGEST_REASON].rstrip('.')})" if content.strip() else ""


def _choice(raw: bytes) -> tuple[dict[str, Any], Mapping[str, Any]]:
    start = raw.lstrip()[:1]
    if not start:
        raise Unreadable("an empty response")
    if start == b"<":
        raise Unreadable("a web page, not JSON")
    try:
        content = json.loads(raw)
        choice = content["choices"][0]
        if not isinstance(choice["message"], dict):
            raise TypeError
    except (ValueError, RecursionError) as error:
        raise Unreadable("broken JSON") from error
    except (KeyError, IndexError, TypeError) as error:
        raise Unreadable("JSON without an answer in it") from error
    usage = content.get("usage")
    return choice, usage if isinstance(usage, dict) else {}


def option_logprobs(tokens: Sequence[Mapping[str, Any]], options: Sequence[str]) -> tuple[float, ...] | None:
    """The log-probability that the first token begins each option; none when one of them is not listed.

    A token that begins several options says nothing and counts for none. Where a value cannot be a log-probability,
    or all of them together are more than one, none is believed.
    """
    listed = tokens[0].get("top_logprobs") if tokens else None
    sums, total = [0.0] * len(options), 0.0
    for entry in listed if isinstance(listed, list) else []:
        log: Any = entry.get("logprob") if isinstance(entry, dict) else None
        if type(log) not in (int, float) or not log <= SLACK:
            return None
        chance = math.exp(min(0.0, max(log, LEAST)))
        total += chance
        piece = _plain(entry.get("token")).strip().casefold()
        sides = [side for side, word in enumerate(options) if piece and word.casefold().startswith(piece)]
        if len(sides) == 1:
            sums[sides[0]] += chance
    if min(sums) <= 0 or total > 1 + 10 * SLACK:
        return None
    return tuple(map(math.log, sums))
