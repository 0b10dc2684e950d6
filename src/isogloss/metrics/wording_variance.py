"""Wording variance: how much of the differences between terms is due to the wording of the template."""

import numpy as np

from . import Origin
from ._templates import fraction_metric, has_wordings, mean_over_wordings


def _share(logs: np.ndarray) -> float:
    """`logs` has a row for each wording and a column for each term, each row with the mean zero."""
    whole = float((logs**2).mean())
    return 1 - float((logs.mean(0) ** 2).mean()) / whole if whole > 0 else 0.0


metric = fraction_metric(
    title="Wording variance",
    formula="mean over (set, concept) of Var over wordings t and terms n of (x_tn - mean over t of x_tn), by Var of x_tn; "
    "x_tn = ln P(t, n) minus its mean over terms",
    citation="after BehnamGhader and Milios (2022), sections 5 and 6",
    caution="0 means that all wordings of a set agree about the terms, 1 that nothing is left when wordings are averaged. "
    "With k wordings, pure noise gives 1 - 1/k. Needs sets of several wordings.",
    contribute=lambda rows, mode: mean_over_wordings(rows, _share),
    fits=has_wordings,
    short="wording variance",
    better="lower",
    origin=Origin(
        code="There is none: the metric is ours.",
        ours="As defined; both modes are the same.",
    ),
    order=14,
)
