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
            "name": f"{card.model}, {language_name(card.language)}, {card.dataset}, {card.task}",
            "grid": robustness_grid(card),
            "said": SAID[card.sign],
        }
        for card in data.extras.cards
    ]
    return {"tables": tables} if tables else None


panel = Panel("Robustness", order=140, draw=draw)
