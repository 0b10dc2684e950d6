"""Servers for the tests of the local page: tiny models on disk, an application, and a real server in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import transformers
import uvicorn
from fastapi.testclient import TestClient

from isogloss.web.app import make_app
from isogloss.web.settings import Limits, ServerSettings
from support import tiny

HERE = "http://127.0.0.1:8765"
OURS = {"Origin": HERE, "Sec-Fetch-Site": "same-origin"}


def save_models(folder: Path, *names: str) -> tuple[str, ...]:
    """Folders of tiny models."""
    transformers.utils.logging.disable_progress_bar()
    for name in names:
        tiny.network(name).save_pretrained(folder / name)
        tiny.tokenizer_of(name).save_pretrained(folder / name)
    return tuple(str(folder / name) for name in names)


def client_of(settings: ServerSettings, **options: Any) -> TestClient:
    """A browser's stand-in that asks from our own page; its evaluations stay in the queue, which is not worked off."""
    return TestClient(make_app(settings), base_url=HERE, headers=OURS, **options)


@contextmanager
def served(root: Path, models: tuple[str, ...], **limits: Any) -> Iterator[str]:
    """The address of a real server while this is open."""
    settings = ServerSettings(root, models=models, limits=replace(Limits(), **limits))
    config = uvicorn.Config(
        make_app(settings), host="127.0.0.1", port=0, log_level="warning", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        threading.Event().wait(0.05)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=60)
