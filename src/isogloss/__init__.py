"""Isogloss measures where a language model's stereotypes change, and says how sure it is."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .analysis.comparisons import Comparison, Comparisons, compare
    from .analysis.measures import Measure, Measures, measure
    from .errors import IsoglossError
    from .files.sources import read
    from .items import Candidate, Item, Items
    from .reports.page.document import report
    from .scores import Scored
    from .studies.pipeline import ask, run, score
    from .studies.run import StudyResult

__version__ = "0.1.0"

_HOMES = {
    "Candidate": "items",
    "Comparison": "analysis.comparisons",
    "Comparisons": "analysis.comparisons",
    "IsoglossError": "errors",
    "Item": "items",
    "Items": "items",
    "Measure": "analysis.measures",
    "Measures": "analysis.measures",
    "Scored": "scores",
    "compare": "analysis.comparisons",
    "measure": "analysis.measures",
    "read": "files.sources",
    "report": "reports.page.document",
    "StudyResult": "studies.run",
    "ask": "studies.pipeline",
    "run": "studies.pipeline",
    "score": "studies.pipeline",
}

__all__ = [
    "Candidate",
    "Comparison",
    "Comparisons",
    "IsoglossError",
    "Item",
    "Items",
    "Measure",
    "Measures",
    "Scored",
    "StudyResult",
    "ask",
    "compare",
    "measure",
    "read",
    "report",
    "run",
    "score",
]


def __getattr__(name: str) -> Any:
    """The public names are imported when first used, so that `import isogloss` costs nothing."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module 'isogloss' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
