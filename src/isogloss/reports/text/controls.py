"""Controls as a table for a terminal, and in words what they say."""

from collections.abc import Sequence

from ...analysis.controls import Control
from ..numbers import format_value, p_value
from .table import Grid, as_text

CELLS = ("what", "SS", "score - this", "p", "kappa", "n")


def controls_as_text(found: Sequence[Control]) -> str:
    """One row per control: what it scores, how far the score lies above it, and how often both prefer the same."""
    columns = list(dict.fromkeys(name for one in found for name in one.group))
    rows = [[*(one.group.get(name, "-") for name in columns), *control_cells(one)] for one in found]
    whys = tuple(dict.fromkeys(f"{one.name}: {one.why}" for one in found if one.why))
    table = as_text(Grid([*columns, *CELLS], rows, len(columns) + 1, whys))
    return "\n".join([table, "", *_explained(found)])


def control_cells(control: Control) -> list[str]:
    """A control's cells in a table: its name, its value, how far the score lies above it, p, kappa and n."""
    return [
        control.name,
        format_value(control.value, (control.low, control.high)),
        format_value(control.difference, (control.difference_low, control.difference_high), form="+.2f"),
        p_value(control.p),
        format_value(control.kappa),
        str(control.n),
    ]


def explain_control_items(control: Control) -> str | None:
    """Whether the score can be told from that of its control items; None for what is not control items, or has no interval."""
    if control.kind != "items" or control.difference_low is None or control.difference_high is None:
        return None
    said = "differs from" if control.difference_low > 0 or control.difference_high < 0 else "cannot be told from"
    return f"the score {said} that of its {control.name}, in which nothing is a stereotype of the target."


def _explained(found: Sequence[Control]) -> list[str]:
    lines = []
    for one in found:
        label = ", ".join(one.group[key] for key in ("model", "language") if key in one.group)
        lines += [f"{label}: {said}" for said in [explain_control_items(one)] if said]
    lines.append(
        "Permuted labels show where chance alone puts SS (95 %). A baseline near the score, with a high kappa, says that "
        "length or frequency could explain it; a baseline far away does not prove a stereotype."
    )
    return lines
