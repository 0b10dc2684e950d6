"""Meta-evaluation: do two ways to measure agree over models or languages?"""

from typing import Any

from ...text.comparisons import agreement_grid
from ..data import PageData
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """One row for each two measures that were compared."""
    return {"table": agreement_grid(data.extras.agreements)} if data.extras.agreements else None


panel = Panel("Do the measures agree?", order=110, draw=draw)
