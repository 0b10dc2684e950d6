"""Coverage of choices: picks of any option, and 1."""

from ._preferences import TRIPLE, choice_metric, choice_share

metric = choice_metric(
    title="Coverage of choices",
    formula="100 · #(answers that pick an option) / #(answers)",
    caution="Refusals, empty and unreadable answers pick none; a score over few choices says little about the rest.",
    contribute=lambda items, mode: choice_share(items, TRIPLE),
    order=57,
)
