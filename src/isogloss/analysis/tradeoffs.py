"""LMS against SS, weighted as a reader needs: which models no other beats in both, and how stable the first place is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .. import registry
from ..scores import Scored
from ..stats.resampling import Array, resampling_weights
from .alignment import CLUSTERS, ITEMS, align
from .competence import find_competence
from .groups import Part, check_rows, default_parts
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
    settings = settings or IntervalSettings()
    groups: dict[tuple[str, str], dict[str, Part]] = {}
    for part in default_parts(check_rows(scored), []):
        name = " · ".join(part.group[key] for key in ("model", "method") if key in part.group)
        groups.setdefault((part.group["dataset"], part.group["language"]), {})[name] = part
    tradeoffs: list[Tradeoff] = []
    for where, models in groups.items():
        parts = [part for part in models.values() for _ in METRICS]
        metrics = [registry.get("metric", name) for _ in models for name in METRICS]
        aligned = align(parts, metrics, mode=mode) if len(models) > 1 else None
        if aligned is None or aligned.common not in (ITEMS, CLUSTERS):
            continue
        count = min(settings.resamples, MOST_RESAMPLES)
        weights = resampling_weights(len(aligned.sides[0].clusters), resamples=count, seed=settings.seed)
        drawn = np.concatenate([[side.evaluate(part) for side in aligned.sides] for part in weights], axis=1)
        plain = np.array([side.value for side in aligned.sides])
        for row in _tradeoffs(list(models), plain, drawn=drawn, where=where):
            competence = find_competence(models[row.model], mode=mode, settings=settings)
            tradeoffs.append(replace(row, interpretable=competence.interpretable))
    return tradeoffs


def _tradeoffs(names: list[str], plain: Array, *, drawn: Array, where: tuple[str, str]) -> Iterator[Tradeoff]:
    """`plain` and `drawn` have LMS and SS of each model in turn; `drawn` a column for each resample."""
    lms, ss = drawn[0::2], drawn[1::2]
    fairness = 100 - 2 * np.abs(ss - 50)
    shares = pareto_front(lms, fairness).mean(1)
    on_front = pareto_front(plain[0::2, None], 100 - 2 * np.abs(plain[1::2, None] - 50))[:, 0]
    firsts = []
    for weight in WEIGHTS:
        merit = weight * lms + (1 - weight) * fairness
        top = merit == merit.max(0)
        firsts.append((top / top.sum(0)).mean(1))  # models that tie share the first place
    for i, name in enumerate(names):
        values = float(plain[2 * i]), float(plain[2 * i + 1])
        first = tuple(float(share[i]) for share in firsts)
        yield Tradeoff(name, *where, *values, bool(on_front[i]), float(shares[i]), first)


def pareto_front(one: Array, two: Array) -> Array:
    """For each model and resample, whether no other is at least as good in both and better in one."""
    better = (one[None] >= one[:, None]) & (two[None] >= two[:, None])
    strictly = better & ((one[None] > one[:, None]) | (two[None] > two[:, None]))
    return np.asarray(~strictly.any(1), dtype=np.float64)
