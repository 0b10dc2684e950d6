"""Multi-class SS: the mean of the SS of each target term."""

from . import Metric
from ._preferences import TRIPLE, class_mean

metric = Metric(
    title="Multi-class SS",
    formula="mean over target terms of SS",
    citation="Nadeem, Bethke and Reddy (2021); Öztürk et al. (2023)",
    caution="A class with few items weighs as much as one with many; opposite preferences for two targets cancel out.",
    roles=TRIPLE,
    neutral=50,
    swap="mirror",
    contribute=lambda items, mode: class_mean(items, mode, score=1),
    order=50,
)
