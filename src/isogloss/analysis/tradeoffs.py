"""LMS against SS, weighted as a reader needs: which models no other beats in both, and how stable the first place is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from .. import registry
from ..scores import Scored
from ..stats.resampling import Array, resampling_weights
from .alignment import CLUSTERS, ITEMS, align
from .competence import find_competence
from .groups import check_rows, default_groups, make_part
from .intervals import IntervalSettings

WEIGHTS = np.linspace(0, 1, 21)  # of LMS; the rest is the weight of the distance of SS from 50
MOST_RESAMPLES = 2_000
METRICS = ("lms", "ss")


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """A model among others on the same items: LMS, SS, and how often it is on the Pareto front over resamples.

    `first` has, for each weight of LMS, the share of resamples in which the weighted mean of LMS and of
    100 - 2·|SS - 50| puts the model first; `on_front` is whether no model is better in one and as good in the other.
    Where SS is not `interpretable`, nearness to 50 is no merit.
    """

    model: str
    dataset: str
    language: str
    lms: float
    ss: float
    on_front: bool
    front_share: float
    first: tuple[float, ...]
    interpretable: bool | None = None


def find_tradeoffs(
    scored: Scored, *, mode: str = "corrected", settings: IntervalSettings | None = None
) -> list[Tradeoff]:
    """The trade-off of all models of each data set and language that has several, over all tasks, on shared resamples."""
    drawing = settings or IntervalSettings()
    groups: dict[tuple[str, str], dict[str, pl.DataFrame]] = {}
    for group, rows in default_groups(check_rows(scored), []):
        name = " · ".join(group[key] for key in ("model", "method") if key in group)
        groups.setdefault((group["dataset"], group["language"]), {})[name] = rows
    tradeoffs: list[Tradeoff] = []
    for (dataset, language), models in groups.items():
        if len(models) > 1:
            sides = [(rows, registry.get("metric", name)) for rows in models.values() for name in METRICS]
            aligned = align([rows for rows, _ in sides], [metric for _, metric in sides], mode=mode)
            if aligned is not None and aligned.common in (ITEMS, CLUSTERS):
                count = min(drawing.resamples, MOST_RESAMPLES)
                weights = resampling_weights(len(aligned.sides[0].clusters), resamples=count, seed=drawing.seed)
                drawn = [np.stack([side.evaluate(part) for side in aligned.sides]) for part in weights]
                plain = np.array([side.value for side in aligned.sides])
                drawn_rows = _tradeoffs(
                    list(models), plain, drawn=np.concatenate(drawn, axis=1), where=(dataset, language)
                )
                for row in drawn_rows:
                    known = find_competence(make_part(models[row.model]), mode=mode, drawing=drawing)
                    tradeoffs.append(replace(row, interpretable=known.interpretable))
    return tradeoffs


def _tradeoffs(names: list[str], plain: Array, *, drawn: Array, where: tuple[str, str]) -> Iterator[Tradeoff]:
    """`plain` and `drawn` have LMS and SS of each model in turn; `drawn` a column for each resample."""
    lms, ss = drawn[0::2], drawn[1::2]
    fairness = 100 - 2 * np.abs(ss - 50)
    shares = pareto_front(lms, fairness).mean(1)
    own = pareto_front(plain[0::2, None], 100 - 2 * np.abs(plain[1::2, None] - 50))[:, 0]
    firsts = np.stack([_first(weight * lms + (1 - weight) * fairness) for weight in WEIGHTS], axis=1)
    for number, name in enumerate(names):
        yield Tradeoff(
            name,
            *where,
            float(plain[2 * number]),
            float(plain[2 * number + 1]),
            bool(own[number]),
            float(shares[number]),
            tuple(float(share) for share in firsts[number]),
        )


def pareto_front(one: Array, two: Array) -> Array:
    """For each model and resample, whether no other is at least as good in both and better in one."""
    better = (one[None] >= one[:, None]) & (two[None] >= two[:, None])
    strictly = better & ((one[None] > one[:, None]) | (two[None] > two[:, None]))
    return np.asarray(~strictly.any(1), dtype=np.float64)


def _first(merit: Array) -> Array:
    """The share of resamples in which each model is first; models that tie share it."""
    top = merit == merit.max(0)
    return np.asarray((top / top.sum(0)).mean(1))
