"""What changed: for each two runs that were compared, the groups that moved, their flips, and what is undecided."""

from typing import Any

from ....analysis.changes import Changes
from ...text.change import STATES, grid, remarks, summarise
from ..charts import draw_plot_svg
from ..data import PageData
from ..parts import Chart, ChartView
from . import Panel

MEANINGS = {
    STATES[0]: "p, adjusted for all groups, is at most 0.05",
    STATES[1]: "the change is shown to be within the margin (the gray band)",
    STATES[2]: "the items decide neither",
    STATES[3]: "a model does not prefer meaningful sentences there",
}


def draw(data: PageData) -> dict[str, Any] | None:
    """A sentence, a chart and a table for each added file of changes."""
    parts = [_draw_changes(number, changes) for number, changes in enumerate(data.extras.changes)]
    return {"parts": parts, "meanings": MEANINGS} if parts else None


def _draw_changes(number: int, changes: Changes) -> dict[str, Any]:
    name, table = f"change-{number}", grid(changes)
    view = ChartView((), draw_plot_svg("change", changes, name=name), table.heading, table.rows)
    label = "The change of each group with its interval, and how many items turned each way."
    sides = next((note for note in changes.notes if note.startswith("before is ")), "")
    lines = [line for line in remarks(changes) if line != sides]
    return {"title": sides, "summary": summarise(changes), "chart": Chart(name, [view], label), "lines": lines}


panel = Panel("What changed", order=7, draw=draw)
