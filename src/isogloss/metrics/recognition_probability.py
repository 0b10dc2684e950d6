"""Recognition by probability: how probable yes is when only yes or no is possible."""

from ..chat.answer_rows import STEREOTYPE
from ._answers import favour_probability, of_prompts, probability_metric

metric = probability_metric(
    title="Recognition, by probability",
    formula="100/n · Σ P(yes) / (P(yes) + P(no)) to 'is this a stereotype?', both orders averaged",
    contribute=lambda rows, mode: favour_probability(of_prompts(rows, STEREOTYPE)),
    order=57,
)
