"""Shuffled pairs (Shf): sentences of two groups paired at random; how often is the second group's the more likely one?"""

import hashlib
from dataclasses import replace

import polars as pl

from . import TIES, Contribution, Origin
from ._pairs import group_order, is_task, named_groups, pair_metric, share_won


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """Each group in an order that its ids alone decide, the first of one with the first of the other, and so on."""
    low, high = group_order(rows)
    random_key = pl.col("id").map_elements(
        lambda name: hashlib.sha256(name.encode()).hexdigest(), return_dtype=pl.String
    )
    ordered = rows.sort(random_key)
    won, lost = (ordered.filter(pl.col("role") == role) for role in (high, low))
    size = min(won.height, lost.height)
    pairs = won.head(size).select("id", "cluster", won="value").with_columns(lost=lost.head(size)["value"])
    return replace(share_won(pairs, mode=mode, neutral_counts=True), groups=named_groups(rows))


metric = pair_metric(
    title="Shuffled pairs (Shf)",
    formula="100/N Σ [A(m) > A(f)] over N pairs of a sentence m of the second group (male) and a sentence f of the first (female), drawn at random",
    citation="Kaneko et al. (2022), section 5.1",
    caution="This is a baseline for MBE: the two sentences of a pair are unrelated.",
    contribute=contribute,
    fits=lambda rows: is_task(rows, "sentence") and rows["role"].n_unique() == 2,
    short="shf",
    origin=Origin(
        code="None was published.",
        ours="Pairs are drawn once, in an order that the ids decide; a tie counts one half, in the mode paper for the first group.",
        modes=TIES,
    ),
    order=16,
)
