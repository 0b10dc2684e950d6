"""Contrast of the completion: how much more probable the shared rest of a statement is after the stereotype's words."""

from . import Origin
from ._pairs import difference_metric, differences, mean_of

metric = difference_metric(
    title="Contrast of the completion",
    formula="mean over pairs of log P(B | S) - log P(B | C); B = the tokens that both sentences share; all kinds of statements",
    citation="Isogloss, after Mitchell et al. (2025), SHADES",
    caution="The unit is nats; the frequency of the two groups' names cancels out. A memorized saying has a large value, which shows knowledge of the phrase, not agreement, so group by statement. A causal model gives 0 if the group's name ends the sentence.",
    contribute=lambda rows, mode: mean_of(differences(rows)),
    quantity="completion",
    short="contrast completion",
    origin=Origin(
        code="There is none: the metric is ours.",
        ours="As defined; both modes are the same.",
    ),
    order=20,
)
