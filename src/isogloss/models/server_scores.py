"""Log-probabilities of given text: how each kind of server is asked for them, and how its response is read."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import IsoglossError
from .chat_protocol import SLACK, Unreadable
from .server_connection import Server

LEAST = -9000.0  # vLLM writes -9999 where the logarithm of 0 cannot be written
SHOWN = 6  # values that an error repeats
SPACES = str.maketrans("▁Ġ", "  ")  # how vocabularies write the space before a word
TOKEN_ID = "token_id:"


class BadScores(IsoglossError):
    """A response whose log-probabilities cannot be those of the prompt; the message says why."""


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """A prompt as tokens, and the text of each, where it is known; one that the server cut itself is sent `as_text`."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...] = ()
    as_text: bool = False


@dataclass(frozen=True, slots=True)
class ScoredPrompt:
    """A prompt's tokens as the server cut it, by number or by text where it says so, each with its log-probability.

    `source` is who says to have answered: the model's name and the system's fingerprint, where a response has them.
    """

    values: tuple[float | None, ...]
    ids: tuple[int | None, ...]
    pieces: tuple[str | None, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class ScoreDialect:
    """A way to ask a server for the log-probabilities of a prompt: where, with which body, and how the response is read."""

    title: str
    address: Callable[[Server], str]
    body: Callable[[Any, int], dict[str, Any]]
    read: Callable[[Mapping[str, Any], Sequence[int]], ScoredPrompt]
    takes_text: bool = False


def read_scores(dialect: ScoreDialect, raw: bytes, *, ids: Sequence[int] = ()) -> ScoredPrompt:
    """What a response says about a prompt; one of another shape raises Unreadable or BadScores."""
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Unreadable("broken JSON" if raw.strip()[:1] != b"<" else "a web page, not JSON") from error
    try:
        return dialect.read(content, ids)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise BadScores("the response has no log-probabilities of the prompt") from error


def check_scores(scored: ScoredPrompt, prompt: PromptTokens) -> tuple[float, ...]:
    """The log-probabilities of all tokens but the first; anything that no model gives raises BadScores."""
    count = len(scored.values)
    if count != len(prompt.ids):
        raise BadScores(f"it returned {count} log-probabilities for a text of {len(prompt.ids)} tokens")
    for index, (token, piece) in enumerate(zip(scored.ids, scored.pieces, strict=True)):
        expected = prompt.pieces[index] if prompt.pieces else None
        if token not in (None, prompt.ids[index]):
            raise BadScores(f"it cut the text otherwise: token {index + 1} is number {token}, not {prompt.ids[index]}")
        if None not in (piece, expected) and not _same_piece(str(piece), str(expected), first=index == 0):
            raise BadScores(f"it cut the text otherwise: token {index + 1} is '{piece}', not '{expected}'")
    if scored.values[0] is not None:
        raise BadScores(f"the first token has the value {scored.values[0]:.4g}, although nothing precedes it")
    values = []
    for index, value in enumerate(scored.values[1:], 2):
        if value is None or math.isnan(value):
            raise BadScores(f"token {index} of {count} has no value")
        if value > SLACK:
            raise BadScores(f"token {index} has the log-probability {value:.4g}, which is above 0")
        if value <= LEAST:
            raise BadScores(f"token {index} has the log-probability -inf")
        values.append(min(0.0, value))
    return tuple(values)


def show_values(values: Sequence[float | None]) -> str:
    """The first values of a list, for an error."""
    first = ", ".join("null" if value is None else f"{value:.4g}" for value in values[:SHOWN])
    return f"[{first}{', …' if len(values) > SHOWN else ''}]"


def _same_piece(piece: str, expected: str, *, first: bool) -> bool:
    """Whether two texts of a token agree; parts of letters and special tokens are written in many ways."""
    unreadable = "\ufffd" in piece + expected or piece.startswith("bytes:")
    if unreadable or (first and not piece.strip()):
        return True
    return piece.translate(SPACES).strip() == expected.translate(SPACES).strip()


def starts_word(piece: str) -> bool:
    """Whether the text of a token begins a word."""
    return piece.translate(SPACES).startswith(" ")


def _number(value: Any) -> float | None:
    if value is not None and type(value) not in (int, float):
        raise TypeError
    return value  # type: ignore[no-any-return]


def _source(content: Mapping[str, Any]) -> str:
    return " ".join(str(content[name]) for name in ("model", "system_fingerprint") if content.get(name))


# ---- vLLM: completions with `prompt_logprobs`


def _prompt_logprobs_body(prompt: Any, max_tokens: int) -> dict[str, Any]:
    return {"prompt": prompt, "max_tokens": max_tokens, "temperature": 0, "prompt_logprobs": 0}


def _read_prompt_logprobs(content: Mapping[str, Any], ids: Sequence[int]) -> ScoredPrompt:
    """One entry a token: none, or what is listed by token number; the prompt's own token is always among them."""
    values: list[float | None] = []
    tokens: list[int | None] = []
    pieces: list[str | None] = []
    for index, entry in enumerate(content["choices"][0]["prompt_logprobs"]):
        token = str(ids[index]) if index < len(ids) else ""
        known = None if entry is None else entry.get(token)
        if entry and known is None:
            token, known = next(iter(entry.items()))
        values.append(_number(known["logprob"]) if known else None)
        tokens.append(int(token) if known else None)
        pieces.append(known.get("decoded_token") if known else None)
    return ScoredPrompt(tuple(values), tuple(tokens), tuple(pieces), _source(content))


# ---- OpenAI's completions with `echo`


def _echo_body(prompt: Any, max_tokens: int) -> dict[str, Any]:
    return {"prompt": prompt, "max_tokens": max_tokens, "temperature": 0, "echo": True, "logprobs": 1}


def _read_echo(content: Mapping[str, Any], ids: Sequence[int]) -> ScoredPrompt:
    """The prompt's tokens with their texts; what was generated after them is left out."""
    listed = content["choices"][0]["logprobs"]
    values, texts = [_number(value) for value in listed["token_logprobs"]], [str(text) for text in listed["tokens"]]
    generated = content["usage"].get("completion_tokens", 0)
    end = len(values) - generated
    if len(texts) != len(values) or end < 1:
        raise TypeError
    by_number = all(text.startswith(TOKEN_ID) for text in texts)
    numbers = tuple(int(text.removeprefix(TOKEN_ID)) if by_number else None for text in texts[:end])
    pieces = (None,) * end if by_number else tuple(texts[:end])
    return ScoredPrompt(tuple(values[:end]), numbers, pieces, _source(content))


# ---- SGLang's own address


def _sglang_body(prompt: Any, max_tokens: int) -> dict[str, Any]:
    sampling = {"temperature": 0, "max_new_tokens": max_tokens}
    return {"input_ids": prompt, "sampling_params": sampling, "return_logprob": True, "logprob_start_len": 0}


def _read_sglang(content: Mapping[str, Any], ids: Sequence[int]) -> ScoredPrompt:
    """One entry a token: its log-probability, its number, and sometimes its text."""
    entries = content["meta_info"]["input_token_logprobs"]
    values = tuple(_number(entry[0]) for entry in entries)
    texts = tuple(entry[2] if len(entry) > 2 else None for entry in entries)
    return ScoredPrompt(values, tuple(int(entry[1]) for entry in entries), texts)


def _completions(server: Server) -> str:
    return f"{server.url}/completions"


PROMPT_LOGPROBS = ScoreDialect(
    "completions with prompt_logprobs (vLLM)", _completions, _prompt_logprobs_body, _read_prompt_logprobs
)
ECHO = ScoreDialect("completions with echo and logprobs", _completions, _echo_body, _read_echo, takes_text=True)
SGLANG = ScoreDialect(
    "/generate with return_logprob (SGLang)", lambda server: f"{server.origin}/generate", _sglang_body, _read_sglang
)
DIALECTS = (PROMPT_LOGPROBS, ECHO, SGLANG)
