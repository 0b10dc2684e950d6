"""Measures of published models that ship as numbers, to be shown beside one's own."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from ..errors import UnknownName
from .measures import Measure

TABLE = Path(__file__).parent.parent / "data" / "published_measures.csv"
DATASET = "stereoset"
NAMES = ("published",)
INTERPRETABLE = {"yes": True, "no": False}


def check_beside(name: str | None) -> bool:
    """Whether published models are wanted beside the own ones; another name is refused."""
    if name is not None and name not in NAMES:
        raise UnknownName("set of models to show beside", name, NAMES)
    return name is not None


def published_measures(own: Iterable[Measure]) -> list[Measure]:
    """The published models on the data, languages, tasks and metrics of one's own measures.

    Their model is named after its file; a known fault of its scores is its doubt.
    """
    wanted = {_key(row.metric, row.group) for row in own if row.group.get("dataset") == DATASET}
    return [row for row in _read_table() if _key(row.metric, row.group) in wanted]


def _key(metric: str, group: Mapping[str, str]) -> tuple[str, ...]:
    """What a measure is of, apart from its model."""
    return (metric, *(group.get(name, "") for name in ("language", "task", "category")))


@cache
def _read_table() -> tuple[Measure, ...]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(map(_measure, csv.DictReader(file)))


def _measure(row: dict[str, str]) -> Measure:
    group = {"model": row["model"], "dataset": DATASET, "language": row["language"]}
    group |= {name: row[name] for name in ("task", "category") if row[name]}
    low, high = (float(row[name]) if row[name] else None for name in ("low", "high"))
    return Measure(
        row["metric"],
        group,
        float(row["value"]),
        low,
        high,
        n=int(row["n"]),
        ties=int(row["ties"]),
        clusters=int(row["clusters"]),
        mode="corrected",
        interpretable=False if row["fault"] else INTERPRETABLE.get(row["interpretable"]),
        doubt=f"published scores with a known fault: {row['fault']}" if row["fault"] else None,
    )
