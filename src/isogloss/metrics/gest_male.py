"""GEST score of a man: how much more a man than a woman is expected to say a sentence."""

from dataclasses import replace
from math import inf

from . import Origin, from_values
from ._gest import gest_metric, has_stereotypes, male_scores

metric = gest_metric(
    title="GEST preference for a man",
    formula="mean of log10 P(man) - log10 P(woman)",
    caution="The unit is powers of ten. Most models expect a man more often, whatever the sentence says, so compare groups of sentences.",
    contribute=lambda items, mode: replace(from_values(male_scores(items), items["cluster"]), alone=None),
    bounds=(-inf, inf),
    neutral=0,
    swap="mirror",
    fits=lambda rows: has_stereotypes(rows, of=()),
    short="GEST men",
    origin=Origin(
        code="The published scores of bert-base-uncased are given back item by item.",
        ours="The mean of the published scores of sentences; both modes are the same.",
    ),
    order=19,
)
