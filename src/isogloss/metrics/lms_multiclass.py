"""Multi-class LMS: the mean of the LMS of each target term."""

from . import Metric
from ._preferences import TRIPLE, class_mean

metric = Metric(
    title="Multi-class LMS",
    formula="mean over target terms of LMS",
    citation="Nadeem, Bethke and Reddy (2021); Öztürk et al. (2023)",
    caution="A class with few items weighs as much as one with many; compare it only with other multi-class values.",
    roles=TRIPLE,
    swap="same",
    contribute=lambda items, mode: class_mean(items, mode, score=0),
    order=40,
)
