"""The finding: what the numbers say, in the same words as in the terminal."""

from __future__ import annotations

from ..findings import Findings, datasets, distinct, whole
from ..fragments import Panel, panel
from ..sentences import state_findings
from ..tables import doubts


def draw(found: Findings) -> Panel | None:
    """The finding of each data set, what to mind, and what was looked at."""
    said = [
        {"dataset": name, "sentences": state_findings(rows), "mind": doubts(rows)}
        for name, rows in datasets(whole(found.overall)).items()
    ]
    return panel("verdict", "The finding", said=said, facts=_facts(found)) if said else None


def _facts(found: Findings) -> list[dict[str, str]]:
    rows = found.overall
    items = found.scored.table.select("dataset", "id", "language").n_unique()
    return [
        {"value": str(len(distinct(rows, "model"))), "name": "models"},
        {"value": str(len(distinct(rows, "language"))), "name": "languages"},
        {"value": f"{items:,}", "name": "items"},
        {"value": str(len(distinct(rows, "dataset"))), "name": "data sets"},
    ]
