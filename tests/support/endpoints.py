"""A chat endpoint on this machine that misbehaves in each way, for the tests of asking."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[["Handler", dict[str, Any]], None]


class Server(ThreadingHTTPServer):
    """Keeps what it was asked, and how many requests were open at once."""

    daemon_threads = True

    def __init__(self, reply: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply = reply
        self.ended = threading.Event()
        self.on_stall: Callable[[], object] = lambda: None
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed or gave up is no error; anything else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    """Hands every request to the server's reply."""

    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.keys.append(self.headers.get("Authorization"))
        self.server.reply(self, body)

    def send(self, content: bytes, *, code: int = 200, length: int | None = None, **headers: str) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *values: object) -> None:
        """Say nothing."""


def good(handler: Handler, body: dict[str, Any]) -> None:
    """A proper answer with usage and log-probabilities, when they are asked for."""
    choice: dict[str, Any] = {"message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"}
    if body.get("logprobs"):
        tops = [("No", -0.5), (" yes", -2.0), ("Yes", -2.0), ("n", -9.0), ("Maybe", -3.0)]
        listed = [{"token": token, "logprob": value} for token, value in tops]
        choice["logprobs"] = {"content": [{"token": "No", "logprob": -0.5, "top_logprobs": listed}, {"token": "."}]}
    usage = {"prompt_tokens": 20, "completion_tokens": 2}
    handler.send(json.dumps({"choices": [choice], "usage": usage}).encode())


def status(code: int, **headers: str) -> Reply:
    """A reply with that status; its text repeats the key, as some endpoints do."""

    def reply(handler: Handler, body: dict[str, Any]) -> None:
        text = json.dumps({"error": f"wrong key {handler.headers.get('Authorization')}"})
        handler.send(text.encode(), code=code, **headers)

    return reply


def html(handler: Handler, body: dict[str, Any]) -> None:
    """A web page where JSON should be."""
    handler.send(b"<html><body>Welcome</body></html>", Content_Type="text/html")


def half(handler: Handler, body: dict[str, Any]) -> None:
    """Half a JSON, with the length of that half."""
    handler.send(b'{"choices": [{"message": {"content": "N')


def torn(handler: Handler, body: dict[str, Any]) -> None:
    """Half a JSON, and the connection is cut before the length that was promised."""
    handler.send(b'{"choices": [', length=400)
    handler.close_connection = True


def empty(handler: Handler, body: dict[str, Any]) -> None:
    """Nothing, properly."""
    handler.send(b"")


def hang_up(handler: Handler, body: dict[str, Any]) -> None:
    """Nothing at all: the connection is closed."""
    handler.connection.close()
    handler.close_connection = True


def stall(handler: Handler, body: dict[str, Any]) -> None:
    """A stream that begins and never ends; whoever waits for it is told so, and need not look at a clock."""
    handler.send(b" ", length=400)
    handler.wfile.flush()
    handler.server.on_stall()
    handler.server.ended.wait()


def no_choice(handler: Handler, body: dict[str, Any]) -> None:
    """JSON that is no answer."""
    handler.send(b'{"error": "out of cheese"}')


def strange(handler: Handler, body: dict[str, Any]) -> None:
    """An answer without text, usage or finish reason, and with log-probabilities of another shape."""
    handler.send(json.dumps({"choices": [{"message": {"content": None}, "logprobs": {"tokens": ["a"]}}]}).encode())


def without(*fields: str) -> Reply:
    """Refuses requests that hold one of the fields, and answers others."""

    def reply(handler: Handler, body: dict[str, Any]) -> None:
        good(handler, body) if not set(fields) & set(body) else status(400)(handler, body)

    return reply


def first(count: int, bad: Reply) -> Reply:
    """Misbehaves so many times, then answers."""
    left = iter(range(count))
    lock = threading.Lock()

    def reply(handler: Handler, body: dict[str, Any]) -> None:
        with lock:
            misbehave = next(left, None) is not None
        (bad if misbehave else good)(handler, body)

    return reply


def after(count: int, bad: Reply) -> Reply:
    """Answers so many times, then misbehaves."""
    left = iter(range(count))
    lock = threading.Lock()

    def reply(handler: Handler, body: dict[str, Any]) -> None:
        with lock:
            answer = next(left, None) is not None
        (good if answer else bad)(handler, body)

    return reply


@contextmanager
def serving(reply: Reply) -> Iterator[Server]:
    """The server while this is open, at any free port."""
    server = Server(reply)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
