"""The finding: what the numbers say, in the same words as in the terminal."""

from typing import Any

from ...chart_data import datasets, distinct, without_task
from ...text.measures import doubts
from ...text.sentences import state_findings
from ..data import PageData
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """The finding of each data set, its doubts, and what was looked at; an item counts once in all its languages."""
    sentences = [
        {"dataset": name, "sentences": state_findings(rows), "doubts": doubts(rows)}
        for name, rows in datasets(without_task(data.overall)).items()
    ]
    counts = {
        "models": len(distinct(data.overall, "model")),
        "languages": len(distinct(data.overall, "language")),
        "items": data.scored.table.select("dataset", "id").n_unique(),
        "data sets": len(distinct(data.overall, "dataset")),
    }
    facts = [{"value": f"{count:,}", "name": name} for name, count in counts.items()]
    return {"said": sentences, "facts": facts} if sentences else None


panel = Panel("The finding", order=10, draw=draw)
