"""The process of one job: runs a study file as `isogloss run` does, and says in a file how far it is."""

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import IsoglossError
from ..progress import JobClock, clock_time
from .jobs import FAILED, FINISHED, FOLDER, LOCK, STUDY, write_progress

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
        items = f"{round(clock.done)} of {clock.whole} items" if clock.whole else ""
        doing, seconds = "" if clock.working else clock.activity, clock_time(time.monotonic() - started)
        status = ", ".join(filter(None, (doing, items, clock.speed, f"{seconds} so far")))
        write_progress(folder, cells, ended=ended, message=message, status=status)

    def progress(label: str, share: float, *, items: int = 0, cost: float = 0.0) -> None:
        nonlocal reported
        new = label not in clock.pieces
        clock.tell(label, share, items=items, cost=cost)
        if new or share >= 1 or time.monotonic() - reported > PAUSE:
            reported = time.monotonic()
            write()

    try:
        from ..analysis.study import failures_as_text
        from ..studies.plan import plan_study
        from ..studies.run import execute

        study = execute(plan_study(folder / FOLDER / STUDY), out=folder, progress=progress)
        message = "\n".join([failures_as_text(study.failures), *study.problems]).strip()
        ended = FINISHED if study.scored else FAILED
    except IsoglossError as error:
        ended, message = FAILED, str(error)
    except Exception as error:
        write(FAILED, f"{type(error).__name__}: {str(error)[:300]}")
        raise
    write(ended, message)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    with locked(path):
        run_job(path)
