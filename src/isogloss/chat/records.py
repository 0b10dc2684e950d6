"""Records of what chat models answered: what was asked, what came back word for word, what it cost; no verdicts."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from typing import Any

import polars as pl

from ..scores import Holding

ORDERS = ("yes-no", "no-yes")
OPENING = 10
THOUGHT = "<think>"  # an answer that thinks aloud is read from its text, after the thought
MOST_TOKENS = 1_000_000_000

AnswerKey = tuple[str, str, str, str, str, str, int]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, word for word; `opening` is the text of its first ten tokens where the back end can tell them apart.

    `order` says which of the two answer words the prompt named first. `yes` and `no` are the natural log-probabilities
    of those words as an answer, where the back end gives them.
    """

    dataset: str
    id: str
    language: str
    candidate: str
    prompt: str
    order: str
    sample: int
    text: str
    opening: str | None = None
    finish: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    yes: float | None = None
    no: float | None = None

    @property
    def key(self) -> AnswerKey:
        return (self.dataset, self.id, self.language, self.candidate, self.prompt, self.order, self.sample)


KINDS: dict[Any, Any] = {str: pl.String, int: pl.Int64}
KINDS |= {str | None: pl.String, int | None: pl.Int64, float | None: pl.Float64}
ANSWER_SCHEMA: dict[str, Any] = {field.name: KINDS[field.type] for field in fields(Answer)}


def answer_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row per answer."""
    return pl.DataFrame([astuple(answer) for answer in answers], schema=ANSWER_SCHEMA, orient="row")


ANSWERS = Holding("answers", ANSWER_SCHEMA, answer_table)
