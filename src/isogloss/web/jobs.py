"""Jobs: evaluations as study files in the runs folder; one at a time per model, the rest in a queue.

A job is the hidden folder `.job` of a study: `study.yaml` is what was asked, `job.json` which model and whether it is
wanted, `progress.json` how far it is, `lock` is held by the process that works on it. Nothing else is remembered, so
jobs outlive the server. A job without the seal of this user is shown and never run.
"""

import fcntl
import hmac
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import CannotWrite, IsoglossError
from ..files.layout import write_atomically
from ..languages import home
from ..models.processor import signal_name
from .choices import check_model
from .settings import ServerSettings

FOLDER = ".job"
STUDY, JOB, PROGRESS, LOCK, LOG = "study.yaml", "job.json", "progress.json", "lock", "log.txt"
RUN, STOP = "run", "stop"
QUEUED, RUNNING, STOPPING, STOPPED = "queued", "running", "stopping", "stopped"
FINISHED, FAILED = "finished", "failed"
ACTIVE = (QUEUED, RUNNING, STOPPING)
PAUSE = 0.25
KEY = "serve.key"
KEY_BYTES = 32
FOREIGN = (
    "This evaluation was not started here, or its study file was changed, so it is not run. "
    "Download the study file, read it, and use: isogloss run STUDY.yaml"
)


@dataclass(frozen=True, slots=True)
class EvaluationJob:
    """An evaluation: the study's name, its model, its state, how far each of its cells is, and whether this user started it."""

    name: str
    model: str
    state: str
    turn: float = 0.0
    message: str = ""
    cells: Mapping[str, float] = field(default_factory=dict)
    status: str = ""
    ours: bool = True

    @property
    def active(self) -> bool:
        return self.state in ACTIVE


# ---- what the folder says


def read_job(folder: Path) -> EvaluationJob | None:
    """The job of a study's folder, or nothing when it has none, or one that is broken or has links in it."""
    path = folder / FOLDER
    facts, progress = read_json(path / JOB), read_json(path / PROGRESS)
    if not facts or not (path / STUDY).is_file() or any(path.is_symlink() for path in (path, *path.iterdir())):
        return None
    model = str(facts.get("model", ""))
    ours = is_sealed(path / STUDY, model=model, seal=str(facts.get("seal", "")))
    wanted, ended = facts.get("wanted") if ours else STOP, progress.get("ended")
    if _is_locked(folder):
        state = STOPPING if wanted == STOP else RUNNING
    elif ended in (FINISHED, FAILED):
        state = str(ended)
    else:
        state = QUEUED if wanted == RUN else STOPPED
    try:
        cells = {str(name): float(share) for name, share in dict(progress.get("cells", {})).items()}
        turn = float(facts.get("turn", 0))
    except (TypeError, ValueError):
        return None
    message = str(progress.get("message", "")) or ("" if ours or state == FINISHED else FOREIGN)
    return EvaluationJob(folder.name, model, state, turn, message, cells, str(progress.get("status", "")), ours)


def read_jobs(root: Path) -> list[EvaluationJob]:
    """All jobs of the runs folder, the newest first."""
    jobs = [read_job(path.parents[1]) for path in root.glob(f"*/{FOLDER}/{JOB}") if not path.parents[1].is_symlink()]
    return sorted((job for job in jobs if job), key=lambda job: -job.turn)


def read_json(path: Path) -> dict[str, Any]:
    """What a small JSON file says; nothing when it is not there or broken."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_locked(folder: Path) -> bool:
    """Whether a process works on the job now; one that died holds no lock."""
    try:
        with (folder / FOLDER / LOCK).open("r", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def write_job(folder: Path, *, wanted: str, model: str | None = None) -> None:
    """Say whether the job is wanted; with a model, the job is new and gets its seal."""
    facts = {**read_json(folder / FOLDER / JOB), "wanted": wanted, "turn": time.time()}
    if model is not None:
        facts |= {"model": model, "seal": make_seal(folder / FOLDER / STUDY, model=model)}
    write_atomically(folder / FOLDER / JOB, json.dumps(facts, ensure_ascii=False) + "\n")


def write_progress(
    folder: Path, cells: Mapping[str, float], *, ended: str | None = None, message: str = "", status: str = ""
) -> None:
    """Say how far the job is, or how it ended."""
    facts = {"cells": dict(cells), "ended": ended, "message": message, "status": status}
    write_atomically(folder / FOLDER / PROGRESS, json.dumps(facts, ensure_ascii=False) + "\n")


# ---- seals: a study file that this user's own server wrote has one; a file that came from elsewhere has none


def make_seal(study: Path, *, model: str) -> str:
    """The seal of a study file and its model; the key is made at the first use."""
    path = home() / KEY
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
    except FileExistsError:
        pass
    except OSError as error:
        raise CannotWrite(path, error) from error
    return _seal(study, model)


def is_sealed(study: Path, *, model: str, seal: str) -> bool:
    """Whether the seal is the one that this user's server made for this file and this model."""
    try:
        return hmac.compare_digest(_seal(study, model).encode(), seal.encode())
    except (OSError, IsoglossError):
        return False


