"""Progress: how far a job is. Everything that takes long tells one function of this shape."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, Protocol

from .errors import without_controls

EVERY = 30.0  # seconds between two lines of a log
SOON = 5.0  # seconds after which a log has its first line
LOADING = "loading "
WIDTH = 32  # letters of what is being done


class Progress(Protocol):
    """Receives the completed share of a labeled task, and its number of items.

    A call without a label states the items of the whole job, one without items is a preparation, and one with a
    cost announces a task: its total cost, in any unit, and the share that is done.
    """

    def __call__(self, label: str, share: float, *, items: int = 0, cost: float = 0.0) -> None: ...


def silent(label: str, share: float, *, items: int = 0, cost: float = 0.0) -> None:
    """Progress that is not shown."""


@dataclass
class Workload:
    """A labeled piece of work: its items, what it costs (0 when unknown), the share kept from before and the share done."""

    items: int
    cost: float
    kept: float
    done: float
    begun: bool = False


@dataclass
class JobClock:
    """How much of a job is done, and how long that took; time that preparations take does not count."""

    total: int = 0
    pieces: dict[str, Workload] = field(default_factory=dict)
    seconds: float = 0.0
    last: float | None = None
    activity: str = ""

    def tell(self, label: str, share: float, *, items: int = 0, cost: float = 0.0) -> None:
        """Take in what was told, with the time since the last call."""
        now = time.monotonic()
        if self.last is not None and self.working:
            self.seconds += now - self.last
        self.last = now
        piece = self.pieces.get(label)
        if not label:
            self.total = items
        elif cost:
            self.pieces[label] = (
                replace(piece, cost=cost) if piece and piece.begun else Workload(items, cost, share, share)
            )
        else:
            self.activity = label if items or share < 1 else ""
            if items and (piece is None or not piece.begun):
                self.pieces[label] = Workload(items, piece.cost if piece else 0.0, share, share, begun=True)
            elif items and piece:
                piece.done = max(share, piece.done)

    @property
    def working(self) -> bool:
        """Whether a piece of work is being done."""
        return self.activity in self.pieces

    @property
    def kept(self) -> int:
        """Items that were done before this job began."""
        return round(sum(piece.kept * piece.items for piece in self.pieces.values()))

    @property
    def resumed(self) -> str:
        """What a resumed job kept, in words."""
        return f"Kept {self.kept} of {self.whole} items from before."

    @property
    def done(self) -> float:
        """Items that are done, kept ones included."""
        return sum(piece.done * piece.items for piece in self.pieces.values())

    @property
    def whole(self) -> int:
        """The items of the whole job."""
        return max(self.total, sum(piece.items for piece in self.pieces.values()))

    @property
    def share(self) -> float:
        """The share of the job's cost that is done."""
        new, left, kept = self._costs
        return (new + kept) / ((new + left + kept) or 1)

    @property
    def speed(self) -> str:
        """Items per second and the time left, by what the pieces cost, once something was done."""
        new, left, _ = self._costs
        if new <= 0 or self.seconds <= 0:
            return ""
        return f"{(self.done - self.kept) / self.seconds:.1f} items/s, {clock_time(left * self.seconds / new)} left"

    @property
    def _costs(self) -> tuple[float, float, float]:
        """What was done in this job, what is left, and what was kept; a piece of unknown cost costs as much per item as the others."""
        priced = [piece for piece in self.pieces.values() if piece.cost]
        each = sum(piece.cost for piece in priced) / sum(piece.items for piece in priced) if priced else 1.0
        new = left = kept = 0.0
        unknown = self.whole
        for piece in self.pieces.values():
            cost = piece.cost or each * piece.items
            new += cost * (piece.done - piece.kept)
            left += cost * (1 - piece.done)
            kept += cost * piece.kept
            unknown -= piece.items
        return new, left + each * unknown, kept


def clock_time(seconds: float) -> str:
    """A time as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Progress of a job on standard error: one bar in a terminal or a notebook, now and then a line in a log.

    A notebook without ipywidgets, which its bars need, has lines too.
    """
    from rich.console import Console

    console = Console(stderr=True)
    clock = JobClock()
    drawn = find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal
    with _bar(clock, console) if drawn else _log(clock, console) as show:
        resumed = False

        def tell(label: str, share: float, *, items: int = 0, cost: float = 0.0) -> None:
            nonlocal resumed
            clock.tell(without_controls(label), share, items=items, cost=cost)
            if not resumed and clock.kept and share < 1 and items and not cost:
                resumed = True
                console.out(clock.resumed, highlight=False)
            show()

        yield tell
    if not resumed and clock.kept:
        console.out(clock.resumed, highlight=False)


@contextmanager
def _bar(clock: JobClock, console: Any) -> Iterator[Any]:
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    label = TextColumn(
        "{task.description}", markup=False, table_column=Column(width=WIDTH, no_wrap=True, overflow="ellipsis")
    )
    share = TextColumn("{task.percentage:>3.0f} %", table_column=Column(no_wrap=True))
    speed = TextColumn("{task.fields[speed]}", table_column=Column(no_wrap=True))
    with Bars(label, BarColumn(bar_width=None), share, speed, console=console, expand=True, transient=True) as bars:
        task = bars.add_task("starting …", total=None, speed="")

        def show() -> None:
            total = 1 if clock.whole else None
            bars.update(task, description=clock.activity, total=total, completed=clock.share, speed=clock.speed)

        yield show


@contextmanager
def _log(clock: JobClock, console: Any) -> Iterator[Any]:
    started, last, preparing = time.monotonic(), 0.0, ""

    def show() -> None:
        nonlocal last, preparing
        now = time.monotonic()
        if not clock.working:
            if clock.activity.startswith(LOADING) and clock.activity != preparing:
                preparing = clock.activity
                console.out(f"{clock.activity} …", highlight=False)
        elif now - (last or started + SOON - EVERY) >= EVERY:
            last = now
            line = f"{clock.activity}: {round(clock.done)} of {clock.whole} items"
            console.out(", ".join(filter(None, (line, clock.speed))), highlight=False)

    yield show
    if clock.done > clock.kept:
        console.out(f"{round(clock.done)} of {clock.whole} items in {clock_time(clock.seconds)}", highlight=False)


@contextmanager
def default_progress(progress: Progress | None) -> Iterator[Progress]:
    """The progress that was given; without one, bars in a notebook or an interactive session, and nothing in a script."""
    if progress is None and (hasattr(sys, "ps1") or "IPython" in sys.modules):
        with progress_bars() as bars:
            yield bars
    else:
        yield progress or silent
