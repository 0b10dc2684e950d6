"""Multi-class SS: the mean of the SS of each target term."""

from ._preferences import class_mean, class_metric

metric = class_metric(
    title="Multi-class SS",
    formula="mean over target terms of SS",
    caution="A class with few items weighs as much as one with many; opposite preferences for two targets cancel out.",
    neutral=50,
    swap="mirror",
    contribute=lambda items, mode: class_mean(items, mode, score=1),
    order=50,
)
