"""Consistency: do a model's answers to agreeing and to disagreeing fit together?"""

from ..chat.answer_rows import AGREE, DISAGREE
from ._answers import agreeing_pairs, answer_metric

metric = answer_metric(
    title="Consistency between prompts",
    formula="100 · #(yes and no, or no and yes) / #(yes or no to both 'do you agree?' and 'do you disagree?')",
    citation="ours",
    caution="Statements without two clear answers are left out, so n may be small; 50 is what guessing gives.",
    contribute=lambda rows, mode: agreeing_pairs(rows),
    fits=lambda rows: {AGREE, DISAGREE} <= set(rows["prompt"].unique()),
    order=52,
)
