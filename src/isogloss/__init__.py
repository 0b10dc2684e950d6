"""Isogloss measures where a language model's stereotypes change, and says how sure it is."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .analysis.claim_evidence import ClaimPart
    from .analysis.claims import ClaimsFile, ClaimVerdict, GateResult
    from .analysis.comparisons import Comparison, Comparisons, compare
    from .analysis.controls import Control
    from .analysis.measures import Measure, Measures, measure
    from .analysis.rankings import Rank, Rankings, rank_models
    from .analysis.structure import Structure
    from .errors import IsoglossError
    from .files.sources import read
    from .items import Candidate, Item, Items
    from .library import controls, figure, gate, join, load, probe, report, structure, table
    from .models.load import Loading
    from .results import Results
    from .scores import Scored
    from .studies.pipeline import ask, run, score
    from .studies.probe import Probe
    from .studies.run import StudyResult

__version__ = "0.2.0"

_HOMES = {  # where each public name is defined
    "Candidate": "items",
    "ClaimPart": "analysis.claim_evidence",
    "ClaimVerdict": "analysis.claims",
    "ClaimsFile": "analysis.claims",
    "Comparison": "analysis.comparisons",
    "Comparisons": "analysis.comparisons",
    "Control": "analysis.controls",
    "GateResult": "analysis.claims",
    "IsoglossError": "errors",
    "Item": "items",
    "Items": "items",
    "Loading": "models.load",
    "Measure": "analysis.measures",
    "Measures": "analysis.measures",
    "Probe": "studies.probe",
    "Rank": "analysis.rankings",
    "Rankings": "analysis.rankings",
    "Results": "results",
    "Scored": "scores",
    "Structure": "analysis.structure",
    "compare": "analysis.comparisons",
    "controls": "library",
    "figure": "library",
    "gate": "library",
    "join": "library",
    "load": "library",
    "measure": "analysis.measures",
    "probe": "library",
    "rank_models": "analysis.rankings",
    "read": "files.sources",
    "report": "library",
    "StudyResult": "studies.run",
    "ask": "studies.pipeline",
    "run": "studies.pipeline",
    "score": "studies.pipeline",
    "structure": "library",
    "table": "library",
}

__all__ = [
    "Candidate",
    "ClaimPart",
    "ClaimVerdict",
    "ClaimsFile",
    "Comparison",
    "Comparisons",
    "Control",
    "GateResult",
    "IsoglossError",
    "Item",
    "Items",
    "Loading",
    "Measure",
    "Measures",
    "Probe",
    "Rank",
    "Rankings",
    "Results",
    "Scored",
    "Structure",
    "StudyResult",
    "ask",
    "compare",
    "controls",
    "figure",
    "gate",
    "join",
    "load",
    "measure",
    "probe",
    "rank_models",
    "read",
    "report",
    "run",
    "score",
    "structure",
    "table",
]


def __getattr__(name: str) -> Any:
    """The public names are imported when first used, so that `import isogloss` costs nothing."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module 'isogloss' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
