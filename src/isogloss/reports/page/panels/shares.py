"""Template shares: how a model divides probability among the terms of a template, as stacked bars per language."""

from __future__ import annotations

from typing import Any

import polars as pl

from ...numbers import english_first, language_name, percent
from ..charts import COLOURS, legend, stacked, style_of
from ..data import PageData
from ..parts import Figure
from . import Panel


def draw(data: PageData) -> dict[str, Any] | None:
    """One chart for each language; the reader chooses model and set. Concepts are sorted by the share of the largest term."""
    table = data.extras.shares
    if table is None or not table.height:
        return None
    choices = {
        key: number for number, key in enumerate(table.select("model", "set").unique(maintain_order=True).rows())
    }
    largest = table.group_by("term", maintain_order=True).agg(pl.col("share").sum()).sort("share", descending=True)
    terms = largest["term"].to_list()
    first = pl.col("share").filter(pl.col("term") == terms[0]).sum().over("model", "language", "set", "concept")
    table = table.sort(first, descending=True, maintain_order=True)
    figures = [
        _figure(tag, table.filter(pl.col("language") == tag), choices=choices, terms=terms)
        for tag in english_first(table["language"])
    ]
    return {
        "figures": figures,
        "options": {str(number): ", ".join(key) for key, number in choices.items()},
        "legend": [{**one, "sign": "■"} for one in legend(terms)],
        "repeated": len(terms) > len(COLOURS),
    }


def _figure(tag: str, table: pl.DataFrame, *, choices: dict[Any, int], terms: list[str]) -> Figure:
    rows = [
        {
            "cell": choices[row["model"], row["set"]],
            "concept": row["concept"],
            "term": row["term"],
            "order": terms.index(row["term"]),
            "share": row["share"],
            "tip": f"{row['concept']}, {row['term']}: {percent(row['share'], row.get('low'), row.get('high'))}",
        }
        for row in table.iter_rows(named=True)
    ]
    return Figure(
        f"shares-{tag}",
        stacked(rows, line="concept", part="term", colours={term: style_of(i)[0] for i, term in enumerate(terms)}),
        label=f"Stacked bars of the terms' shares in {language_name(tag)}; all values are in the table below.",
        caption=language_name(tag),
        heading=["concept", "term", "share"],
        rows=[
            [row["concept"], row["term"], percent(row["share"], row.get("low"), row.get("high"))]
            for row in table.iter_rows(named=True)
        ],
        keys=[str(row["cell"]) for row in rows],
    )


panel = Panel("Shares in templates", order=70, draw=draw)
