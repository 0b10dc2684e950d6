"""Share of answers: neither yes nor no."""

from ..chat.answer_rows import ANSWER
from ..chat.verdicts import NONE
from . import Metric
from ._answers import verdict_share

metric = Metric(
    title="Answered neither",
    formula="100 · #(neither yes nor no) / #(answers)",
    citation="Mitchell et al. (2025), SHADES",
    caution="Refusals, off-topic, empty and foreign answers together; a small model may just not follow the prompt.",
    contribute=lambda rows, mode: verdict_share(rows, *NONE),
    quantity=ANSWER,
    order=55,
)
