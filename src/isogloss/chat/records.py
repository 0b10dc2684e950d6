"""Records of what chat models answered: what was asked, what came back word for word, what it cost; no verdicts."""

import json
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any

import polars as pl

ANSWERS = "answers"
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


def answer_line(answer: Answer) -> str:
    """An answer as one line of JSON; what is not UTF-8 in it becomes a question mark."""
    text = json.dumps(asdict(answer), ensure_ascii=False)
    return text.encode("utf-8", "replace").decode() + "\n"


def read_line(line: str) -> Answer | None:
    """The answer on a line; none when the line is torn, or holds values of other types."""
    try:
        answer = Answer(**json.loads(line))
        sound = all(_fits(value, ANSWER_SCHEMA[name]) for name, value in asdict(answer).items())
        return answer if sound and None not in answer.key and answer.text is not None else None
    except (ValueError, TypeError, RecursionError):
        return None


def _fits(value: Any, kind: Any) -> bool:
    """Whether a column can hold a value; text that is not UTF-8 is a ValueError."""
    if value is None:
        return True
    if kind == pl.String:
        return isinstance(value, str) and value.encode() is not None
    if kind == pl.Int64:
        return type(value) is int and 0 <= value <= MOST_TOKENS
    return type(value) in (int, float) and value == value
