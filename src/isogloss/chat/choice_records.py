"""Records of choices: the options as a chat model saw them, what it answered word for word, and the rows made of that."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import polars as pl

from ..scores import KEY, ROW_SCHEMA, Holding
from .choice_readings import read_choice
from .question_words import UNKNOWN

CHOICE = "choice"
NO_PLACE = -1


@dataclass(frozen=True, slots=True)
class ChoiceAnswer:
    """One answer to labeled options; `shown` are the candidates' ids in the order of the labels, `roles` and `options` theirs.

    `candidate` is the one that was shown first: a record belongs to a candidate of its item.
    """

    dataset: str
    id: str
    language: str
    candidate: str
    form: str
    sample: int
    shown: tuple[str, ...]
    roles: tuple[str, ...]
    options: tuple[str, ...]
    text: str
    finish: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


CHOICE_SCHEMA: dict[str, Any] = {
    **dict.fromkeys((*KEY, "candidate", "form"), pl.String),
    "sample": pl.Int64,
    **dict.fromkeys(("shown", "roles", "options"), pl.List(pl.String)),
    **dict.fromkeys(("text", "finish"), pl.String),
    **dict.fromkeys(("prompt_tokens", "answer_tokens"), pl.Int64),
}


def choice_table(answers: Iterable[ChoiceAnswer]) -> pl.DataFrame:
    """One row per answer."""
    return pl.DataFrame([astuple(answer) for answer in answers], schema=CHOICE_SCHEMA, orient="row")


CHOICES = Holding("choices", CHOICE_SCHEMA, choice_table)


def make_choice_rows(answers: pl.DataFrame, info: Mapping[str, Any]) -> pl.DataFrame:
    """The rows that metrics read, one per candidate, with the column `places`.

    `value` is the share of the answers that picked the candidate, `pieces` are the outcomes (a role, or why there is none)
    and `places` the places of the options that were picked, counted from 0, or -1 where none was.
    """
    schema = {**ROW_SCHEMA, "places": pl.List(pl.Int64)}
    return pl.DataFrame(list(_rows(answers)), schema=schema)


def _pick(record: Mapping[str, Any]) -> int | str:
    unknown = record["roles"].index(UNKNOWN) if UNKNOWN in record["roles"] else None
    return read_choice(record["text"], record["options"], language=record["language"], unknown=unknown)


def _rows(answers: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for key, group in answers.filter(pl.col("text").is_not_null()).group_by(KEY, maintain_order=True):
        records = group.to_dicts()
        picks = [_pick(record) for record in records]
        chosen = [r["shown"][pick] if isinstance(pick, int) else None for r, pick in zip(records, picks, strict=True)]
        outcomes = [r["roles"][pick] if isinstance(pick, int) else pick for r, pick in zip(records, picks, strict=True)]
        for candidate in sorted(records[0]["shown"]):
            yield {
                **dict(zip(KEY, key, strict=True)),
                "candidate": candidate,
                "quantity": CHOICE,
                "value": chosen.count(candidate) / len(chosen),
                "unknown": 0,
                "truncated": False,
                "pieces": outcomes,
                "places": [pick if isinstance(pick, int) else NO_PLACE for pick in picks],
            }
