"""The process of one job: runs a study file as `isogloss run` does, and says in a file how far it is."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import IsoglossError
from ..progress import JobClock, clock_time
from .jobs import FAILED, FINISHED, FOLDER, LOCK, STUDY, write_progress

if TYPE_CHECKING:
    from ..progress import Progress

PATIENCE = 5.0
PAUSE = 0.2


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """While this is open nobody else works on the job; the file says which process does."""
    with (folder / FOLDER / LOCK).open("a+", encoding="utf-8") as file:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise IsoglossError("Another process is working on this job.") from None
                time.sleep(PAUSE / 4)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def run_job(folder: Path) -> None:
    """Run the job's study into its folder, and say how far it is and how it ended."""
    clock = JobClock()
    started, reported = time.monotonic(), 0.0

    def write(ended: str | None = None, message: str = "") -> None:
        cells = {label: piece.done for label, piece in clock.pieces.items()}
        write_progress(folder, cells, ended=ended, message=message, status=_status(clock, time.monotonic() - started))

    def progress(label: str, share: float, *, items: int = 0, cost: float = 0.0) -> None:
        nonlocal reported
        new = label not in clock.pieces
        clock.tell(label, share, items=items, cost=cost)
        if new or share >= 1 or time.monotonic() - reported > PAUSE:
            reported = time.monotonic()
            write()

    try:
        ended, message = _run_study(folder, progress)
    except IsoglossError as error:
        ended, message = FAILED, str(error)
    except Exception as error:
        write(FAILED, f"{type(error).__name__}: {str(error)[:300]}")
        raise
    write(ended, message)


def _status(clock: JobClock, seconds: float) -> str:
    """What is being done, how fast, and how long it has taken."""
    items = f"{round(clock.done)} of {clock.whole} items" if clock.whole else ""
    doing = "" if clock.working else clock.activity
    return ", ".join(filter(None, (doing, items, clock.speed, f"{clock_time(seconds)} so far")))


def _run_study(folder: Path, progress: Progress) -> tuple[str, str]:
    """How a study ended, and what must be said about it."""
    from ..studies.plan import plan_study
    from ..studies.run import failures_as_text, finish_plan, run_plan

    plan = plan_study(folder / FOLDER / STUDY)
    done = finish_plan(plan, run_plan(plan, out=folder, progress=progress), out=folder)
    message = "\n".join([failures_as_text(done.failures), *done.troubles]).strip()
    return (FINISHED if done.measures else FAILED), message


if __name__ == "__main__":
    path = Path(sys.argv[1])
    with locked(path):
        run_job(path)
