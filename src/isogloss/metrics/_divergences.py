"""Divergences between terms: per set, one row per template and one column per ordered pair of terms."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from ..stats.resampling import Array
from ._templates import ITEM


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
    return [_pair_table(part) for _, part in table.group_by(key, maintain_order=True)]


def _pair_table(rows: pl.DataFrame) -> PairTable:
    values_of: list[dict[tuple[str, str], float]] = []
    clusters = []
    for _, part in rows.group_by(ITEM, maintain_order=True):
        values_of.append(dict(zip(zip(part["role"], part["other"], strict=True), part["value"], strict=True)))
        clusters.append(str(part["cluster"][0]))
    pairs = sorted(set.intersection(*map(set, values_of)))
    values = np.array([[row[pair] for pair in pairs] for row in values_of]).reshape(len(values_of), len(pairs))
    name = str(rows["set"][0]) if "set" in rows.columns else ""
    size = int(rows["tokens"].max() or 1)  # type: ignore[arg-type]
    where = (str(rows["model"][0]), str(rows["language"][0]), name)
    return PairTable(*where, values, tuple(pairs), tuple(clusters), size)


def largest_pairs(rows: pl.DataFrame) -> list[LargestPair]:
    """For each set the pair of terms between which the divergence, averaged over templates, is largest."""
    pairs = []
    for table in pair_tables(rows):
        if not table.pairs:
            continue
        means = table.values.mean(0)
        widest = int(means.argmax())
        first, second = table.pairs[widest]
        largest = float(means[widest])
        where = (table.model, table.language, table.set)
        pairs.append(LargestPair(*where, first, second, largest, largest / table.vocabulary))
    return pairs
