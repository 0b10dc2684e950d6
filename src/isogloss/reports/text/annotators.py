"""What people's labels say as tables: agreement, and preferences where a stereotype is known and where it is not."""

from collections.abc import Sequence
from typing import Any

from ...analysis.annotators import LabelAgreement
from ..numbers import format_value, p_value, percent
from .table import Grid


def agreement_grid(rows: Sequence[LabelAgreement]) -> Grid:
    """One row per group: alpha and AC1 with their intervals, the share on which all agree, units and clusters."""
    columns = list(dict.fromkeys(name for row in rows for name in row.group))
    cells = [
        [
            *(row.group.get(name, "-") for name in columns),
            format_value(row.alpha, (row.alpha_low, row.alpha_high), form=".3f"),
            format_value(row.ac1, (row.ac1_low, row.ac1_high), form=".3f"),
            percent(row.unanimous),
            str(row.n),
            str(row.clusters),
        ]
        for row in rows
    ]
    return Grid([*columns, "alpha", "AC1", "all agree", "n", "clusters"], cells, len(columns))


def known_grid(rows: Sequence[Any]) -> Grid:
    """One row per group: the metric on both sides, their difference with its interval, p, and clusters on each side."""
    columns = list(dict.fromkeys(name for row in rows for name in row.group))
    cells = [
        [
            *(row.group.get(name, "-") for name in columns),
            row.metric,
            format_value(row.all),
            format_value(row.weighted, (row.weighted_low, row.weighted_high)),
            format_value(row.known),
            format_value(row.unknown),
            format_value(row.difference, (row.low, row.high), form="+.2f"),
            p_value(row.p),
            f"{row.clusters_known} and {row.clusters_unknown}",
        ]
        for row in rows
    ]
    heading = [*columns, "metric", "all", "weighted", "known", "not known", "difference", "p", "clusters"]
    return Grid(heading, cells, len(columns) + 1, tuple(dict.fromkeys(row.why for row in rows if row.why)))
