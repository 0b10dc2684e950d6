"""Template shares: how a model divides probability among the terms of a template, as stacked bars per language."""

from __future__ import annotations

from typing import Any

import polars as pl

from ..charts import COLOURS, legend, stacked, style_of
from ..data import PageData
from ..parts import Figure, Panel, language_name, panel


def draw(data: PageData) -> Panel | None:
    """One chart for each language; the reader chooses model and set."""
    table = data.extras.shares
    if table is None or not table.height:
        return None
    choices = {
        key: number for number, key in enumerate(table.select("model", "set").unique(maintain_order=True).rows())
    }
    terms = table["term"].unique(maintain_order=True).to_list()
    figures = [
        _figure(tag, table.filter(pl.col("language") == tag), choices=choices, terms=terms)
        for tag in table["language"].unique(maintain_order=True)
    ]
    names = [{**one, "sign": "■"} for one in legend(terms)]
    options = {str(number): ", ".join(key) for key, number in choices.items()}
    return panel(
        "shares",
        "Shares in templates",
        figures=figures,
        options=options,
        legend=names,
        repeated=len(terms) > len(COLOURS),
    )


def _figure(tag: str, table: pl.DataFrame, *, choices: dict[Any, int], terms: list[str]) -> Figure:
    rows = [
        {
            "cell": choices[row["model"], row["set"]],
            "concept": row["concept"],
            "term": row["term"],
            "order": terms.index(row["term"]),
            "share": row["share"],
            "tip": f"{row['concept']}, {row['term']}: {_number(row)}",
        }
        for row in table.iter_rows(named=True)
    ]
    return Figure(
        f"shares-{tag}",
        stacked(rows, line="concept", part="term", colours={term: style_of(i)[0] for i, term in enumerate(terms)}),
        label=f"Stacked bars of the terms' shares in {language_name(tag)}; all values are in the table below.",
        caption=language_name(tag),
        heading=["concept", "term", "share"],
        rows=[[row["concept"], row["term"], _number(row)] for row in table.iter_rows(named=True)],
        keys=[str(row["cell"]) for row in rows],
    )


def _number(row: dict[str, Any]) -> str:
    """A share in per cent, with its interval where it has one."""
    ends = (row.get("low"), row.get("high"))
    interval = "" if None in ends else f" [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]"  # type: ignore[operator]
    return f"{100 * row['share']:.1f} %{interval}"
