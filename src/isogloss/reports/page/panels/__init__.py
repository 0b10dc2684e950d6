"""Panels: the sections of a report, one file each; here is what a panel is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..data import PageData


@dataclass(frozen=True, slots=True)
class Panel:
    """A section of the report: `draw` gives the values for the template of the same name, or None without its data.

    Panels are shown by `order`, the smallest first.
    """

    title: str
    order: int
    draw: Callable[[PageData], Mapping[str, Any] | None]
