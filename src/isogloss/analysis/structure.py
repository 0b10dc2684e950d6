"""Which stereotypes languages (or models) share: agreement item by item, a tree, and what is common or specific."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from ..errors import IsoglossError, UnknownName
from ..items import ANTI_STEREOTYPE, CONTRAST, STEREOTYPE
from ..metrics import number_clusters
from ..results import Results
from ..scores import Scored
from ..stats.associations import kappa_of_table, ranks
from ..stats.estimates import CONSTANT, fisher_ends
from ..stats.resampling import FEWEST_CLUSTERS, Array, cluster_sums
from .groups import check_rows, group_rows, item_gaps, several_methods

OVER = ("language", "model")
DIMENSIONS = 5  # of a subspace
FEWEST_PAIRS = 2 * DIMENSIONS
SHUFFLES = 20

Side = tuple[Any, Array]  # the preference of each item (0, 1 for a tie, 2), and the rank of its gap


@dataclass(frozen=True, slots=True)
class Overlap:
    """The share of a subspace that another one covers, and that which differences of unrelated sentences cover."""

    value: float
    chance: float


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two languages (or models) are, item by item: kappa of preferences, rank correlation of gaps.

    `overlap` is that of their subspaces, where the runs have vectors.
    """

    a: str
    b: str
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    rho: float | None
    rho_low: float | None
    rho_high: float | None
    n: int
    clusters: int
    why: str | None = None
    overlap: Overlap | None = None


