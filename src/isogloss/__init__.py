"""Isogloss measures where a language model's stereotypes change, and says how sure it is."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .analysis.changes import Changes, GroupChange, change
    from .analysis.claim_evidence import ClaimPart
    from .analysis.claims import ClaimsFile, ClaimVerdict, GateResult
    from .analysis.comparisons import Comparison, Comparisons, compare
    from .analysis.controls import Control
    from .analysis.measures import Measure, Measures, measure
    from .analysis.planning import SizePlan
    from .analysis.rankings import Rank, Rankings, rank_models
    from .analysis.series import SeriesStep, trace
    from .analysis.structure import Structure
    from .analysis.study import Study
    from .errors import IsoglossError
    from .files.sources import read
    from .items import Candidate, Item, Items
    from .library import controls, figure, gate, join, load, plan, report, structure, table
    from .methods.ask import AskSettings
    from .models.model import Loading, Model
    from .progress import Progress
    from .reports.figures import WrittenFigure
    from .results import Results
    from .scores import Scored
    from .studies.pipeline import ask, probe, run, score
    from .studies.probe import Probe
    from .studies.run import Cluster

__version__ = "0.3.0"

_NAMES = {  # the public names of each module
    "analysis.changes": ("Changes", "GroupChange", "change"),
    "analysis.claim_evidence": ("ClaimPart",),
    "analysis.claims": ("ClaimVerdict", "ClaimsFile", "GateResult"),
    "analysis.comparisons": ("Comparison", "Comparisons", "compare"),
    "analysis.controls": ("Control",),
    "analysis.measures": ("Measure", "Measures", "measure"),
    "analysis.planning": ("SizePlan",),
    "analysis.rankings": ("Rank", "Rankings", "rank_models"),
    "analysis.series": ("SeriesStep", "trace"),
    "analysis.structure": ("Structure",),
    "methods.ask": ("AskSettings",),
    "errors": ("IsoglossError",),
    "files.sources": ("read",),
    "items": ("Candidate", "Item", "Items"),
    "library": ("controls", "figure", "gate", "join", "load", "plan", "report", "structure", "table"),
    "models.model": ("Loading", "Model"),
    "progress": ("Progress",),
    "reports.figures": ("WrittenFigure",),
    "results": ("Results",),
    "scores": ("Scored",),
    "studies.run": ("Cluster",),
    "studies.pipeline": ("ask", "probe", "run", "score"),
    "studies.probe": ("Probe",),
    "analysis.study": ("Study",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "AskSettings",
    "Candidate",
    "Changes",
    "ClaimPart",
    "ClaimVerdict",
    "ClaimsFile",
    "Cluster",
    "Comparison",
    "Comparisons",
    "Control",
    "GateResult",
    "GroupChange",
    "IsoglossError",
    "Item",
    "Items",
    "Loading",
    "Measure",
    "Measures",
    "Model",
    "Probe",
    "Progress",
    "Rank",
    "Rankings",
    "Results",
    "Scored",
    "SeriesStep",
    "SizePlan",
    "Structure",
    "Study",
    "WrittenFigure",
    "ask",
    "change",
    "compare",
    "controls",
    "figure",
    "gate",
    "join",
    "load",
    "measure",
    "plan",
    "probe",
    "rank_models",
    "read",
    "report",
    "run",
    "score",
    "structure",
    "table",
    "trace",
]


def __getattr__(name: str) -> Any:
    """The public names are imported when first used, so that `import isogloss` costs nothing."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module 'isogloss' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