def _seal(study: Path, model: str) -> str:
    key = (home() / KEY).read_bytes()
    if len(key) != KEY_BYTES:
        raise IsoglossError(f"{home() / KEY} is broken. Delete it, and start the evaluations again.")
    return hmac.new(key, json.dumps(model).encode() + study.read_bytes(), "sha256").hexdigest()


# ---- the queue


class Jobs:
    """The queue of a runs folder: starts what is wanted, one evaluation at a time per model, and a few in all."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.root = settings.root
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)

    def open(self) -> None:
        """Begin to work; what was wanted when the server was left is taken up again."""
        self._thread.start()

    def close(self) -> None:
        """Stop working; what is wanted stays so, and goes on when the server is started again."""
        self._closing = True
        self._wake.set()
        self._thread.join()
        for child in self._children.values():
            child.terminate()
        for child in self._children.values():
            child.wait()

    def check_capacity(self) -> None:
        """Refuse another job when too many are waiting."""
        most = self.settings.limits.queue
        if sum(job.active for job in read_jobs(self.root)) >= most:
            raise IsoglossError(f"{most} evaluations are waiting already. Stop one, or wait.")

    def want(self, folder: Path, *, model: str | None = None) -> None:
        """Let a new job of this model run, or a job of this user run again: what is finished is kept."""
        with self._lock:
            job = None if model is not None else read_job(folder)
            if job and job.active:
                raise IsoglossError(f"'{folder.name}' is {job.state} already.")
            if job and not job.ours:
                raise IsoglossError(FOREIGN)
            check_model(job.model if job else model or "", self.settings)
            write_job(folder, wanted=RUN, model=model)
            write_progress(folder, job.cells if job else {})
        self._wake.set()

    def stop(self, folder: Path) -> None:
        """Stop a job; what is finished is kept."""
        with self._lock:
            job = read_job(folder)
            if not job or not job.active:
                raise IsoglossError(f"'{folder.name}' is not running.")
            write_job(folder, wanted=STOP)
            child = self._children.get(folder.name)
            if child is not None:
                child.terminate()
            elif job.state == RUNNING:  # its process holds the lock, and was started by an earlier server
                with suppress(OSError, ValueError):
                    os.kill(int((folder / FOLDER / LOCK).read_text(encoding="utf-8")), signal.SIGTERM)
        self._wake.set()

    def _run(self) -> None:
        while not self._closing:
            with self._lock:
                busy = self._turn()
            self._wake.wait(PAUSE if busy else None)
            self._wake.clear()

    def _turn(self) -> bool:
        """Look after the processes and start what may start; whether there is anything to wait for."""
        for name, child in list(self._children.items()):
            if child.poll() is not None:
                del self._children[name]
                _mark_failed(self.root / name, child.returncode)
        waiting = [job for job in read_jobs(self.root) if job.active]
        busy = {job.model for job in waiting if job.state != QUEUED or job.name in self._children}
        queue = [job for job in waiting if job.state == QUEUED and job.name not in self._children]
        for job in sorted(queue, key=lambda job: job.turn):
            if job.model not in busy and len(busy) < self.settings.limits.at_once:
                try:
                    check_model(job.model, self.settings)
                except IsoglossError as error:
                    write_progress(self.root / job.name, job.cells, ended=FAILED, message=str(error))
                    continue
                self._children[job.name] = self._start(self.root / job.name)
                busy.add(job.model)
        return bool(waiting or self._children)

    def _start(self, folder: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "isogloss.web.job_process", str(folder)]
        env = {**os.environ, "PYTHONUTF8": "1"} | ({} if self.settings.any_model else {"HF_HUB_OFFLINE": "1"})
        with (folder / FOLDER / LOG).open("wb") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, start_new_session=True
            )


def _mark_failed(folder: Path, code: int) -> None:
    """Say of a job whose process ended without a word that it failed."""
    job = read_job(folder)
    if job is None or job.state != QUEUED:
        return
    with suppress(OSError):
        lines = (folder / FOLDER / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        output = f" It said: {lines[-1][:300]}" if lines else ""
        how = (
            f"was ended by {signal_name(-code)}. Is there enough memory?" if code < 0 else f"exited with status {code}."
        )
        message = f"The process {how}{output} What is finished is kept; resume to continue."
        write_progress(folder, job.cells, ended=FAILED, message=message)
