"""How often the intervals of ranks hold the true ranks of six models, all at once; a part of `benchmarks.held_out`."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.held_out import BASE, SETTINGS, contribute, draw_items, draw_targets
from isogloss.analysis.rankings import _told_apart

MODELS = 6


@dataclass(frozen=True)
class Ranking:
    """Six models on the same targets, half of whose effects they share; their SS are `spacing` points apart, from 50 on."""

    clusters: int
    spacing: float
    kind: str = "ranks of six models, all at once"


RANKINGS = tuple(Ranking(clusters, spacing) for clusters in (12, 20, 79) for spacing in (0.0, 0.2, 2.0))


def simulate_ranks(case: Ranking, *, trials: int) -> dict[str, float]:
    """In per cent, the data sets in which every model's interval holds its true rank; equal models share the best rank."""
    rng = np.random.default_rng(zlib.crc32(repr(case).encode()))
    shares = [0.5 + case.spacing / 100 * number for number in range(MODELS)]
    true = [1 + sum(other > share + 1e-12 for other in shares) for share in shares]
    held, widths = [], []
    for _ in range(trials):
        shared = rng.normal(size=(2, case.clusters))
        sides = {}
        for number, share in enumerate(shares):
            population = replace(BASE, clusters=case.clusters, share=share)
            targets = draw_targets(population, rng, case.clusters, shared=shared)
            sides[str(number)] = contribute("ss", *draw_items(population, rng, targets))
        better = _told_apart(sides, sign=1, settings=SETTINGS)
        ends = [
            (1 + sum(worse == name for _, worse in better), MODELS - sum(first == name for first, _ in better))
            for name in sides
        ]
        held.append(all(low <= rank <= high for (low, high), rank in zip(ends, true, strict=True)))
        widths.append(float(np.mean([high - low for low, high in ends])))
    return {"held": 100 * float(np.mean(held)), "width": float(np.median(widths))}
