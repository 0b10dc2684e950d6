"""Progress: how far a piece of work is. Everything that takes long tells one function of this shape."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """Told how much of a labelled piece of work is done, and how many items it has."""

    def __call__(self, label: str, share: float, *, items: int = 0) -> None: ...


def silent(label: str, share: float, *, items: int = 0) -> None:
    """Progress that is not shown."""


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Progress as bars on standard error, one for each label; nothing is drawn where that is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[rate]}"),
    )
    with Bars(
        *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, disable=not console.is_terminal
    ) as bars:
        known = {}

        def show(label: str, share: float, *, items: int = 0) -> None:
            if label not in known:
                known[label] = bars.add_task(label, total=1.0, rate="")
            elapsed = bars.tasks[known[label]].elapsed or 0
            rate = f"{share * items / elapsed:.1f} items/s" if items and elapsed else ""
            bars.update(known[label], completed=share, rate=rate)

        yield show
