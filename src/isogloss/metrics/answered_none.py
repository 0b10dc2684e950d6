"""Share of answers: neither yes nor no."""

from ..chat.readings import NONE
from ._answers import ANSWER_ORIGIN, answer_metric, verdict_share

metric = answer_metric(
    title="Answered neither",
    formula="100 · #(neither yes nor no) / #(answers)",
    caution="It includes refusals, restated options and answers that are unclear, off topic, empty or in another language. A small model may simply not follow the prompt.",
    contribute=lambda rows, mode: verdict_share(rows, *NONE),
    short="answered none",
    undirected="Which answer is right depends on the prompt.",
    origin=ANSWER_ORIGIN,
    order=55,
)
