"""Claims and rankings as tables: text for a terminal and the same tables for papers."""

from __future__ import annotations

from ...analysis.rankings import Rankings
from ..numbers import format_value, metric_name, percent
from .table import Grid, as_text


def rank_grid(ranks: Rankings) -> Grid:
    """One row per model: its value and rank, how sure the rank is, and the models that it can be told apart from."""
    columns = list(dict.fromkeys(name for row in ranks for name in row.group))
    heading = [
        *columns,
        "model",
        metric_name(ranks[0].metric),
        "rank",
        "95 % CI",
        "first",
        "last",
        "may be",
        "better than",
    ]
    rows = [
        [
            *(row.group.get(name, "all") for name in columns),
            row.model,
            format_value(row.value),
            str(row.rank),
            "-" if row.low is None else f"{row.low}-{row.high}",
            "-" if row.first is None else percent(row.first),
            "-" if row.last is None else percent(row.last),
            " or ".join(name for name, may in (("best", row.may_be_best), ("worst", row.may_be_worst)) if may) or "-",
            ", ".join(row.better_than) or "-",
        ]
        for row in ranks
    ]
    said = [
        "first and last: how often the model has the best and the worst value when targets are drawn again",
        "may be best: no model is shown to be better (paired tests, Holm over all pairs)",
        *(row.why for row in ranks if row.why),
        *ranks.notes,
    ]
    return Grid(heading, rows, len(columns) + 1, tuple(dict.fromkeys(said)))


def ranks_as_text(ranks: Rankings) -> str:
    """The ranking for a terminal."""
    return as_text(rank_grid(ranks))
