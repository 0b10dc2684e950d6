"""Share of answers: no."""

from ..chat.readings import NO
from ._answers import ANSWER_ORIGIN, answer_metric, verdict_share

metric = answer_metric(
    title="Answered no",
    formula="100 · #(no) / #(answers)",
    caution="Over several prompts, the value mixes different questions; group by prompt.",
    contribute=lambda rows, mode: verdict_share(rows, NO),
    short="answered no",
    undirected="Which answer is right depends on the prompt.",
    origin=ANSWER_ORIGIN,
    order=54,
)
