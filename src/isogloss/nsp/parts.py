"""Pairs from disk: a folder that `nsp data` wrote, read in any order, one part in memory at a time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..errors import BadData, IsoglossError
from .data import CARD, ROWS, SCHEMA
from .sentence_store import Index

BROKEN = "the part is missing or broken. Build the data again with: isogloss nsp data"


@dataclass(frozen=True, slots=True)
class PairSplit:
    """The pairs of one split of a folder: how many there are, and where they lie."""

    folder: Path
    name: str
    count: int
    parts: int
    card: dict[str, Any] = field(repr=False, compare=False)

    def read(self, indices: Index) -> pl.DataFrame:
        """The pairs at these places, in this order."""
        tables, order = [], []
        for part in np.unique(indices // ROWS):
            here = np.flatnonzero(indices // ROWS == part)
            tables.append(_read_part(self.folder, self.name, number=int(part))[indices[here] % ROWS])
            order.append(here)
        return pl.concat(tables)[np.argsort(np.concatenate(order), kind="stable")]

    def head(self, most: int | None) -> pl.DataFrame:
        """The first pairs, which are a random sample, since the pairs were shuffled when they were written."""
        return self.read(np.arange(self.count if most is None else min(most, self.count)))


def read_card(folder: Path) -> dict[str, Any]:
    """What `data.json` says."""
    path = folder / CARD
    if not path.is_file():
        raise IsoglossError(f"{folder} holds no pairs: it has no {CARD}. Build them with: isogloss nsp data")
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadData(path, None, "not JSON. Build the data again with: isogloss nsp data") from error
    if not isinstance(card, dict) or card.get("schema") != SCHEMA:
        raise BadData(path, None, "was written by another version. Build the data again with: isogloss nsp data")
    return card


def open_split(folder: Path, name: str) -> PairSplit:
    """A split of the folder; one without pairs is refused."""
    card = read_card(folder)
    facts = card["splits"][name]
    if not facts["pairs"]:
        raise IsoglossError(f"{folder} has no {name} pairs. Build the data again with a share of {name} above 0.")
    return PairSplit(folder, name, int(facts["pairs"]), int(facts["parts"]), card)


@lru_cache(maxsize=2)
def _read_part(folder: Path, name: str, *, number: int) -> pl.DataFrame:
    stem = folder / name / f"part-{number:05d}"
    try:
        if stem.with_suffix(".parquet").exists():
            return pl.read_parquet(stem.with_suffix(".parquet"))
        return pl.read_ndjson(stem.with_suffix(".jsonl"))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BadData(stem, None, BROKEN) from error


def epoch_order(split: PairSplit, *, seed: int, epoch: int) -> Index:
    """The order of an epoch's pairs: parts in random order, and pairs in random order within each."""
    rng = np.random.default_rng([seed, epoch])
    starts = rng.permutation(split.parts) * ROWS
    return np.concatenate([start + rng.permutation(min(ROWS, split.count - start)) for start in starts])
