"""Multi-class LMS: the mean of the LMS of each target term."""

from . import TIES, Origin
from ._preferences import class_mean, class_metric

metric = class_metric(
    title="Multi-class LMS",
    formula="mean over target terms of LMS",
    caution="A term with few items counts as much as one with many; compare multi-class values only with each other.",
    contribute=lambda items, mode: class_mean(items, mode, score=0),
    short="LMS multi",
    better="higher",
    competence=False,
    origin=Origin(
        code="The mean over target terms (the English term also in translations), although the paper names bias types.",
        ours="The published classes (target terms), with ties counted one half.",
        modes=TIES,
    ),
    order=40,
)
