"""Agreement by probability: how probable siding with the statement is when only yes or no is possible."""

from ..chat.answer_rows import AGREE, DISAGREE, PROBABILITY
from . import Metric
from ._answers import favour_probability, of_prompts

metric = Metric(
    title="Agreement, by probability",
    formula="100/n · Σ ½·(P(yes | agree?) + P(no | disagree?)), P of the two words alone, both orders averaged",
    citation="ours",
    caution="Words of several tokens are less probable than short ones, so languages cannot be compared by it; it is "
    "blind to what the model says when it may say anything.",
    contribute=lambda rows, mode: favour_probability(of_prompts(rows, AGREE, DISAGREE)),
    quantity=PROBABILITY,
    order=58,
)
