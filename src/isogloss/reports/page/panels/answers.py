"""Answers: how often an instruct model said yes, no or neither, for each prompt and language."""

from typing import Any

import polars as pl

from ....items import group_by
from ...figures.answers import AnswerShare
from ...numbers import language_name, percent
from ..charts import draw_plot_svg
from ..conversations import describe_conversations
from ..data import PageData
from ..parts import Chart, ChartView
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """A panel for each prompt; the reader chooses the model."""
    table = data.extras.answers
    if table is None or not table.height:
        return None
    order = sorted(table["prompt"].unique(), key=lambda name: (name != "stereotype", name))  # the first question first
    table = table.sort(pl.col("prompt").replace_strict(order, range(len(order))), maintain_order=True)
    shares = [AnswerShare(**{**row, "share": 100 * row["share"]}) for row in table.iter_rows(named=True)]
    views = []
    for index, (model, chosen) in enumerate(group_by(shares, lambda share: share.model).items()):
        rows = [
            [share.prompt, language_name(share.language), share.verdict.replace("_", " "), percent(share.share / 100)]
            for share in chosen
        ]
        pictures = draw_plot_svg("answers", chosen, name=f"answers-{index}")
        views.append(ChartView((model,), pictures, ["prompt", "language", "answer", "share"], rows))
    return {
        "chart": Chart("answers-chart", views, "Stacked bars of answers by prompt and language.", choices=("Model",)),
        "conversations": describe_conversations(data.runs),
    }


panel = Panel("What the model answered", order=80, draw=draw)
