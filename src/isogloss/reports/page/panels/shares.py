"""Template shares: how a model divides probability among the terms of a template, as stacked bars per language."""

from typing import Any

import polars as pl

from ...numbers import english_first, language_name, percent
from ..charts import COLOURS, stacked
from ..data import PageData
from ..parts import Figure
from . import Panel

MOST = 7  # terms of a set with a colour of their own
OTHERS = "all others"


def draw(data: PageData) -> dict[str, Any] | None:
    """One chart for each language; the reader chooses model and set. Concepts are sorted by the share of the largest term."""
    table = data.extras.shares
    if table is None or not table.height:
        return None
    keys = table.select("model", "set").unique(maintain_order=True).rows()
    choices = {key: number for number, key in enumerate(keys)}
    table = _pooled(table)
    named = table.filter(pl.col("term") != OTHERS)
    sums = named.group_by("set", "term", maintain_order=True).agg(pl.col("share").sum())
    terms = sums.sort("share", descending=True)["term"].unique(maintain_order=True).to_list()
    order = pl.col("term").replace_strict({**{term: i for i, term in enumerate(terms)}, OTHERS: len(terms)})
    first = pl.col("share").sort_by(order).first().over("model", "language", "set", "concept")
    table = table.sort(first, descending=True, maintain_order=True)
    colours = {term: COLOURS[i % (len(COLOURS) - 1)] for i, term in enumerate(terms)} | {OTHERS: COLOURS[-1]}
    figures = [
        _figure(tag, table.filter(pl.col("language") == tag), choices=choices, colours=colours)
        for tag in english_first(table["language"])
    ]
    return {
        "figures": figures,
        "options": {str(number): ", ".join(key) for key, number in choices.items()},
        "legend": [{"name": name, "colour": colour, "sign": "■"} for name, colour in colours.items()],
        "repeated": len(terms) > len(COLOURS) - 1,
    }


def _pooled(table: pl.DataFrame) -> pl.DataFrame:
    """The table with the largest terms of each set; what the others have is summed up."""
    key = ["model", "language", "set", "concept"]
    sums = table.group_by("set", "term").agg(pl.col("share").sum()).sort("share", "term", descending=[True, False])
    kept = sums.group_by("set", maintain_order=True).head(MOST).select("set", "term")
    small = table.join(kept, on=["set", "term"], how="anti")
    rest = small.group_by(key, maintain_order=True).agg(pl.col("share").sum())
    large = table.join(kept, on=["set", "term"], how="semi", maintain_order="left")
    return pl.concat([large, rest.with_columns(term=pl.lit(OTHERS))], how="diagonal_relaxed")


def _figure(tag: str, table: pl.DataFrame, *, choices: dict[Any, int], colours: dict[str, str]) -> Figure:
    order, rows, cells = list(colours), [], []
    for row in table.iter_rows(named=True):
        concept, term, share = row["concept"], row["term"], percent(row["share"], (row.get("low"), row.get("high")))
        cells.append([concept, term, share])
        rows.append(
            {
                "cell": choices[row["model"], row["set"]],
                "concept": concept,
                "term": term,
                "order": order.index(term),
                "share": row["share"],
                "tip": f"{concept}, {term}: {share}",
            }
        )
    return Figure(
        f"shares-{tag}",
        stacked(rows, line="concept", part="term", colours=colours),
        label=f"Stacked bars of the terms' shares in {language_name(tag)}; all values are in the table below.",
        caption=language_name(tag),
        heading=["concept", "term", "share"],
        rows=cells,
        keys=[str(row["cell"]) for row in rows],
    )


panel = Panel("Shares in templates", order=70, draw=draw)
