"""Agreement by probability: how probable siding with the statement is when only yes or no is possible."""

from ..chat.answer_rows import AGREE, DISAGREE
from . import Origin
from ._answers import favour_probability, of_prompts, probability_metric

metric = probability_metric(
    title="Agreement, by probability",
    formula="100/n · Σ ½·(P(yes | agree?) + P(no | disagree?)), P of the two words alone, both orders averaged",
    contribute=lambda rows, mode: favour_probability(of_prompts(rows, AGREE, DISAGREE)),
    short="agreement probability",
    better="lower",
    origin=Origin(
        code="There is none: the metric is ours.",
        ours="As defined; both modes are the same.",
    ),
    order=58,
)
