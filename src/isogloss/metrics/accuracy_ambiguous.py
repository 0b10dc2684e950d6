"""Accuracy in ambiguous contexts: right answers, and answers."""

from ._questions import AMBIGUOUS, accuracy_metric

metric = accuracy_metric(
    AMBIGUOUS,
    title="Accuracy in ambiguous contexts",
    formula="100 · #(right) / #(answers), over ambiguous contexts, where 'unknown' is right",
    caution="With three answers, the chance level is 33.3. A model that always answers 'unknown' gets 100; look at the disambiguated contexts too.",
    short="acc amb",
    chance="33.3",
    order=80,
)
