"""Structures and mixed models as text for a terminal."""

from ...analysis.mixed import MixedModel
from ...analysis.structure import Structure
from ..numbers import format_value, p_value, percent
from .table import Grid, as_text


def structure_as_text(structure: Structure) -> str:
    """Agreement of each pair, the tree, and what is common or specific."""
    label = " · ".join(f"{name} {value}" for name, value in structure.group.items())
    pairs = [
        [
            f"{one.a} - {one.b}",
            format_value(one.kappa, (one.kappa_low, one.kappa_high)),
            format_value(one.rho, (one.rho_low, one.rho_high)),
            str(one.n),
            str(one.clusters),
        ]
        for one in structure.likeness
    ]
    whys = tuple(dict.fromkeys(one.why for one in structure.likeness if one.why))
    heading = [structure.over + "s", "kappa", "rank correlation", "n", "clusters"]
    table = as_text(Grid(heading, pairs, 1, whys), title=label)
    return "\n".join([table, "", *_tree_lines(structure), *_common_lines(structure)])


def _tree_lines(structure: Structure) -> list[str]:
    lines = [f"  {one.distance:.2f}  {', '.join(one.left)} + {', '.join(one.right)}" for one in structure.tree]
    return ["Most alike first (1 - rank correlation, average linkage):", *lines, ""] if lines else []


def _common_lines(structure: Structure) -> list[str]:
    rows = [
        [f"{one.units} of {len(structure.units)}", str(one.count), percent(one.share), percent(one.expected)]
        for one in structure.common
    ]
    every, chance = structure.common[-1].share, structure.common[-1].expected
    said = (
        f"Of {structure.n} items, all {len(structure.units)} {structure.over}s prefer the stereotype on {100 * every:.1f} %; "
        f"if they had nothing to do with each other it would be {100 * chance:.1f} %."
    )
    only = ", ".join(f"{unit} {100 * share:.1f} %" for unit, share in structure.specific.items())
    table = as_text(Grid(["stereotype preferred by", "items", "share", "if independent"], rows, 1))
    return [table, "", said, f"Preferred in one only: {only}."]


def mixed_as_text(mixed: MixedModel) -> str:
    """The effects of a mixed model, in points of SS."""
    rows = [
        [one.name, format_value(one.estimate, (one.low, one.high), form="+.2f"), p_value(one.p)]
        for one in mixed.effects
    ]
    remarks = (
        f"{mixed.n} preferences, {mixed.targets} targets; standard deviation between targets "
        f"{mixed.target_deviation:.2f}, within {mixed.residual_deviation:.2f}",
        "a linear model of 0, 50 and 100; an association, not a cause",
        *mixed.notes,
    )
    return as_text(Grid(["effect", "points of SS", "p"], rows, 1, remarks))
