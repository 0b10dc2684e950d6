"""Verdicts on answers as tables: how many of each kind, and where two readings differ."""

from collections.abc import Sequence
from typing import Any

from ...chat.readings import VERDICTS
from ..numbers import format_value, percent
from .table import Grid

SHORT = 48  # letters of an example in a terminal


def verdict_grid(rows: Sequence[Any]) -> Grid:
    """One row per group: its answers, and how many have each verdict."""
    columns = list(dict.fromkeys(name for row in rows for name in row.group))
    kinds = [name for name in VERDICTS if any(row.counts.get(name) for row in rows)]
    cells = [
        [
            *(row.group.get(name, "-") for name in columns),
            str(row.answers),
            *(f"{row.counts.get(name, 0)} ({percent(row.counts.get(name, 0) / row.answers)})" for name in kinds),
        ]
        for row in rows
    ]
    return Grid([*columns, "answers", *(name.replace("_", " ") for name in kinds)], cells, len(columns))


def difference_grid(rows: Sequence[Any]) -> Grid:
    """One row per pair of verdicts and rule: how the two differ, how often, and an example."""
    columns = list(dict.fromkeys(name for row in rows for name in row.group))
    cells = [
        [
            *(row.group.get(name, "-") for name in columns),
            row.kind,
            row.published or "-",
            row.ours or "-",
            row.rule or "-",
            str(row.count),
            percent(row.share),
            " ".join(row.example.split())[:SHORT],
        ]
        for row in rows
    ]
    return Grid([*columns, "kind", "in the file", "ours", "rule", "n", "share", "example"], cells, len(columns) + 4)


def corrected_grid(rows: Sequence[Any]) -> Grid:
    """One row per group: the corrected rate, people's reading alone, the machine's, and how much was read."""
    columns = list(dict.fromkeys(name for row in rows for name in row.group))
    planned = any(row.needed is not None for row in rows)
    cells = [
        [
            *(row.group.get(name, "-") for name in columns),
            row.verdict,
            format_value(row.value, (row.low, row.high), form=".1f"),
            format_value(row.people, (row.people_low, row.people_high), form=".1f"),
            f"{row.machine:.1f}",
            percent(row.agree),
            f"{row.read} of {row.answers}",
            *(["-" if row.needed is None else str(row.needed)] if planned else []),
        ]
        for row in rows
    ]
    heading = [*columns, "verdict", "corrected", "people alone", "machine", "agree", "read"]
    varying = [name for name in columns if len({row.group.get(name) for row in rows}) > 1]
    whys = [(", ".join(row.group[name] for name in varying if name in row.group), row.why) for row in rows if row.why]
    remarks = tuple(dict.fromkeys(f"{group}: {why}" if group else why for group, why in whys))
    return Grid([*heading, *(["to read"] if planned else [])], cells, len(columns) + 1, remarks)
