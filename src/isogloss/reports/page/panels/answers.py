"""Answers: how often an instruct model said yes, no or neither, for each prompt and language."""

from typing import Any

import polars as pl

from ...numbers import english_first, language_name, percent, plain_name
from ..charts import stacked
from ..data import PageData
from ..parts import Figure
from . import Panel

COLOURS = {
    "yes": "#d2700a",
    "no": "#3a7fc2",
    "none": "#7d838c",
    "refused": "#8467c9",
    "restated": "#b0557a",
    "unclear": "#4f9d8f",
    "off_topic": "#8f8120",
    "empty": "#7d838c",
    "other_language": "#1490a8",
}
SPARE = ("#1d9a6c", "#c8599f")


def draw(data: PageData) -> dict[str, Any] | None:
    """One chart for each prompt; the reader chooses the model."""
    table = data.extras.answers
    if table is None or not table.height:
        return None
    models = table["model"].unique(maintain_order=True).to_list()
    verdicts = table["verdict"].unique(maintain_order=True).to_list()
    others = [verdict for verdict in verdicts if verdict not in COLOURS]
    colours = {verdict: colour for verdict, colour in COLOURS.items() if verdict in verdicts}
    colours |= {verdict: SPARE[number % len(SPARE)] for number, verdict in enumerate(others)}
    figures = [
        _figure(number, table.filter(pl.col("prompt") == prompt), models=models, colours=colours)
        for number, prompt in enumerate(table["prompt"].unique(maintain_order=True))
    ]
    names = [{"name": name, "colour": colour, "sign": "■"} for name, colour in colours.items()]
    options = {str(number): model for number, model in enumerate(models)}
    return {"figures": figures, "options": options, "legend": names}


def _figure(number: int, table: pl.DataFrame, *, models: list[str], colours: dict[str, str]) -> Figure:
    order = list(colours)
    tags = english_first(table["language"])
    ordered = sorted(table.iter_rows(named=True), key=lambda row: tags.index(row["language"]))
    rows = [
        {
            "cell": models.index(row["model"]),
            "language": plain_name(row["language"]),
            "verdict": row["verdict"],
            "order": order.index(row["verdict"]),
            "share": row["share"],
            "tip": f"{language_name(row['language'])}, {row['verdict']}: {percent(row['share'])}",
        }
        for row in ordered
    ]
    prompt = table["prompt"][0]
    return Figure(
        f"answers-{number}",
        stacked(rows, line="language", part="verdict", colours=colours),
        label=f"Stacked bars of the answers to the prompt '{prompt}' by language; all values are in the table below.",
        caption=prompt,
        heading=["language", "answer", "share"],
        rows=[[language_name(row["language"]), row["verdict"], percent(row["share"])] for row in ordered],
        keys=[str(row["cell"]) for row in rows],
    )


panel = Panel("What the model answered", order=80, draw=draw)
