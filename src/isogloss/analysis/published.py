"""Measures of published models that ship as numbers, to be shown beside yours."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from .. import registry
from ..errors import IsoglossError, UnknownName
from ..languages import resolve
from .competence import judge_value
from .intervals import Interval
from .measures import Measure, Measures

TABLE = Path(__file__).parent.parent / "data" / "published_measures.csv"
DATASET = "stereoset"
PUBLISHED = "published"
INTERPRETABLE = {"yes": True, "no": False}
KNOWN_FAULT = "published scores with a known fault"
NO_ENDS = "too few clusters"
OTHER_FILE = "not the file behind the printed table"  # a fault of the paper's table, not of the scores


def check_beside(name: str | None) -> list[str]:
    """What is to be shown beside your runs, as a further source; another name than 'published' is refused."""
    if name not in (None, PUBLISHED):
        raise UnknownName("set of models to add", str(name), [PUBLISHED])
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


def load_published(
    *,
    model: str | None = None,
    languages: str | Sequence[str] = (),
    metrics: str | Sequence[str] = ("lms", "ss", "icat"),
) -> Measures:
    """Published StereoSet measures that come with Isogloss: both tasks together, with 95 % intervals.

    Parameters:
        model: A part of the model's name; by default, all models.
        languages: One language or several, by tag or name; without it, all five.
        metrics: One metric or several.

    Example:
        >>> ig.load_published(model="multilingual", languages="de")
        Results(3 measures)
    """
    tags = {resolve(name) for name in ([languages] if isinstance(languages, str) else languages)}
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    rows = [
        row
        for row in _read_table()
        if row.metric in names
        and not {"task", "category"} & set(row.group)
        and (not tags or row.group["language"] in tags)
        and (model or "").casefold() in row.group["model"].casefold()
    ]
    if not rows:
        known = ", ".join(sorted({row.group["model"] for row in _read_table()})[:5])
        raise IsoglossError(f"No published model fits. Some of them: {known}.")
    rows.sort(key=lambda row: (list(row.group.values()), names.index(row.metric)))
    return Measures(tuple(replace(row, group=dict(row.group) | {"model": _model(row.group)}) for row in rows))


def _model(group: Mapping[str, str]) -> str:
    """The name of a file without its language: the model, and the class that gave the scores of each task."""
    return group["model"].removesuffix(f"_{group['language']}")


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
        doubt = f"{KNOWN_FAULT}: {fault}" if fault else None
        measures.append(replace(measure, interpretable=known, doubt=doubt))
    competence = {_whole_key(row): row for row in measures if row.metric == "lms"}
    return tuple(_with_competence(row, competence.get(_whole_key(row))) for row in measures)


def _whole_key(row: Measure) -> tuple[str, ...]:
    return (row.group["model"], *_key("", row.group))


def _with_competence(row: Measure, lms: Measure | None) -> Measure:
    """The row with the LMS of the same items as its doubt, where its mark depends on that."""
    if lms is None or lms.value is None or row.doubt is not None or not registry.get("metric", row.metric).competence:
        return row
    known = judge_value("LMS", lms.value, ends=Interval(lms.low, lms.high, "auto", NO_ENDS))
    doubt = known.doubt if row.interpretable is False else None
    return replace(row, doubt=doubt, competence_low=known.low)
