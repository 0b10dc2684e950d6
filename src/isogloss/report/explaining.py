"""Explanations as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.explanations import Explanation
from .drawing import Grid, as_text


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
    if not found.differences:
        return "\n".join([*lines, "  on these scores nothing of this makes a difference that can be computed"])
    columns = [name for name in found.differences[0].group if len({d.group[name] for d in found.differences}) > 1]
    rows = [
        [
            *(one.group[name] for name in columns),
            one.what,
            f"{one.ours:.2f}",
            f"{one.other:.2f}",
            f"{one.points:+.2f}",
            str(one.n),
        ]
        for one in found.differences
    ]
    grid = Grid([*columns, "the other way", "ours", "other", "points", "n"], rows, len(columns) + 1)
    table = as_text(grid)
    return "\n".join([*lines, "", *(f"  {line}" for line in table.splitlines())])
