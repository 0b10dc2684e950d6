"""Who a server says it is, and the tokenizer of the model behind it."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..errors import IsoglossError
from .model import Model
from .score_requests import ask_once
from .served_tokenizer import number_of
from .server_connection import Connection, Response, Server, ask_all, check_status, keep_trying, run_now, send
from .server_scores import ECHO, BadScores, PromptTokens

STATEMENTS = (
    *("owned_by", "root", "max_model_len", "version", "model_path", "tokenizer_path", "weight_version"),
    *("dtype", "quantization", "revision", "chat_template"),
)
ADDRESSES = ("/version", "/get_model_info", "/get_server_info")  # of vLLM, and of SGLang


def ask_identity(server: Server) -> dict[str, str]:
    """What a server says about itself: its version, and the weights, number format and template of the model."""
    contents: dict[str, Mapping[str, Any]] = {}

    async def ask(connection: Connection, address: str) -> None:
        response = await keep_trying(connection, lambda: send(connection, address))
        if response is not None and response.code in (401, 403):
            check_status(server, response)
        contents[address] = _json_of(response)

    addresses = [f"{server.url}/models", *(f"{server.origin}{path}" for path in ADDRESSES)]
    run_now(ask_all(server, addresses, ask=ask))
    listed = contents[addresses[0]].get("data")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    names = [str(entry.get("id")) for entry in entries]
    name = server.loading.served_model
    if names and name not in names:
        raise IsoglossError(f"{server.url} serves {', '.join(names[:10])}, not '{name}'. Use `served_model='NAME'`.")
    own = next((entry for entry in entries if entry.get("id") == name), {})
    sources = [own, *(contents[address] for address in addresses[1:])]
    stated = {key: source[key] for key in STATEMENTS for source in sources if source.get(key) not in (None, "")}
    return {key: str(value) for key, value in stated.items()}


def _json_of(response: Response | None) -> Mapping[str, Any]:
    """The object in a response; an empty one where there is none."""
    content = None
    if response is not None and response.code == 200:
        with suppress(ValueError, RecursionError):
            content = json.loads(response.content)
    return content if isinstance(content, dict) else {}


def find_tokenizer(model: Model, statements: Mapping[str, str]) -> None:
    """Give the model a tokenizer: the one that was named, one that is on this disk, or the server's own.

    Without any, the text is cut as the server repeats it.
    """
    if model.tokenizer.local is not None or find_local_tokenizer(model, statements):
        return
    server, tokenizer = model.net, model.tokenizer
    bare, framed = (cut_by_server(server, "a", special=special) for special in (False, True))
    if bare:
        tokenizer.cut = lambda text: cut_by_server(server, text) or []
        if framed and len(framed) > len(bare):
            tokenizer.bos_token_id = framed[0][0]
            tokenizer.pieces.update(framed[:1])
        return
    tokenizer.cut, tokenizer.as_text = lambda text: cut_by_echo(server, text), True


def find_local_tokenizer(model: Model, statements: Mapping[str, str]) -> bool:
    """Whether a tokenizer is at hand: the one that was named, or one on this disk by a name that the server states."""
    from .load import open_tokenizer

    loading, tokenizer = model.net.loading, model.tokenizer
    if loading.tokenizer:
        tokenizer.use(*open_tokenizer(loading.tokenizer, loading))
        return True
    names = [statements.get(key) for key in ("tokenizer_path", "root", "model_path")]
    for name in dict.fromkeys([*names, loading.served_model]):
        with suppress(IsoglossError):
            if name:
                tokenizer.use(*open_tokenizer(name, loading, download=False))
                return True
    return False


def cut_by_server(server: Server, text: str, *, special: bool = False) -> list[tuple[int, str]] | None:
    """A text's tokens by number and text, from a server that can be asked for them; none from another."""
    contents: list[Mapping[str, Any]] = []
    body = {"model": server.loading.served_model, "prompt": text, "add_special_tokens": special}

    async def ask(connection: Connection, address: str) -> None:
        wanted = body | {"return_token_strs": True}
        contents.append(_json_of(await keep_trying(connection, lambda: send(connection, address, body=wanted))))

    run_now(ask_all(server, [f"{server.origin}/tokenize"], ask=ask))
    tokens = contents[0].get("tokens") if contents else None
    if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
        return None
    names = contents[0].get("token_strs") or [f"<{token}>" for token in tokens]
    return list(zip(tokens, map(str, names), strict=True))


def cut_by_echo(server: Server, text: str) -> list[tuple[int, str]]:
    """A text's tokens as a server repeats them; their texts must be the text again, or no boundary could be trusted."""
    if not text:
        return []
    scored = ask_once(server, ECHO, prompt=PromptTokens((0,), (text,), as_text=True), max_tokens=1)
    pieces = [str(piece) for piece in scored.pieces]
    if "".join(pieces) != text or "" in pieces:
        raise BadScores(f"its tokens {pieces[:6]} do not join to the text '{text[:40]}'. Use `tokenizer='NAME'`")
    return [(number_of(piece), piece) for piece in pieces]
