"""How two lists of numbers, or of labels, go together: correlations with intervals, and agreement beyond chance."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .resampling import Array

FEWEST_UNITS = 4

_Excess = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation with its interval; without one, `why` says why."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    why: str | None = None


def pearson(x: Array, y: Array, *, level: float = 0.95) -> Correlation:
    """Pearson's r with Fisher's interval."""
    return _correlation(_r(x, y), len(x), excess=lambda r: 1.0, level=level)


def spearman(x: Array, y: Array, *, level: float = 0.95) -> Correlation:
    """Spearman's rho (tied ranks averaged) with the interval of Bonett and Wright (2000)."""
    return _correlation(_r(ranks(x), ranks(y)), len(x), excess=lambda r: 1 + r**2 / 2, level=level)


def ranks(values: Array) -> Array:
    """The rank of each value from 1 on; equal values share their mean rank."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[index], dtype=np.float64)


def _r(x: Array, y: Array) -> float | None:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    a, b = x - x.mean(), y - y.mean()
    return float(np.clip((a @ b) / math.sqrt(float(a @ a) * float(b @ b)), -1, 1))


def _correlation(r: float | None, n: int, *, excess: _Excess, level: float) -> Correlation:
    if r is None:
        return Correlation(None, None, None, n, "one of the two never changes" if n > 1 else f"{n} values")
    if n < FEWEST_UNITS:
        return Correlation(r, None, None, n, f"{n} values; an interval needs {FEWEST_UNITS}")
    if abs(r) >= 1 - 1e-15:
        return Correlation(r, None, None, n, "the correlation is perfect, so it has no interval")
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(excess(r) / (n - 3))
    return Correlation(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half), n)


def kappa_of_table(table: Array) -> Array:
    """Cohen's kappa of tables of counts [..., k, k]: agreement beyond what the margins alone would give."""
    total = table.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = np.trace(table, axis1=-2, axis2=-1) / total
        chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / total**2
        return np.asarray((seen - chance) / (1 - chance), dtype=np.float64)


def kappa(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Cohen's kappa of two lists of labels; nothing when chance alone agrees always."""
    names = {name: i for i, name in enumerate(dict.fromkeys([*a, *b]))}
    table = np.zeros((len(names), len(names)))
    np.add.at(table, ([names[x] for x in a], [names[y] for y in b]), 1.0)
    value = float(kappa_of_table(table))
    return None if math.isnan(value) else value


def agreement_sums(counts: Array, own: Array | None = None) -> Array:
    """Per unit, from how often it got each label [units, labels]: what `alpha_of_sums` and `ac1_of_sums` add up.

    Units with fewer than two labels say nothing about agreement and count for nothing. Where annotators have weights,
    `counts` adds the weights and `own` their squares, so that nobody is compared with himself.
    """
    sizes = counts.sum(axis=1)
    own = sizes if own is None else own
    compared = sizes**2 - own > 0.5
    pairs = np.where(compared, sizes**2 - own, 1.0)
    agreeing = ((counts**2).sum(axis=1) - own) / pairs
    used = compared.astype(np.float64)
    shares = counts / np.maximum(sizes, 1)[:, None]
    return np.column_stack(
        [used, used * agreeing, used * sizes * (1 - agreeing), used[:, None] * counts, used[:, None] * shares]
    )


def alpha_of_sums(sums: Array) -> Array:
    """Krippendorff's alpha for nominal labels: 1 - observed / expected disagreement; labels may be missing."""
    labels = (sums.shape[-1] - 3) // 2
    counts = sums[..., 3 : 3 + labels]
    total = counts.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = sums[..., 2] / total
        expected = (total**2 - (counts**2).sum(axis=-1)) / (total * (total - 1))
        return np.asarray(1 - observed / expected, dtype=np.float64)


def ac1_of_sums(sums: Array) -> Array:
    """Gwet's AC1: agreement beyond chance, where chance is the same label by guessing among hard units."""
    labels = (sums.shape[-1] - 3) // 2
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = sums[..., 3 + labels :] / sums[..., :1]
        chance = (shares * (1 - shares)).sum(axis=-1) / (labels - 1)
        return np.asarray((sums[..., 1] / sums[..., 0] - chance) / (1 - chance), dtype=np.float64)
