"""The street side on paper: tables to read, paste or load, and one HTML page to look at.

Called as a function, this room writes that page: `report(source, out)`, with scores or folders of runs as the source.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .extras import Extras
    from .gathering import Source


class _Room(ModuleType):
    """A package that can be called: its name is both that of the room and that of the verb."""

    def __call__(
        self, source: Source, out: str | Path, *, extras: Extras | None = None, resamples: int = 2000, seed: int = 0
    ) -> Path:
        """The path of the HTML page, written from scores or from folders of runs."""
        from .findings import Drawn
        from .page import write_report

        return write_report(source, out, extras=extras, drawn=Drawn(resamples, seed))


sys.modules[__name__].__class__ = _Room
