"""The heat map: models by languages, one table for each metric and task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .... import registry
from ....analysis.measures import Measure
from ...model_blocks import MONOLINGUAL, MULTILINGUAL, model_kinds
from ...text.measures import expected, metric_name
from ..data import PageData, datasets, distinct, without_task
from ..parts import Panel, ends, model_label, panel, short, side

ALL = "all"
FIRST = ("ss", "lms", "icat")
BLOCKS = ("Monolingual models", "Multilingual models", "Other models")
LEVELS = 4


def draw(data: PageData) -> Panel | None:
    """One map for each data set."""
    if not data.overall:
        return None
    blocks = block_of(data)
    maps = [_map(name, rows, kinds=blocks) for name, rows in datasets(data.overall).items()]
    return panel("heatmap", "Models and languages", maps=maps)


def block_of(data: PageData) -> dict[str, str]:
    """Which block each model belongs to, where that is known."""
    names = {MONOLINGUAL: BLOCKS[0], MULTILINGUAL: BLOCKS[1]}
    known = model_kinds(data.runs, data.extras.facts)
    return {model: names[kind] for model, kind in known.items() if kind in names}


def _map(name: str, rows: Sequence[Measure], *, kinds: Mapping[str, str]) -> dict[str, Any]:
    metrics = sorted(distinct_metrics(rows), key=lambda one: FIRST.index(one) if one in FIRST else len(FIRST))
    tasks = distinct([row for row in rows if "task" in row.group], "task")
    total = without_task(rows)
    views = []
    for metric in metrics:
        for task in (ALL, *(tasks if len(tasks) > 1 else ())):
            kept = total if task == ALL else [row for row in rows if row.group.get("task") == task]
            views.append(_view([row for row in kept if row.metric == metric], f"{metric}|{task}", kinds=kinds))
    return {
        "dataset": name,
        "metrics": [{"key": metric, "name": metric_name(metric)} for metric in metrics],
        "tasks": [ALL, *tasks] if len(tasks) > 1 else [ALL],
        "views": views,
        "weak": any(cell and cell["doubt"] for view in views for cell in _cells(view)),
        "unclear": any(cell and cell["side"] == "unclear" for view in views for cell in _cells(view)),
    }


def _cells(view: Mapping[str, Any]) -> list[Any]:
    return [cell for block in view["blocks"] for row in block["rows"] for cell in row["cells"]]


def distinct_metrics(rows: Sequence[Measure]) -> list[str]:
    """The metrics of the rows, in their order."""
    return list(dict.fromkeys(row.metric for row in rows))


def _view(rows: Sequence[Measure], key: str, *, kinds: Mapping[str, str]) -> dict[str, Any]:
    """One table: rows of models in blocks, columns of languages."""
    metric, task = key.split("|")
    known = registry.get("metric", metric)
    tags = sorted(distinct(rows, "language"), key=lambda tag: (tag != "en", tag))
    paint = _painter(rows, known.neutral, bounds=known.bounds)
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        cell = _cell(row, known.neutral) | {"paint": "weak" if row.interpretable is False else paint(row)}
        table.setdefault(model_label(row.group), {"kind": kinds.get(row.group["model"], BLOCKS[2])})[
            row.group["language"]
        ] = cell
    blocks = []
    for block in BLOCKS:
        lines = [
            {"name": name, "cells": [cells.get(tag) for tag in tags]}
            for name, cells in table.items()
            if cells["kind"] == block
        ]
        blocks += [{"name": block, "rows": lines}] if lines else []
    return {
        "key": key,
        "title": f"{known.title}, {'all items' if task == ALL else task}",
        "languages": tags,
        "blocks": blocks,
        "neutral": known.neutral,
        "caution": known.caution,
    }


def _cell(row: Measure, neutral: float | None) -> dict[str, Any]:
    return {
        "value": short(row),
        "ends": ends(row),
        "side": side(row, neutral),
        "n": row.n,
        "why": (row.why or "") + expected(row),
        "doubt": row.doubt if row.interpretable is False else "",
    }


def _painter(rows: Sequence[Measure], neutral: float | None, *, bounds: tuple[float, float]) -> Any:
    """A function from a measure to the class of its colour: nine steps around the neutral point, or nine upwards.

    What cannot be told from neutral stays pale, whatever its value is.
    """
    values = [row.value for row in rows if row.value is not None]
    if neutral is not None:
        least = 10.0 if bounds[1] - bounds[0] == 100 else 1e-9
        half = max([least, *(abs(value - neutral) for value in values)])

        def around(row: Measure) -> str:
            if row.value is None:
                return "none"
            level = round(LEVELS * (row.value - neutral) / half)
            strength = min(abs(level), 1) if side(row, neutral) == "unclear" else abs(level)
            return f"d{'n' if level < 0 else 'p'}{strength}"

        return around
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    span = max(high - low, 20.0 if bounds[1] - bounds[0] == 100 else 1e-9)

    def upwards(row: Measure) -> str:
        return "none" if row.value is None else f"s{round(2 * LEVELS * (row.value - low) / span)}"

    return upwards
