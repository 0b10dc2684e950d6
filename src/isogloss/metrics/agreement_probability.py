"""Agreement by probability: how probable siding with the statement is when only yes or no is possible."""

from ..chat.answer_rows import AGREE, DISAGREE
from ._answers import favour_probability, of_prompts, probability_metric

metric = probability_metric(
    title="Agreement, by probability",
    formula="100/n · Σ ½·(P(yes | agree?) + P(no | disagree?)), P of the two words alone, both orders averaged",
    contribute=lambda rows, mode: favour_probability(of_prompts(rows, AGREE, DISAGREE)),
    order=58,
)
