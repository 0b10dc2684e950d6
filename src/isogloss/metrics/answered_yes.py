"""Share of answers: yes."""

from ..chat.answer_rows import ANSWER
from ..chat.verdicts import YES
from . import Metric
from ._answers import verdict_share

metric = Metric(
    title="Answered yes",
    formula="100 · #(yes) / #(answers)",
    citation="Mitchell et al. (2025), SHADES",
    caution="Over several prompts it mixes questions; group by prompt.",
    contribute=lambda rows, mode: verdict_share(rows, YES),
    quantity=ANSWER,
    order=53,
)
