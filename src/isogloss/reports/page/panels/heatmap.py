"""The heat map: models by languages, one table for each metric and task."""

from collections.abc import Mapping, Sequence
from typing import Any

from .... import registry
from ....analysis.headlines import leading_headlines, main_metric
from ....analysis.measures import Measure
from ...chart_data import datasets, distinct, lines_by_kind, model_kinds, without_task
from ...numbers import ends, english_first, metric_name, model_label, short, side
from ..data import PageData
from . import Panel

ALL = "all"
LEVELS = 4


def draw(data: PageData) -> dict[str, Any] | None:
    """One map for each data set."""
    kinds = model_kinds(data.runs, data.extras.facts)
    maps = [_map(name, rows, kinds=kinds) for name, rows in datasets(data.overall).items()]
    return {"maps": maps} if maps else None


def _map(name: str, rows: Sequence[Measure], *, kinds: Mapping[str, str]) -> dict[str, Any]:
    names = dict.fromkeys(row.metric for row in rows)
    first = leading_headlines(names)
    metrics = list(dict.fromkeys([*([main_metric(first)] if first else []), *first, *names]))
    tasks = distinct(rows, "task")
    tasks = [ALL, *tasks] if len(tasks) > 1 else [ALL]
    total = without_task(rows)
    views, weak = [], False
    for metric in metrics:
        for task in tasks:
            kept = total if task == ALL else [row for row in rows if row.group.get("task") == task]
            shown = [row for row in kept if row.metric == metric]
            views.append(_view(shown, f"{metric}|{task}", kinds=kinds))
            weak = weak or any(row.interpretable is False and row.doubt for row in shown)
    keys = [{"key": metric, "name": metric_name(metric)} for metric in metrics]
    return {"dataset": name, "metrics": keys, "tasks": tasks, "views": views, "weak": weak}


def _view(rows: Sequence[Measure], key: str, *, kinds: Mapping[str, str]) -> dict[str, Any]:
    """One table: rows of models in blocks, columns of languages."""
    metric, task = key.split("|")
    known = registry.get("metric", metric)
    tags = english_first(distinct(rows, "language"))
    paint = _painter(rows, known.neutral, bounds=known.bounds)
    cells = {
        (model_label(row.group), row.group["language"]): {
            "value": short(row),
            "ends": ends(row),
            "side": side(row, known.neutral),
            "doubt": row.doubt if row.interpretable is False else "",
            "paint": "weak" if row.interpretable is False else paint(row),
        }
        for row in rows
    }
    blocks: dict[str, list[dict[str, Any]]] = {}
    for name, kind in lines_by_kind(rows, kinds):
        blocks.setdefault(kind, []).append({"name": name, "cells": [cells.get((name, tag)) for tag in tags]})
    return {
        "key": key,
        "title": f"{known.title}, {'all items' if task == ALL else task}",
        "languages": tags,
        "blocks": [{"name": f"{kind.title()} models", "rows": lines} for kind, lines in blocks.items()],
        "neutral": known.neutral,
        "caution": known.caution,
    }


def _painter(rows: Sequence[Measure], neutral: float | None, *, bounds: tuple[float, float]) -> Any:
    """A function from a measure to the class of its colour: nine steps around the neutral point, or nine upwards.

    What cannot be told from neutral stays pale, whatever its value is.
    """
    values = [row.value for row in rows if row.value is not None]
    per_cent = bounds[1] - bounds[0] == 100
    low = min(values, default=0.0)
    span = max(max(values, default=1.0) - low, 20.0 if per_cent else 1e-9)
    half = max([10.0 if per_cent else 1e-9, *(abs(value - neutral) for value in values if neutral is not None)])

    def paint(row: Measure) -> str:
        if row.value is None:
            return "none"
        if neutral is None:
            return f"s{round(2 * LEVELS * (row.value - low) / span)}"
        level = round(LEVELS * (row.value - neutral) / half)
        strength = min(abs(level), 1) if side(row, neutral) == "unclear" else abs(level)
        return f"d{'n' if level < 0 else 'p'}{strength}"

    return paint


panel = Panel("Models and languages", order=20, draw=draw)
