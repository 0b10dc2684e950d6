"""A server of data files on loopback that also cuts, redirects, lies about sizes, refuses and sends web pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class DataServer:
    """Its address and files, what it does wrong for which file (and how often), and the requests that it has seen."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[Any]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def address(self) -> str:
        return f"{self.url}/{COMMIT}/{{file}}"

    def fault(self, name: str) -> str:
        kind, times = self.faults.get(name, ["", 0])
        if times <= 0:
            return ""
        self.faults[name][1] = times - 1
        return str(kind)


@contextmanager
def serve() -> Iterator[DataServer]:
    """A server on a free port of loopback while this is open."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    data = server.data = DataServer(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield data
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        data: DataServer = self.server.data  # type: ignore[attr-defined]
        name = self.path.rsplit("/", 1)[-1]
        data.requests.append(f"{self.path} {self.headers.get('Range', '')}".strip())
        fault, body = data.fault(name), data.files.get(name)
        if fault == "redirect":
            return self._send(302, b"", Location=f"{data.url}/elsewhere/{name}")
        if fault == "page":
            return self._send(200, b"<html>Please log in</html>", **{"Content-Type": "text/html"})
        if fault == "disguised page":
            return self._send(200, b"<!DOCTYPE html><html>Please log in</html>")
        if fault.isdecimal() or body is None:
            return self._send(int(fault or 404), b"")
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").split("-")[0])
        if start >= len(body):
            return self._send(416, b"")
        rest = body[start:]
        sent = {"cut": rest[: len(rest) // 2], "long": rest + b"x" * 100, "other": rest.replace(b"e", b"a")}.get(
            fault, rest
        )
        length = len(rest) if fault == "cut" else len(sent) // 2 if fault == "short size" else len(sent)
        return self._send(206 if start else 200, sent, **{"Content-Length": str(length)})

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for key, value in {"Content-Type": "text/plain", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)
