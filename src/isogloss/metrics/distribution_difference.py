"""Distribution difference: how far apart the two terms lie for which the model expects the most different words."""

import numpy as np
import polars as pl

from ..stats.resampling import Array
from . import Contribution, NumberFormat, Origin, from_values
from ._divergences import pair_tables
from ._templates import mean_present, unevenness_metric


def contribute(rows: pl.DataFrame, mode: str) -> Contribution:
    """The largest divergence per template, averaged; as published, a set's largest average, by the vocabulary's size."""
    tables = [table for table in pair_tables(rows) if table.pairs]
    clusters = [name for table in tables for name in table.clusters]
    if mode == "corrected":
        return from_values(np.array([value for table in tables for value in table.values.max(1)]), clusters)
    labels = tuple(dict.fromkeys(clusters))

    def evaluate(weights: Array) -> Array:
        largest = []
        with np.errstate(invalid="ignore", divide="ignore"):
            for table in tables:
                chosen = weights[:, [labels.index(name) for name in table.clusters]]
                means = chosen @ table.values / chosen.sum(1, keepdims=True)
                largest.append(means.max(1) / table.vocabulary)
        return mean_present(largest, len(weights))

    return Contribution(labels, evaluate, len(clusters))


metric = unevenness_metric(
    title="Distribution difference",
    formula="mean over templates of the largest KL(p_n ‖ p_m) over ordered pairs of terms, in nats; "
    "paper: divergences are averaged over templates before the maximum, and divided by the size of the vocabulary; for several sets, the mean over them",
    citation="BehnamGhader and Milios (2022), after Liang et al. (2021)",
    caution="It grows with the number of terms and with noise, and has no direction. For a causal model, only the first token counts.",
    contribute=contribute,
    quantity="kl",
    short="distribution difference",
    format=NumberFormat(paper=".2e"),  # as published it is divided by the size of the vocabulary
    origin=Origin(
        code="Divergences are averaged over the templates of a set before the maximum is taken, and divided by the size of the vocabulary.",
        ours="The largest divergence of each template in nats, then their mean; the mode paper follows the code.",
        modes="divergences averaged over templates before the maximum, divided by the size of the vocabulary, as published",
    ),
    order=10,
)
