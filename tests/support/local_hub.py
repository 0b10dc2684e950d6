"""A stand-in for the Hugging Face hub on loopback: the parts of its HTTP API that the real clients use, and its faults."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

TOKEN = "hf_good"
PATIENCE = 600  # seconds
SILENT = 1  # seconds; only where nothing is answered at all, so that it ends the same way on any machine
Files = dict[str, bytes]


@dataclass
class Repository:
    """Commits with their files, and the names (branches, tags, pull requests) that point at them."""

    commits: dict[str, Files] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    gated: bool = False
    private: bool = False

    def commit(self, files: Files, ref: str = "main") -> str:
        """Add a commit with these files and let the name point at it."""
        content = repr(sorted((name, hashlib.sha1(data).hexdigest()) for name, data in files.items()))
        sha = hashlib.sha1((content + ref + str(len(self.commits))).encode()).hexdigest()
        self.commits[sha] = dict(files)
        self.refs[ref] = sha
        return sha

    def find(self, revision: str) -> str | None:
        return revision if revision in self.commits else self.refs.get(revision)


@dataclass
class Fault:
    """What happens to requests whose path holds `part`: a status, a cut, a hang or a web page; so many times."""

    part: str
    status: int = 0
    cut: bool = False
    hang: bool = False
    page: bool = False
    times: int = 10_000


@dataclass
class Hub:
    """The stand-in's address, repositories, faults, and every request that it has seen."""

    url: str
    repositories: dict[str, Repository] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    moves: Any = None  # called before a weight file is sent

    def add(self, name: str, files: Files, **facts: Any) -> Repository:
        repository = self.repositories[name] = Repository(**facts)
        repository.commit(files)
        return repository

    def fault_for(self, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.part in path and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    def seen(self, part: str) -> list[str]:
        return [line for line in self.requests if part in line]


def read_folder(folder: Path) -> Files:
    """All files of a folder by their relative names."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@contextmanager
def serve() -> Iterator[Hub]:
    """A hub on a free port of loopback while this is open."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    hub = server.hub = Hub(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.ended.set()
        server.shutdown()
        server.server_close()


def wait_for_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time-out ends a request that is answered, however busy the machine is; tests of silence set their own."""
    from huggingface_hub import constants  # the data tests run without it

    for name in ("HF_HUB_ETAG_TIMEOUT", "HF_HUB_DOWNLOAD_TIMEOUT"):
        monkeypatch.setattr(constants, name, PATIENCE)
    monkeypatch.setattr("isogloss.models.hub.IMPATIENT", PATIENCE)
    monkeypatch.setattr("isogloss.models.hub.SILENCE", math.inf)  # how long a hub counts as silent, too


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        hub: Hub = self.server.hub  # type: ignore[attr-defined]
        path = unquote(urlsplit(self.path).path)
        hub.requests.append(f"{self.command} {path}")
        fault = hub.fault_for(path)
        if fault and fault.hang:
            hub.ended.wait()
            self.close_connection = True
        elif fault and fault.status:
            self._send(fault.status, b"{}")
        elif fault and fault.page:
            self._send(200, b"<html>Please log in to this network</html>", **{"Content-Type": "text/html"})
        else:
            self._route(hub, path, cut=bool(fault and fault.cut and self.command == "GET"))

    def _route(self, hub: Hub, path: str, *, cut: bool) -> None:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token and token != TOKEN:
            message = "Invalid credentials in Authorization header"
            return self._send(401, b"{}", **{"X-Error-Message": message})
        for old, new in hub.moved.items():
            if f"/{old}/" in f"{path}/":
                return self._send(307, b"", Location=self.path.replace(old, new, 1))
        kind, name, rest = _split(path)
        repository = hub.repositories.get(f"{kind}{name}")
        if repository is None or (repository.private and not token):
            return self._send(401 if not token else 404, b"{}", **{"X-Error-Code": "RepoNotFound"})
        if path.startswith("/api/"):
            return self._tell(repository, name, rest=rest)
        if repository.gated and not token:
            return self._send(401, b"{}", **{"X-Error-Code": "GatedRepo"})
        revision, _, file = rest.partition("/")
        if file.endswith(".safetensors") and hub.moves:
            hub.moves()
        return self._give(repository, revision, file=file, cut=cut)

    def _tell(self, repository: Repository, name: str, *, rest: str) -> None:
        """What the API says about a repository, or the tree of its files."""
        kind, _, more = rest.partition("/")
        revision, _, below = more.partition("/")
        sha = repository.find(revision or "main")
        if kind not in ("", "revision", "tree"):
            return self._send(404, b"{}")
        if sha is None:
            return self._send(404, b"{}", **{"X-Error-Code": "RevisionNotFound"})
        files = repository.commits[sha]
        if kind == "tree":
            rows = [
                {"type": "file", "path": n, "size": len(d), "oid": _etag(d)}
                for n, d in files.items()
                if n.startswith(below)
            ]
            return self._send(200, json.dumps(rows).encode())
        siblings = [{"rfilename": n, "size": len(d), "blobId": _etag(d)} for n, d in files.items()]
        gated = "manual" if repository.gated else False
        facts = {
            "id": name,
            "sha": sha,
            "siblings": siblings,
            "private": repository.private,
            "gated": gated,
            "tags": [],
        }
        return self._send(200, json.dumps(facts).encode(), **{"X-Repo-Commit": sha})

    def _give(self, repository: Repository, revision: str, *, file: str, cut: bool) -> None:
        """A file, whole or from where a broken download goes on."""
        sha = repository.find(revision)
        if sha is None:
            return self._send(404, b"{}", **{"X-Error-Code": "RevisionNotFound"})
        data = repository.commits[sha].get(file)
        if data is None:
            return self._send(404, b"{}", **{"X-Error-Code": "EntryNotFound", "X-Repo-Commit": sha})
        facts = {"ETag": f'"{_etag(data)}"', "X-Repo-Commit": sha, "Accept-Ranges": "bytes"}
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").split("-")[0])
        if start:
            facts["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        return self._send(206 if start else 200, data[start:], cut=cut, **facts)

    def _send(self, status: int, body: bytes, *, cut: bool = False, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.close_connection = True


def _split(path: str) -> tuple[str, str, str]:
    """Which kind of repository a path is about, its name, and what follows: `datasets/`, `lab/set`, `main/data.csv`."""
    rest = path.removeprefix("/api").lstrip("/")
    kind = "datasets/" if rest.startswith("datasets/") else ""
    parts = rest.removeprefix("datasets/").removeprefix("models/").split("/")
    if "resolve" in parts:
        cut = parts.index("resolve")
        return kind, "/".join(parts[:cut]), "/".join(parts[cut + 1 :])
    return kind, "/".join(parts[:2]), "/".join(parts[2:])


def _etag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()
