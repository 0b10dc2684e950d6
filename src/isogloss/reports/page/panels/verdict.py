"""The finding: what the numbers say, in the same words as in the terminal."""

from __future__ import annotations

from ...text.measures import doubts
from ...text.sentences import state_findings
from ..data import PageData, datasets, distinct, without_task
from ..parts import Panel, panel


def draw(data: PageData) -> Panel | None:
    """The finding of each data set, what to mind, and what was looked at."""
    said = [
        {"dataset": name, "sentences": state_findings(rows), "mind": doubts(rows)}
        for name, rows in datasets(without_task(data.overall)).items()
    ]
    return panel("verdict", "The finding", said=said, facts=_facts(data)) if said else None


def _facts(data: PageData) -> list[dict[str, str]]:
    rows = data.overall
    items = data.scored.table.select("dataset", "id", "language").n_unique()
    return [
        {"value": str(len(distinct(rows, "model"))), "name": "models"},
        {"value": str(len(distinct(rows, "language"))), "name": "languages"},
        {"value": f"{items:,}", "name": "items"},
        {"value": str(len(distinct(rows, "dataset"))), "name": "data sets"},
    ]
