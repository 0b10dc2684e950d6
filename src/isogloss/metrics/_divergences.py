"""Divergences between terms: per set, one row per template and one column per ordered pair of terms."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from ..stats.resampling import Array
from ._pairs import ITEM


@dataclass(frozen=True, slots=True)
class PairTable:
    """A set's divergences [templates, pairs], the pairs' terms, the templates' clusters, the size of the vocabulary."""

    model: str
    language: str
    set: str
    values: Array
    pairs: tuple[tuple[str, str], ...]
    clusters: tuple[str, ...]
    vocabulary: int


@dataclass(frozen=True, slots=True)
class LargestPair:
    """A set's ordered pair of terms with the largest mean divergence: in nats, and by the vocabulary's size as published."""

    model: str
    language: str
    set: str
    first: str
    second: str
    nats: float
    per_token: float


def pair_tables(rows: pl.DataFrame) -> list[PairTable]:
    """The divergences of a table of scores, set by set; pairs that not all templates of a set have are left out."""
    names = rows.select(*ITEM, "candidate", "role").unique().rename({"candidate": "against", "role": "other"})
    table = rows.drop_nulls(["against", "value"]).join(names, on=[*ITEM, "against"], maintain_order="left")
    key = ["model", "method", "dataset", "language", *(["set"] if "set" in table.columns else [])]
    tables = []
    for _, part in table.group_by(key, maintain_order=True):
        templates = [template for _, template in part.group_by(ITEM, maintain_order=True)]
        values_of = [dict(zip(zip(t["role"], t["other"], strict=True), t["value"], strict=True)) for t in templates]
        pairs = tuple(sorted(set.intersection(*map(set, values_of))))
        values = np.array([[row[pair] for pair in pairs] for row in values_of]).reshape(len(values_of), len(pairs))
        name = str(part["set"][0]) if "set" in part.columns else ""
        where = (str(part["model"][0]), str(part["language"][0]), name)
        clusters = tuple(str(template["cluster"][0]) for template in templates)
        size = int(part["tokens"].max() or 1)  # type: ignore[arg-type]
        tables.append(PairTable(*where, values, pairs, clusters, size))
    return tables


def largest_pairs(rows: pl.DataFrame) -> list[LargestPair]:
    """For each set the pair of terms between which the divergence, averaged over templates, is largest."""
    largest = []
    for table in pair_tables(rows):
        if table.pairs:
            means = table.values.mean(0)
            (first, second), nats = table.pairs[int(means.argmax())], float(means.max())
            where = (table.model, table.language, table.set)
            largest.append(LargestPair(*where, first, second, nats, nats / table.vocabulary))
    return largest