@dataclass(frozen=True, slots=True)
class Merge:
    """Two branches of the tree that join, and at which distance (1 - mean rank correlation)."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    distance: float


@dataclass(frozen=True, slots=True)
class Common:
    """On how many items the stereotype is preferred by exactly k of the units, and by chance if they were independent."""

    units: int
    count: int
    share: float
    expected: float


@dataclass(frozen=True, slots=True)
class Structure:
    """What the units of one group have in common; `specific` is the share of items that only this unit stereotypes."""

    over: str
    group: Mapping[str, str]
    units: tuple[str, ...]
    likeness: tuple[Likeness, ...]
    tree: tuple[Merge, ...]
    common: tuple[Common, ...]
    specific: Mapping[str, float]
    n: int


def find_structure(scored: Scored, *, over: str = "language") -> Results[Structure]:
    """The structure over languages (for each model), or over models (for each language)."""
    if over not in OVER:
        raise UnknownName("column to look over", over, OVER)
    table = check_rows(scored)
    names = sorted(map(str, table[over].unique()))
    if len(names) < 2:
        other = OVER[1 - OVER.index(over)]
        raise IsoglossError(
            f"Structure needs two {over}s or more, and these runs have one only ({names[0]}). "
            f"Give runs of other {over}s, or use `over='{other}'`."
        )
    structure = []
    fixed = ["dataset", OVER[1 - OVER.index(over)], *(["method"] if several_methods(table) else [])]
    for group, part in group_rows(table, fixed, keep_null=True):
        gaps = item_gaps(part)
        wide = gaps.pivot(on=over, index="id", values="gap", maintain_order=True)
        wide = wide.join(gaps.unique("id", maintain_order=True).select("id", "cluster"), on="id", maintain_order="left")
        units = [name for name in names if name in wide.columns]
        whole = wide.drop_nulls(units)
        if len(units) > 1 and whole.height:
            ids = whole["id"].to_list()
            vectors = {unit: _find_vectors(part.filter(pl.col(over) == unit), ids) for unit in units}
            structure.append(_structure(whole, units, over=over, group=group, vectors=vectors))
    if not structure:
        raise IsoglossError(f"No item has scores in two {over}s, so there is nothing to look at across them.")
    return Results(tuple(structure), notes=scored.notes)


def _structure(
    wide: pl.DataFrame,
    units: Sequence[str],
    *,
    over: str,
    group: Mapping[str, str],
    vectors: Mapping[str, tuple[Array, Array] | None],
) -> Structure:
    """What the units have in common; `wide` has the gap of each item in each unit, and `vectors` those of its sentences."""
    index = number_clusters(wide["cluster"])[0]
    gaps = {unit: wide[unit].to_numpy() for unit in units}
    sides = {unit: (np.sign(gap).astype(int) + 1, ranks(gap)) for unit, gap in gaps.items()}
    likeness = []
    for a, b in combinations(units, 2):
        one, two = vectors[a], vectors[b]
        overlap = find_overlap(one, two) if one and two else None
        likeness.append(replace(_likeness((a, b), (sides[a], sides[b]), index=index), overlap=overlap))
    preferred = np.column_stack([gaps[unit] > 0 for unit in units])
    alone = preferred & (preferred.sum(axis=1, keepdims=True) == 1)
    specific = {unit: float(alone[:, i].mean()) for i, unit in enumerate(units)}
    tree, common = _tree(units, likeness), _common(preferred)
    return Structure(over, group, tuple(units), tuple(likeness), tree, common, specific, wide.height)


def _likeness(names: tuple[str, str], sides: tuple[Side, Side], *, index: Any) -> Likeness:
    """Kappa and rank correlation with intervals over clusters; ranks are those of all items."""
    (first, x), (second, y) = sides
    cells = np.bincount(9 * index + 3 * first + second, minlength=9 * (index.max() + 1)).reshape(-1, 9).astype(float)
    moments = cluster_sums(np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y]), index)
    measures = ((lambda sums: kappa_of_table(sums.reshape(-1, 3, 3)), cells), (rho_of_sums, moments))
    clusters = len(cells)
    plain = [float(finish(sums.sum(0)[None])[0]) for finish, sums in measures]
    values = [value if math.isfinite(value) else None for value in plain]
    if clusters < FEWEST_CLUSTERS or None in values:
        why = f"{clusters} clusters; an interval needs {FEWEST_CLUSTERS}" if None not in values else "one never changes"
        return Likeness(*names, values[0], None, None, values[1], None, None, len(x), clusters, why)
    kappa, rho = (fisher_ends(finish, sums) or (None, None) for finish, sums in measures)
    constant = CONSTANT if None in (*kappa, *rho) else None
    return Likeness(*names, values[0], kappa[0], kappa[1], values[1], rho[0], rho[1], len(x), clusters, constant)


def rho_of_sums(sums: Array) -> Array:
    """The correlation from sums of 1, x, y, x², y² and xy, one row of sums each."""
    n, x, y, xx, yy, xy = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y)))


def _tree(units: Sequence[str], likeness: Sequence[Likeness]) -> tuple[Merge, ...]:
    """Average linkage over 1 - rank correlation."""
    if len(units) < 3 or any(pair.rho is None for pair in likeness):
        return ()
    from scipy.cluster.hierarchy import linkage

    distances = np.array([max(0.0, 1 - (pair.rho or 0.0)) for pair in likeness])
    members: list[tuple[str, ...]] = [(unit,) for unit in units]
    merges = []
    for left, right, distance, _ in linkage(distances, method="average"):
        merges.append(Merge(members[int(left)], members[int(right)], float(distance)))
        members.append((*members[int(left)], *members[int(right)]))
    return tuple(merges)


def _common(preferred: Any) -> tuple[Common, ...]:
    """How many items k units stereotype, next to what independent units with the same shares would give."""
    n, units = preferred.shape
    counts = np.bincount(preferred.sum(axis=1), minlength=units + 1)
    expected = np.array([1.0])
    for share in preferred.mean(axis=0):
        expected = np.convolve(expected, [1 - share, share])
    return tuple(Common(k, int(counts[k]), float(counts[k] / n), float(expected[k])) for k in range(units + 1))


# ---- subspaces: whether the directions from contrasts to stereotypes in a model's representations are alike


def _find_vectors(rows: pl.DataFrame, ids: Sequence[str]) -> tuple[Array, Array] | None:
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
    first, other = _directions(a[0] - a[1]), _directions(b[0] - b[1])
    rng = np.random.default_rng(seed)
    mixed = [_shared(first, _directions(b[0] - b[1][rng.permutation(len(b[1]))])) for _ in range(SHUFFLES)]
    return Overlap(_shared(first, other), float(np.mean(mixed)))


def _directions(differences: Array) -> Array:
    """The directions with most of the differences' size, as orthonormal columns."""
    return np.asarray(np.linalg.svd(differences, full_matrices=False)[2][:DIMENSIONS].T)


def _shared(own: Array, other: Array) -> float:
    """The mean squared cosine of the angles between two subspaces."""
    return float(np.sum((own.T @ other) ** 2) / own.shape[1])
