"""Share of answers: yes."""

from ..chat.readings import YES
from ._answers import ANSWER_ORIGIN, answer_metric, verdict_share

metric = answer_metric(
    title="Answered yes",
    formula="100 · #(yes) / #(answers)",
    caution="Over several prompts, the value mixes different questions; group by prompt.",
    contribute=lambda rows, mode: verdict_share(rows, YES),
    short="answered yes",
    undirected="Which answer is right depends on the prompt.",
    origin=ANSWER_ORIGIN,
    order=53,
)
