"""Chat: any endpoint that speaks OpenAI's chat protocol; the key comes from the environment and is never written."""

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ... import languages
from ...errors import IsoglossError
from ...models.chat_protocol import LARGEST, Unreadable, content_text
from ...models.retry import asked_wait
from . import LanguagePair, Opened, Translator, number, option

TRIES = 5
LONGEST_WAIT = 60.0
TIMEOUT = 120.0
BUSY = (408, 409, 429, 500, 502, 503, 504)
LOOPBACK = ("localhost", "127.0.0.1", "::1")
PROMPT = (
    "Translate from {source} to {target}. The user sends one text. Answer with its translation alone: no quotes, no remarks. "
    "Keep every placeholder such as {placeholder} exactly as it is, and keep capital letters and punctuation as in the text."
)


def open_chat(pair: LanguagePair, options: Mapping[str, str]) -> Opened:
    """A model behind a chat endpoint; one on this machine costs nothing."""
    url = option(options, "url", translator="chat").rstrip("/")
    model = option(options, "model", translator="chat")
    host = urlsplit(url)
    if host.scheme not in ("http", "https") or not host.hostname:
        raise IsoglossError(f"'{url}' is not an address. Use `options={{'url': 'https://…/v1'}}`")
    variable = options.get("key", "OPENAI_API_KEY")
    paid = host.hostname not in LOOPBACK
    if paid and not os.environ.get(variable):
        raise IsoglossError(
            f"The environment has no {variable}. Set it to your key, or use `options={{'key': 'NAME'}}`."
        )
    prompt = PROMPT.format(
        source=languages.describe(pair.source).name, target=languages.describe(pair.target).name, placeholder="XBLANKX"
    )

    def translate(texts: Sequence[str]) -> list[str]:
        system = {"role": "system", "content": prompt}
        # temperature 0, so that the same text gives the same answer where the endpoint can
        requests = (
            {"model": model, "temperature": 0, "messages": [system, {"role": "user", "content": text}]}
            for text in texts
        )
        return [_ask(url, request, variable=variable) for request in requests]

    pause = 1 / number(options, "rate", default=5)
    return Opened(f"chat {model}", translate, batch=1, pause=pause if paid else 0, paid=paid)


def _ask(url: str, request: Mapping[str, Any], *, variable: str) -> str:
    """The answer; a busy endpoint is asked again after the wait it asks for, or half a second, doubled each time."""
    for turn in range(TRIES):
        wait = None
        try:
            return _post(url, request, variable=variable)
        except urllib.error.HTTPError as error:
            if error.code not in BUSY or turn == TRIES - 1:
                raise IsoglossError(f"{url} answered {error.code} ({error.reason}). {_advice(error.code)}") from error
            wait = asked_wait(error.headers.get("Retry-After"))
        except OSError as error:
            if turn == TRIES - 1:
                raise IsoglossError(
                    f"{url} cannot be reached ({error}). Check the address and run it again."
                ) from error
        time.sleep(min(0.5 * 2**turn if wait is None else wait, LONGEST_WAIT))
    raise IsoglossError(f"{url} gave no answer. Run it again.")


def _post(url: str, request: Mapping[str, Any], *, variable: str) -> str:
    """The text that the endpoint answers with."""
    data = json.dumps(request, ensure_ascii=False).encode()
    call = urllib.request.Request(f"{url}/chat/completions", data=data, headers={"Content-Type": "application/json"})
    if os.environ.get(variable):
        call.add_unredirected_header("Authorization", f"Bearer {os.environ[variable]}")
    with urllib.request.urlopen(call, timeout=TIMEOUT) as response:
        raw = response.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise IsoglossError(f"{url} sent more than {LARGEST // 10**6} MB for one text. Check the address.")
    try:
        return content_text(json.loads(raw)["choices"][0]["message"]["content"]).strip()
    except (ValueError, KeyError, IndexError, TypeError, RecursionError, Unreadable) as error:
        raise IsoglossError(
            f"{url} does not speak the chat protocol. Use `options={{'url': 'https://…/v1'}}`"
        ) from error


def _advice(code: int) -> str:
    if code in (401, 403):
        return "Check the key in the environment."
    return "What was translated is kept; run it again later." if code in BUSY else "Check the address and the model."


translator = Translator(
    title="A chat model behind an OpenAI-compatible endpoint",
    open=open_chat,
    options={
        "url": "the endpoint, such as http://localhost:8000/v1",
        "model": "the model's name there",
        "key": "the environment variable with the key; by default OPENAI_API_KEY",
        "rate": "maximum texts per second; by default 5",
    },
)
