"""Progress: how far a job is. Everything that takes long tells one function of this shape."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

EVERY = 30.0  # seconds between two lines of a log
SOON = 5.0  # seconds after which a log has its first line
LOADING = "loading "
WIDTH = 32  # letters of what is being done


class Progress(Protocol):
    """Told how much of a labelled piece of work is done, and how many items it has.

    A call without a label states the items of the whole job; one without items is a preparation, such as loading a model.
    The first share of a label is what was done before.
    """

    def __call__(self, label: str, share: float, *, items: int = 0) -> None: ...


def silent(label: str, share: float, *, items: int = 0) -> None:
    """Progress that is not shown."""


@dataclass
class JobClock:
    """How much of a job is done, and how long that took; time that preparations take does not count."""

    total: int = 0
    shares: dict[str, tuple[float, float, int]] = field(default_factory=dict)  # kept, done, items
    seconds: float = 0.0
    last: float | None = None
    activity: str = ""

    def tell(self, label: str, share: float, *, items: int = 0) -> None:
        """Take in what was told, with the time since the last call."""
        now = time.monotonic()
        working = self.last is not None and bool(self.shares) and not self.activity.startswith(LOADING)
        self.seconds += now - self.last if working and self.last is not None else 0.0
        self.last = now
        if not label:
            self.total = items
            return
        self.activity = label if items or share < 1 else ""
        if items:
            kept, done, _ = self.shares.get(label, (share, share, items))
            self.shares[label] = (kept, max(share, done), items)

    @property
    def kept(self) -> int:
        """Items that were done before this job began."""
        return round(sum(kept * items for kept, _, items in self.shares.values()))

    @property
    def resumed(self) -> str:
        """What a resumed job kept, in words."""
        return f"Kept {self.kept} of {self.whole} items from before."

    @property
    def done(self) -> float:
        """Items that are done, kept ones included."""
        return sum(done * items for _, done, items in self.shares.values())

    @property
    def whole(self) -> int:
        """The items of the whole job."""
        return max(self.total, sum(items for _, _, items in self.shares.values()))

    @property
    def speed(self) -> str:
        """Items per second and the time left, once something was done."""
        new = self.done - self.kept
        if new <= 0 or self.seconds <= 0:
            return ""
        minutes, seconds = divmod(round((self.whole - self.done) * self.seconds / new), 60)
        left = f"{minutes // 60}:{minutes % 60:02}:{seconds:02}" if minutes >= 60 else f"{minutes}:{seconds:02}"
        return f"{new / self.seconds:.1f} items/s, {left} left"


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Progress of a job on standard error: one bar in a terminal or a notebook, now and then a line in a log."""
    from rich.console import Console

    console = Console(stderr=True)
    clock = JobClock()
    with _bar(clock, console) if console.is_terminal or console.is_jupyter else _log(clock, console) as show:
        said = False

        def tell(label: str, share: float, *, items: int = 0) -> None:
            nonlocal said
            clock.tell(label, share, items=items)
            if not said and clock.kept and share < 1 and items:
                said = True
                console.out(clock.resumed, highlight=False)
            show()

        yield tell
    if not said and clock.kept:
        console.out(clock.resumed, highlight=False)


@contextmanager
def _bar(clock: JobClock, console: Any) -> Iterator[Any]:
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    label = TextColumn("{task.description}", table_column=Column(width=WIDTH, no_wrap=True, overflow="ellipsis"))
    share = TextColumn("{task.percentage:>3.0f} %", table_column=Column(no_wrap=True))
    speed = TextColumn("{task.fields[speed]}", table_column=Column(no_wrap=True))
    with Bars(label, BarColumn(bar_width=None), share, speed, console=console, expand=True, transient=True) as bars:
        task = bars.add_task("starting …", total=None, speed="")

        def show() -> None:
            whole = clock.whole or None
            bars.update(task, description=clock.activity, total=whole, completed=clock.done, speed=clock.speed)

        yield show


@contextmanager
def _log(clock: JobClock, console: Any) -> Iterator[Any]:
    started, last, preparing = time.monotonic(), 0.0, ""

    def show() -> None:
        nonlocal last, preparing
        now = time.monotonic()
        if clock.activity not in clock.shares:
            if clock.activity.startswith(LOADING) and clock.activity != preparing:
                preparing = clock.activity
                console.out(f"{clock.activity} …", highlight=False)
        elif clock.shares and now - (last or started + SOON - EVERY) >= EVERY:
            last = now
            line = f"{clock.activity}: {round(clock.done)} of {clock.whole} items"
            console.out(", ".join(filter(None, (line, clock.speed))), highlight=False)

    yield show


@contextmanager
def shown(progress: Progress | None) -> Iterator[Progress]:
    """The progress that was given; without one, bars in a notebook or an interactive session, and nothing in a script."""
    if progress is None and (hasattr(sys, "ps1") or "IPython" in sys.modules):
        with progress_bars() as bars:
            yield bars
    else:
        yield progress or silent
