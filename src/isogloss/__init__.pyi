"""The public names of Isogloss and where they live; they are imported when they are first used."""

from .analysis.annotators import LabelAgreement
from .analysis.changes import Changes, GroupChange
from .analysis.comparisons import Comparison, Comparisons
from .analysis.controls import Control
from .analysis.measures import Measure, Measures
from .analysis.planning import SizePlan
from .analysis.rankings import Rank, Rankings
from .analysis.series import SeriesStep
from .analysis.structure import Structure
from .analysis.study import Study
from .annotation.answer_verdicts import VerdictCount, VerdictDifference
from .annotation.bleeding import KnownDifference
from .annotation.corrections import CorrectedRate
from .annotation.labels import LabelTable
from .claims.evidence import ClaimPart
from .claims.verdicts import ClaimsFile, ClaimVerdict, GateResult
from .errors import IsoglossError
from .items import Candidate, Item, Items
from .label_library import (
    bleeding,
    compare_verdicts,
    correct,
    import_answers,
    label_agreement,
    read_labels,
    sheet,
    verdicts,
)
from .library import (
    ask,
    change,
    compare,
    controls,
    describe_methods,
    figure,
    gate,
    join,
    load,
    load_published,
    measure,
    plan,
    probe,
    rank_models,
    read,
    report,
    run,
    score,
    structure,
    table,
    trace,
)
from .methods.ask import AskSettings
from .models.model import Loading, Model
from .progress import Progress
from .reports.figures import WrittenFigure
from .results import Results
from .scores import Scored
from .studies.probe import Probe
from .studies.run import Cluster

__version__: str

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
    "CorrectedRate",
    "GateResult",
    "GroupChange",
    "IsoglossError",
    "Item",
    "Items",
    "KnownDifference",
    "LabelAgreement",
    "LabelTable",
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
    "VerdictCount",
    "VerdictDifference",
    "WrittenFigure",
    "ask",
    "bleeding",
    "change",
    "compare",
    "compare_verdicts",
    "controls",
    "correct",
    "describe_methods",
    "figure",
    "gate",
    "import_answers",
    "join",
    "label_agreement",
    "load",
    "load_published",
    "measure",
    "plan",
    "probe",
    "rank_models",
    "read",
    "read_labels",
    "report",
    "run",
    "score",
    "sheet",
    "structure",
    "table",
    "trace",
    "verdicts",
]
