"""Wording variance: how much of the differences between terms is due to the wording of the template."""

import numpy as np

from ._templates import mean_over_wordings, wording_metric


def _share(logs: np.ndarray) -> float:
    """`logs` has a row for each wording and a column for each term, each row with the mean zero."""
    whole = float((logs**2).mean())
    return 1 - float((logs.mean(0) ** 2).mean()) / whole if whole > 0 else 0.0


metric = wording_metric(
    title="Wording variance",
    formula="mean over (set, concept) of Var over wordings t and terms n of (x_tn - mean over t of x_tn), divided by Var of x_tn; "
    "x_tn = ln P(t, n) minus its mean over terms",
    caution="0 means that all wordings of a set agree about the terms, 1 that the differences between terms cancel out over the wordings. With k wordings, pure "
    "noise gives 1 - 1/k. It needs sets of several wordings.",
    contribute=lambda rows, mode: mean_over_wordings(rows, _share),
    short="wording variance",
    order=14,
)
