"""Robustness: the same items under all methods, dtypes and batch sizes; does the sign survive?"""

from typing import Any

from ...numbers import language_name
from ...text.analyses import SAID, robustness_grid
from ..data import PageData
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """One table for each report that was brought along."""
    tables = [
        {
            "name": f"{one.model}, {language_name(one.language)}, {one.dataset}, {one.task}",
            "grid": robustness_grid(one),
            "said": SAID[one.sign],
        }
        for one in data.extras.cards
    ]
    return {"tables": tables} if tables else None


panel = Panel("Robustness", order=140, draw=draw)
