"""Wording flips: how often two wordings of a template put two terms in opposite order."""

from itertools import combinations

import numpy as np

from ._templates import mean_over_wordings, wording_metric


def _flips(logs: np.ndarray) -> float:
    first, second = np.triu_indices(logs.shape[1], 1)
    orders = np.sign(logs[:, first] - logs[:, second])
    return float(np.mean([(first * second < 0).mean() for first, second in combinations(orders, 2)]))


metric = wording_metric(
    title="Wording flips",
    formula="mean over (set, concept), pairs of wordings and pairs of terms of [the two wordings order the two terms differently]",
    caution="0 means that every wording gives the same ranking of terms, 0.5 that the rankings are unrelated. Nearly equal terms "
    "swap ranks easily; read this value together with wording variance.",
    contribute=lambda rows, mode: mean_over_wordings(rows, _flips),
    short="wording flips",
    order=15,
)
