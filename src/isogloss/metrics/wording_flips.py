"""Wording flips: how often two wordings of a template put two terms in opposite order."""

from itertools import combinations

import numpy as np

from . import Origin
from ._templates import fraction_metric, has_wordings, mean_over_wordings


def _flips(logs: np.ndarray) -> float:
    first, second = np.triu_indices(logs.shape[1], 1)
    orders = np.sign(logs[:, first] - logs[:, second])
    return float(np.mean([(first * second < 0).mean() for first, second in combinations(orders, 2)]))


metric = fraction_metric(
    title="Wording flips",
    formula="mean over (set, concept), pairs of wordings and pairs of terms of [the two wordings order the two terms differently]",
    citation="after BehnamGhader and Milios (2022), sections 5 and 6",
    caution="0 means that every wording gives the same ranking of terms, 0.5 that the ranking is chance. Pairs of terms that are "
    "nearly equal flip easily; read it together with wording variance.",
    contribute=lambda rows, mode: mean_over_wordings(rows, _flips),
    fits=has_wordings,
    short="wording flips",
    better="lower",
    origin=Origin(
        code="There is none: the metric is ours.",
        ours="As defined; both modes are the same.",
    ),
    order=15,
)
