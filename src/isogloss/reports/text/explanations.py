"""Explanations as text for a terminal."""

from collections.abc import Sequence

from ...analysis.explanations import Explanation
from .table import Grid, as_text

LEAST = 0.1  # points; a smaller difference is not shown


def explanations_as_text(found: Sequence[Explanation]) -> str:
    """Per metric its definition, what was published, what we do, and the points that each difference makes."""
    return "\n\n".join(_one(explanation) for explanation in found)


def _one(found: Explanation) -> str:
    lines = [
        f"{found.title}",
        f"  definition      {found.definition}",
        f"  published in    {found.citation}",
        f"  published code  {found.published_code}",
        f"  ours            {found.ours}",
        f"  caution         {found.caution}",
    ]
    shown = sorted((one for one in found.differences if abs(one.points) >= LEAST), key=lambda one: -abs(one.points))
    if not shown:
        return "\n".join([*lines, f"  on these scores none of this makes a difference of {LEAST:g} points or more"])
    columns = [name for name in shown[0].group if len({one.group[name] for one in found.differences}) > 1]
    rows = [
        [
            *(one.group[name] for name in columns),
            one.what,
            f"{one.ours:.2f}",
            f"{one.other:.2f}",
            f"{one.points:+.2f}",
            str(one.n),
        ]
        for one in shown
    ]
    grid = Grid([*columns, "the other way", "ours", "other", "points", "n"], rows, len(columns) + 1)
    table = as_text(grid)
    hidden = len(found.differences) - len(shown)
    more = [f"  {hidden} more make less than {LEAST:g} points"] if hidden else []
    return "\n".join([*lines, "", *(f"  {line}" for line in table.splitlines()), *more])
