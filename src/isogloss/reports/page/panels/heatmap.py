"""The heat map: models by languages, one view for each metric and task."""

from collections.abc import Mapping, Sequence
from typing import Any

from .... import registry
from ....analysis.headlines import leading_headlines, main_metric
from ....analysis.measures import Measure
from ...chart_data import datasets, distinct, model_kinds, without_task
from ...figures.heatmap import HeatmapTable
from ...numbers import english_first, language_name, metric_name, model_label, number
from ...pivots import pivot
from ...text.measures import doubts
from ...text.sentences import state_findings
from ..charts import draw_plot_svg
from ..data import PageData
from ..parts import Chart, ChartView
from . import Panel

ALL = "all"


def draw(data: PageData) -> dict[str, Any] | None:
    """For each data set its map, the finding, what is doubtful, and its remarks."""
    kinds = model_kinds(data.runs, data.extras.facts)
    maps = []
    for name, rows in datasets(data.overall).items():
        whole = without_task(rows)
        words = {"finding": state_findings(whole, values=False), "doubts": doubts(whole)}
        maps.append(_map(name, rows, kinds=kinds) | words | {"remarks": data.remarks.get(name, ())})
    return {"maps": maps, "facts": _count(data)} if maps else None


def _count(data: PageData) -> list[dict[str, str]]:
    """What was measured; an item counts once in all its languages."""
    counts = {
        "models": len(distinct(data.overall, "model")),
        "languages": len(distinct(data.overall, "language")),
        "items": data.scored.table.select("dataset", "id").n_unique(),
        "data sets": len(distinct(data.overall, "dataset")),
    }
    return [{"value": f"{count:,}", "name": name} for name, count in counts.items()]


def _map(dataset: str, rows: Sequence[Measure], *, kinds: Mapping[str, str]) -> dict[str, Any]:
    names = dict.fromkeys(row.metric for row in rows)
    first = leading_headlines(names)
    metrics = list(dict.fromkeys([main_metric(names), *first, *names]))
    tasks = distinct(rows, "task")
    total = without_task(rows)
    views: list[ChartView] = []
    for metric in metrics:
        for task in [ALL, *tasks] if len(tasks) > 1 else [ALL]:
            kept = total if task == ALL else [row for row in rows if row.group.get("task") == task]
            metric_rows = [row for row in kept if row.metric == metric and row.value is not None]
            if metric_rows:
                views.append(_view(f"heat-{dataset}-{len(views)}", metric_rows, kinds=kinds, task=task))
    label = f"Heat map of models and languages on {dataset}."
    return {
        "dataset": dataset,
        "chart": Chart(f"heat-{dataset}", views, label, choices=("Metric", "Items")),
        "weak": any(row.interpretable is False for row in rows),
        "neutral": any(registry.get("metric", name).neutral is not None for name in metrics),
    }


def _view(name: str, rows: Sequence[Measure], *, kinds: Mapping[str, str], task: str) -> ChartView:
    """One map, and its numbers: lines of models, columns of languages."""
    table = HeatmapTable(rows[0].group["dataset"], rows[0].metric, tuple(rows), kinds)
    cells = pivot(rows, line=lambda row: (model_label(row.group),), column=lambda row: (row.group["language"],))
    tags = english_first(tag for (tag,) in cells.columns)
    texts = [
        [model, *(number(row) if (row := cells.get((model,), (tag,))) else "-" for tag in tags)]
        for (model,) in cells.lines
    ]
    pictures = draw_plot_svg("heatmap", [table], name=name)
    return ChartView((metric_name(table.metric), task), pictures, ["model", *map(language_name, tags)], texts)


panel = Panel("Models and languages", order=1, draw=draw)
