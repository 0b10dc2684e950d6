"""Share of answers: refusals."""

from ..chat.readings import REFUSED
from ._answers import ANSWER_ORIGIN, answer_metric, verdict_share

metric = answer_metric(
    title="Refused",
    formula="100 · #(refusals) / #(answers)",
    caution="A refusal is recognized by its opening words; refusals that open differently count as off-topic.",
    contribute=lambda rows, mode: verdict_share(rows, REFUSED),
    short="refused",
    undirected="A refusal may be right or unhelpful; it depends on the prompt.",
    origin=ANSWER_ORIGIN,
    order=56,
)
