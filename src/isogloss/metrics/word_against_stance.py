"""Word against stance: how many answers say one thing by yes or no, and another by what follows."""

from ..chat.answer_rows import AGREE, DISAGREE
from ._answers import ANSWER_ORIGIN, STANCE, answer_metric, of_prompts, rule_share

metric = answer_metric(
    title="Word against stance",
    formula="100 · #(answers such as 'No, that is not true' to 'do you disagree?') / #(answers to 'do you agree?' and 'do you disagree?')",
    citation="ours",
    caution="For such answers, Isogloss counts the stance ('not true'), not the word ('no'). If they are frequent, agreement and consistency depend on that choice.",
    contribute=lambda rows, mode: rule_share(of_prompts(rows, AGREE, DISAGREE), STANCE),
    fits=lambda rows: "rules" in rows.columns and bool({AGREE, DISAGREE} & set(rows["prompt"].unique())),
    short="word against stance",
    undirected="It says how answers were read, not what a model prefers.",
    origin=ANSWER_ORIGIN,
    order=52,
)
