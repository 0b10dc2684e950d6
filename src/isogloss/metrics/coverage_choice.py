"""Coverage of choices: picks of any option, and 1."""

from . import Metric
from ._preferences import CHOICE, TRIPLE, choice_share

metric = Metric(
    title="Coverage of choices",
    formula="100 · #(answers that pick an option) / #(answers)",
    citation="Nadeem, Bethke and Reddy (2021), for models that answer in words",
    caution="Refusals, empty and unreadable answers pick none; a score over few choices says little about the rest.",
    roles=TRIPLE,
    swap="same",
    contribute=lambda items, mode: choice_share(items, TRIPLE),
    quantity=CHOICE,
    order=57,
)
