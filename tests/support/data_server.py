"""A server of data files on loopback that also cuts, redirects, lies about sizes, refuses and sends web pages."""

from __future__ import annotations

import hashlib
import json
import pickle
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import isogloss as ig
from isogloss.files import catalogue, downloads
from isogloss.files.catalogue import content_hash

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
        tag = f'"{hashlib.sha256(body).hexdigest()}"'
        known = self.headers.get("If-Range") in (None, tag) or fault == "no If-Range"
        start = int(((known and self.headers.get("Range")) or "bytes=0-").removeprefix("bytes=").split("-")[0])
        if start >= len(body):
            return self._send(416, b"")
        rest = body[start:]
        sent = {"cut": rest[: len(rest) // 2], "long": rest + b"x" * 100, "other": rest.replace(b"e", b"a")}.get(
            fault, rest
        )
        length = len(rest) if fault == "cut" else len(sent) // 2 if fault == "short size" else len(sent)
        if fault == "no length":
            return self._send(200, sent[: len(sent) // 2], **{"Content-Length": ""})
        return self._send(206 if start else 200, sent, **{"Content-Length": str(length), "ETag": tag})

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for key, value in {"Content-Type": "text/plain", "Content-Length": str(len(body)), **headers}.items():
            if value:
                self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)


TASKS = ("intrasentence", "intersentence")
DEMO = Path(ig.__file__).parent / "data" / "demo"


def demo_items(language: str) -> list[dict[str, Any]]:
    """The demonstration items of a language as rows, six of each task."""
    texts = ((DEMO / f"{task}_{language}.jsonl").read_text(encoding="utf-8") for task in TASKS)
    return [json.loads(line) for text in texts for line in text.splitlines()[:6]]


def own_json(rows: list[dict[str, Any]]) -> bytes:
    """The rows in StereoSet's own JSON."""
    data: dict[str, list[Any]] = {task: [] for task in TASKS}
    for row in rows:
        sentences = [{key: value for key, value in one.items() if key != "word"} for one in row["candidates"]]
        data[row["task"]].append({**row, "sentences": sentences, "candidates": None})
    return json.dumps({"version": "1", "data": data}).encode()


def pickled(rows: list[dict[str, Any]]) -> bytes:
    """The rows as the translations were published: a pickled table of pandas."""
    flat = []
    for row in rows:
        cells = {f"c{n}_{key}": value for n, one in enumerate(row["candidates"], 1) for key, value in one.items()}
        keys = ("id", "bias_type", "target", "target_original", "context")
        labels = {f"c{n}_labels": [{"label": "stereotype", "human_id": "1"}] for n in (1, 2, 3)}
        flat.append({key: row[key] for key in keys} | cells | labels)
    table = pd.DataFrame(flat, dtype=object)
    table.columns = pd.Index(list(table.columns), dtype=object)
    return pickle.dumps(table, protocol=4)


def file_row(name: str, language: str, data: bytes) -> str:
    return f'["{name}", "{language}", {len(data)}, "{hashlib.sha256(data).hexdigest()}"]'


def offer_stereoset(served: DataServer, tmp_path: Path, *, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server have twelve items in English and German as StereoSet's publishers have theirs, and a catalogue name it."""
    served.files["dev.json"] = own_json(demo_items("en"))
    rows = demo_items("de")
    for task in TASKS:
        served.files[f"df_{task}_de.pkl"] = pickled([row for row in rows if row["task"] == task])
    english, german = (content_hash(rows_as_items(demo_items(tag), tmp_path)) for tag in ("en", "de"))
    files = ", ".join(file_row(f"df_{task}_de.pkl", "de", served.files[f"df_{task}_de.pkl"]) for task in TASKS)
    text = f"""
    [stereoset]
    title = "StereoSet"
    reader = "stereoset"
    licence = "CC BY-SA 4.0"
    citation = "Nadeem et al. (2021)"
    page = "https://example.org"
    [[stereoset.parts]]
    address = "{served.address()}"
    files = [["dev.json", "en", {len(served.files["dev.json"])}]]
    [[stereoset.parts]]
    address = "{served.address()}"
    layout = "pickled table"
    files = [{files}]
    [stereoset.contents]
    en = [12, "{english}"]
    de = [12, "{german}"]
    """
    use_catalogue(monkeypatch, tmp_path, text)
    monkeypatch.setattr(downloads, "PAUSE", 0.0)
    monkeypatch.setattr(downloads, "TIMEOUT", 600.0)  # no fault here is silence, so none ends by the clock


def use_catalogue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    path = tmp_path / "catalogue.toml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(catalogue, "FILE", path)
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ISOGLOSS_MIRROR", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    catalogue.sources.cache_clear()


def rows_as_items(rows: list[dict[str, Any]], tmp_path: Path) -> Any:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({**row, "dataset": "stereoset"}) + "\n" for row in rows), encoding="utf-8")
    return ig.read(path)
