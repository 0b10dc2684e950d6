"""Progress on standard error: what is being done, how far it is, and how long it will take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..studies.cells import Progress


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """A function that takes a label and a share, and draws a bar for each label while this is open."""
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

        def progress(label: str, share: float, *, items: int = 0) -> None:
            if label not in known:
                known[label] = bars.add_task(label, total=1.0, rate="")
            elapsed = bars.tasks[known[label]].elapsed or 0
            rate = f"{share * items / elapsed:.1f} items/s" if items and elapsed else ""
            bars.update(known[label], completed=share, rate=rate)

        yield progress
