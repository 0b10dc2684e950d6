"""Multi-class SS: the mean of the SS of each target term."""

from . import TIES, Origin
from ._preferences import class_mean, class_metric

metric = class_metric(
    title="Multi-class SS",
    formula="mean over target terms of SS",
    caution="A term with few items counts as much as one with many; opposite preferences for two targets cancel out.",
    neutral=50,
    swap="mirror",
    contribute=lambda items, mode: class_mean(items, mode, score=1),
    short="SS multi",
    origin=Origin(
        code="The mean over target terms (the English term also in translations), although the paper names bias types.",
        ours="The published classes (target terms), with ties counted one half.",
        modes=TIES,
    ),
    order=50,
)
