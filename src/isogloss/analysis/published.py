"""Measures of published models that ship as numbers, to be shown beside yours."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from ..errors import UnknownName
from .measures import Measure, Measures

TABLE = Path(__file__).parent.parent / "data" / "published_measures.csv"
DATASET = "stereoset"
PUBLISHED = "published"
INTERPRETABLE = {"yes": True, "no": False}
OTHER_FILE = "not the file behind the printed table"  # a fault of the paper's table, not of the scores


def check_beside(name: str | None) -> list[str]:
    """What is to be shown beside your runs, as a further source; another name than 'published' is refused."""
    if name not in (None, PUBLISHED):
        raise UnknownName("set of models to show beside", str(name), [PUBLISHED])
    return [PUBLISHED] if name else []


def add_published(measures: Measures, sources: Sequence[str]) -> Measures:
    """The measures, and those of the published models where the sources name them."""
    more = published_measures(measures) if PUBLISHED in sources else []
    return replace(measures, rows=(*measures.rows, *more))


def published_measures(own: Iterable[Measure]) -> list[Measure]:
    """The published models on the data, languages, tasks and metrics of your measures.

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
        rows = list(csv.DictReader(file))
    measures = []
    for row in rows:
        group = {"model": row["model"], "dataset": DATASET, "language": row["language"]}
        group |= {name: row[name] for name in ("task", "category") if row[name]}
        low, high = (float(row[name]) if row[name] else None for name in ("low", "high"))
        n, ties, clusters = (int(row[name]) for name in ("n", "ties", "clusters"))
        measure = Measure(row["metric"], group, float(row["value"]), low, high, n, ties, clusters)
        fault = row["fault"] if row["fault"] != OTHER_FILE else ""
        known = False if fault else INTERPRETABLE.get(row["interpretable"])
        doubt = f"published scores with a known fault: {fault}" if fault else None
        measures.append(replace(measure, interpretable=known, doubt=doubt))
    return tuple(measures)
