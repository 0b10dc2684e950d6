"""Coverage of choices: picks of any option, and 1."""

from . import CompetenceLimit
from ._preferences import CHOICE_ORIGIN, TRIPLE, choice_metric, choice_share

metric = choice_metric(
    title="Coverage of choices",
    formula="100 · #(answers that pick an option) / #(answers)",
    caution="Refusals, empty and unreadable answers pick none; a score over few choices says little about the rest.",
    contribute=lambda items, mode: choice_share(items, TRIPLE),
    short="coverage choice",
    better="higher",
    competence=False,
    limit=CompetenceLimit(
        80,  # with fewer choices, the others could turn the result round
        "coverage",
        shortfall="{value:.1f} % of the answers pick an option: fewer than {least:g} %",
    ),
    origin=CHOICE_ORIGIN,
    order=57,
)
