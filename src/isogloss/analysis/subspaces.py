"""Subspaces: whether the directions from contrasts to stereotypes in a model's representations are alike in two languages."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..items import ANTI_STEREOTYPE, CONTRAST, STEREOTYPE
from ..stats.resampling import Array

DIMENSIONS = 5
FEWEST_PAIRS = 2 * DIMENSIONS
SHUFFLES = 20


@dataclass(frozen=True, slots=True)
class Overlap:
    """The share of a subspace that another one covers, and that which differences of unrelated sentences cover."""

    value: float
    chance: float


def find_vectors(rows: pl.DataFrame, ids: Sequence[str]) -> tuple[Array, Array] | None:
    """The vectors of the stereotypes and of their counterparts, one row per item; nothing if an item has none."""
    kept = rows.filter(pl.col("id").is_in(list(ids)) & (pl.col("vector").list.len().fill_null(0) > 0))
    vectors = {(row["id"], row["role"]): row["vector"] for row in kept.iter_rows(named=True)}
    other = CONTRAST if any(role == CONTRAST for _, role in vectors) else ANTI_STEREOTYPE
    if any((name, role) not in vectors for name in ids for role in (STEREOTYPE, other)):
        return None
    first, second = (np.array([vectors[name, role] for name in ids], dtype=float) for role in (STEREOTYPE, other))
    return first, second


def find_overlap(a: tuple[Array, Array], b: tuple[Array, Array], *, seed: int = 0) -> Overlap | None:
    """How far the main directions of the differences of one side lie in those of the other: 1 all, 0 none.

    By chance: the same with stereotypes and counterparts of the second side that do not belong together.
    """
    if len(a[0]) < FEWEST_PAIRS or a[0].shape[1] != b[0].shape[1]:
        return None
    own, other = _directions(a[0] - a[1]), _directions(b[0] - b[1])
    rng = np.random.default_rng(seed)
    mixed = [_shared(own, _directions(b[0] - b[1][rng.permutation(len(b[1]))])) for _ in range(SHUFFLES)]
    return Overlap(_shared(own, other), float(np.mean(mixed)))


def _directions(differences: Array) -> Array:
    """The directions with most of the differences' size, as orthonormal columns."""
    return np.asarray(np.linalg.svd(differences, full_matrices=False)[2][:DIMENSIONS].T)


def _shared(own: Array, other: Array) -> float:
    """The mean squared cosine of the angles between two subspaces."""
    return float(np.sum((own.T @ other) ** 2) / own.shape[1])
