"""Recognition by probability: how probable yes is when only yes or no is possible."""

from ..chat.answer_rows import STEREOTYPE
from . import Origin
from ._answers import favour_probability, of_prompts, probability_metric

metric = probability_metric(
    title="Recognition, by probability",
    formula="100/n · Σ P(yes) / (P(yes) + P(no)) to 'is this a stereotype?', both orders averaged",
    contribute=lambda rows, mode: favour_probability(of_prompts(rows, STEREOTYPE)),
    short="recognition probability",
    undirected="A model that always says yes has the highest value, so more is not better by itself.",
    origin=Origin(
        code="There is none: the metric is ours.",
        ours="As defined; both modes are the same.",
    ),
    order=57,
)
