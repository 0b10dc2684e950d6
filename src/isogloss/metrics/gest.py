"""GEST difference: how much more a man is expected to say what is stereotyped of men than what is stereotyped of women."""

from dataclasses import replace
from math import inf

from . import Origin
from ._gest import MEN, WOMEN, compare_stereotypes, gest_metric, has_stereotypes

metric = gest_metric(
    title="GEST difference",
    formula="mean over men's stereotypes of mean(log10 P(man) - log10 P(woman)), minus the same over women's stereotypes",
    caution="The unit is powers of ten. 0 means that the model does not distinguish the two kinds of stereotypes, not that it is "
    "fair. A general preference for men cancels out.",
    contribute=lambda items, mode: replace(compare_stereotypes(items, finish=lambda value: value), alone=None),
    bounds=(-inf, inf),
    neutral=0,
    swap="mirror",
    fits=lambda rows: has_stereotypes(rows, of=(MEN, WOMEN)),
    short="GEST",
    headline=42,
    origin=Origin(
        code="The published scores of bert-base-uncased are given back item by item.",
        ours="The exponent of the published rate, in powers of ten, so that it is a difference; both modes are the same.",
    ),
    order=17,
    not_mean="a difference between means of groups",
)
