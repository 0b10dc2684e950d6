"""How long something takes and how much memory it adds; ours and others in turn, the best of three."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from isogloss.models.engine import trim_memory

REPEATS = 3
Work = Callable[[], object]


def interleaved(works: Mapping[str, Work], repeats: int = REPEATS) -> dict[str, float]:
    """The best time of each piece of work in seconds; the pieces take turns, so that a noisy minute hits all of them."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        for name, work in works.items():
            started = time.perf_counter()
            work()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def memory_added(work: Work) -> float:
    """The most megabytes that a piece of work held beyond what was held before it."""
    gc.collect()
    trim_memory()  # what is freed and kept would hide what is taken again
    before, peak, done = _resident(), 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, _resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
    return max(0.0, peak - before)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6
