"""The public names of Isogloss and where they live; they are imported when they are first used."""

from .analysis.annotators import (
    LabelAgreement as LabelAgreement,
)
from .analysis.changes import (
    Changes as Changes,
)
from .analysis.changes import (
    GroupChange as GroupChange,
)
from .analysis.comparisons import (
    Comparison as Comparison,
)
from .analysis.comparisons import (
    Comparisons as Comparisons,
)
from .analysis.controls import (
    Control as Control,
)
from .analysis.measures import (
    Measure as Measure,
)
from .analysis.measures import (
    Measures as Measures,
)
from .analysis.planning import (
    SizePlan as SizePlan,
)
from .analysis.rankings import (
    Rank as Rank,
)
from .analysis.rankings import (
    Rankings as Rankings,
)
from .analysis.series import (
    SeriesStep as SeriesStep,
)
from .analysis.structure import (
    Structure as Structure,
)
from .analysis.study import (
    Study as Study,
)
from .annotation.answer_verdicts import (
    VerdictCount as VerdictCount,
)
from .annotation.answer_verdicts import (
    VerdictDifference as VerdictDifference,
)
from .annotation.bleeding import (
    KnownDifference as KnownDifference,
)
from .annotation.corrections import (
    CorrectedRate as CorrectedRate,
)
from .annotation.labels import (
    LabelTable as LabelTable,
)
from .claims.evidence import (
    ClaimPart as ClaimPart,
)
from .claims.verdicts import (
    ClaimsFile as ClaimsFile,
)
from .claims.verdicts import (
    ClaimVerdict as ClaimVerdict,
)
from .claims.verdicts import (
    GateResult as GateResult,
)
from .errors import (
    IsoglossError as IsoglossError,
)
from .items import (
    Candidate as Candidate,
)
from .items import (
    Item as Item,
)
from .items import (
    Items as Items,
)
from .label_library import (
    bleeding as bleeding,
)
from .label_library import (
    compare_verdicts as compare_verdicts,
)
from .label_library import (
    correct as correct,
)
from .label_library import (
    import_answers as import_answers,
)
from .label_library import (
    label_agreement as label_agreement,
)
from .label_library import (
    read_labels as read_labels,
)
from .label_library import (
    sheet as sheet,
)
from .label_library import (
    verdicts as verdicts,
)
from .library import (
    ask as ask,
)
from .library import (
    change as change,
)
from .library import (
    compare as compare,
)
from .library import (
    controls as controls,
)
from .library import (
    figure as figure,
)
from .library import (
    gate as gate,
)
from .library import (
    join as join,
)
from .library import (
    load as load,
)
from .library import (
    load_published as load_published,
)
from .library import (
    measure as measure,
)
from .library import (
    plan as plan,
)
from .library import (
    probe as probe,
)
from .library import (
    rank_models as rank_models,
)
from .library import (
    read as read,
)
from .library import (
    report as report,
)
from .library import (
    run as run,
)
from .library import (
    score as score,
)
from .library import (
    structure as structure,
)
from .library import (
    table as table,
)
from .library import (
    trace as trace,
)
from .methods.ask import (
    AskSettings as AskSettings,
)
from .models.model import (
    Loading as Loading,
)
from .models.model import (
    Model as Model,
)
from .progress import (
    Progress as Progress,
)
from .reports.figures import (
    WrittenFigure as WrittenFigure,
)
from .results import (
    Results as Results,
)
from .scores import (
    Scored as Scored,
)
from .studies.probe import (
    Probe as Probe,
)
from .studies.run import (
    Cluster as Cluster,
)

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
