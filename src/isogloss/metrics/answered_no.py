"""Share of answers: no."""

from ..chat.answer_rows import ANSWER
from ..chat.verdicts import NO
from . import Metric
from ._answers import verdict_share

metric = Metric(
    title="Answered no",
    formula="100 · #(no) / #(answers)",
    citation="Mitchell et al. (2025), SHADES",
    caution="Over several prompts it mixes questions; group by prompt.",
    contribute=lambda rows, mode: verdict_share(rows, NO),
    quantity=ANSWER,
    order=54,
)
