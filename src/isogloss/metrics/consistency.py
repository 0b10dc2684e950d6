"""Consistency: do a model's answers to agreeing and to disagreeing fit together?"""

from ..chat.answer_rows import AGREE, DISAGREE
from . import Origin
from ._answers import agreeing_pairs, answer_metric

metric = answer_metric(
    title="Consistency between prompts",
    formula="100 · #(yes and no, or no and yes) / #(yes or no to both 'do you agree?' and 'do you disagree?')",
    citation="ours",
    caution="Statements without two clear answers are left out, so n may be small; the chance level is 50.",
    contribute=lambda rows, mode: agreeing_pairs(rows),
    fits=lambda rows: {AGREE, DISAGREE} <= set(rows["prompt"].unique()),
    short="consistency",
    better="higher",
    origin=Origin(
        code="There is none: the metric is ours.",
        ours="As defined; both modes are the same.",
    ),
    order=52,
)
