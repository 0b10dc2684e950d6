"""Periphrasis: how far the terms' shares move when people are named by where they are from instead of by a demonym."""

import polars as pl

from . import Contribution, Origin
from ._templates import fraction_metric, is_templates, mean_over_items, read_term_items


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Per wording and concept: half the sum of the differences between the shares of both ways to say it."""
    frames = {item.id: item for item in read_term_items(rows)}
    distances, paired = [], []
    for name, other in _counterparts(rows).items():
        long, short = frames.get(name), frames.get(other)
        if long is not None and short is not None and long.terms == short.terms:
            distances.append(float(abs(long.shares - short.shares).sum() / 2))
            paired.append(long)
    return mean_over_items(distances, paired)


def _counterparts(rows: pl.DataFrame) -> dict[str, str]:
    """For each item of a periphrasis, the item of the demonym: the same wording and concept."""
    columns = ["id", "set", "wording", "concept", "periphrasis_of"]
    table = rows.select(columns).unique(maintain_order=True)
    names = {(s, w, c): name for name, s, w, c, _ in table.iter_rows()}
    return {
        name: names[source, wording, concept]
        for name, _, wording, concept, source in table.iter_rows()
        if source is not None and (source, wording, concept) in names
    }


def fits(rows: pl.DataFrame) -> bool:
    """Whether the rows hold both ways to say it."""
    return is_templates(rows) and "periphrasis_of" in rows.columns and bool(_counterparts(rows))


metric = fraction_metric(
    title="Distance between demonym and periphrasis",
    formula="mean over wordings and concepts of ½ Σ over terms n of |share of n as demonym - share of n as 'people from'|",
    citation="after BehnamGhader and Milios (2022), figure 4",
    caution="0 means that both wordings give the same shares, 1 that they have nothing in common. It measures the effect of wording, not bias; group by category, not by set.",
    neutral=0,
    contribute=contribute,
    fits=fits,
    short="periphrasis",
    origin=Origin(
        code="The paper shows the two ways to say it in a figure; no number was published.",
        ours="As defined; both modes are the same.",
    ),
    order=60,
)
