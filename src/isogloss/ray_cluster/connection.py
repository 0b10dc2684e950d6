"""Connecting to a Ray cluster: which one, with how many workers, and how long to wait for it."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..errors import IsoglossError, require
from ..studies.run import Cluster

OBJECT_STORE = 100 * 2**20
ENDED = (
    "Error: The command was ended from outside, or with Ray's node on this machine, which was killed or had no memory left. "
    "What is finished is kept; the same command resumes."
)
# waits until the command says that it is done, or is gone; an interrupt is for the command
WATCHER = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
if sys.stdin.buffer.read() != b"done":
    print(sys.argv[1], file=sys.stderr)
"""


@contextmanager
def connected(cluster: Cluster) -> Iterator[Any]:
    """The Ray library, connected to the cluster; a connection that was there before is used and left as it is."""
    ray = require("ray", extra="ray")
    if ray.is_initialized():
        yield ray
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # Ray's own lines would drown the table
    os.environ.setdefault("RAY_worker_niceness", "0")  # by default 15: on a busy machine, workers take minutes to start
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    options = {} if cluster.address else {"include_dashboard": False, "object_store_memory": OBJECT_STORE}
    try:
        host, colon, port = (cluster.address or "").removeprefix("ray://").rpartition(":")
        if colon and port.isdigit():  # raises at once where nobody listens; Ray would wait for minutes
            socket.create_connection((host, int(port)), timeout=10).close()
        with _ended_by_sigterm():
            ray.init(cluster.address or "local", **quiet, **options)
    except Exception as error:  # Ray has many kinds
        where = f"No Ray cluster answers at {cluster.address}" if cluster.address else "Ray cannot be started here"
        raise IsoglossError(f"{where} ({last_line(error)}).") from error
    try:
        with explained_if_ended():
            yield ray
    finally:
        ray.shutdown()


@contextmanager
def explained_if_ended() -> Iterator[None]:
    """While this is open, another process watches this one: where Ray's node is gone, Ray ends it without an exception."""
    words = [sys.executable, "-I", "-S", "-c", WATCHER, ENDED]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as watcher:
        try:
            yield
        finally:
            with suppress(OSError):
                watcher.communicate(b"done")


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """While a cluster starts, SIGTERM ends this process and those that it started; Ray alone leaves them behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    psutil = require("psutil", extra="ray")
    before = set(psutil.Process().children(recursive=True))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    except SystemExit:
        for child in set(psutil.Process().children(recursive=True)) - before:
            with suppress(psutil.Error):
                child.kill()
        raise


def last_line(error: Exception) -> str:
    """The last line of an error's text, which for what Ray passes on is the error itself."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
