"""Answer likelihood: how probable each answer to a question about a context is, for models that continue a text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from .. import languages
from ..chat.question_words import UNKNOWN, QuestionWords, question_words_of
from ..errors import IsoglossError
from ..items import Candidate, Item
from ..models.continuations import ask_for
from ..models.model import CONTINUE, Model
from ..models.questions import Answer, Asking, Passage, Span
from ..scores import Row
from . import EMPTY, Method, Options, fill_row

TASK = "question"
CHOICE = "choice"
PLACEHOLDER = "unknown"  # EsBBQ and CaBBQ have this English word where the model is to see a wording in its language
Order = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Try:
    """One wording of one answer in one order of the options; `prior` is the same without the context, where it is wanted."""

    candidate: int
    order: Order
    text: str
    span: Span
    prior: Span | None

    @property
    def spans(self) -> tuple[Span, ...]:
        return (self.span,) if self.prior is None else (self.span, self.prior)


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """Each answer's tokens after the prompt, in each order of the listed options.

    The score is the mean over the orders; the choice is the share of orders in which an answer has the highest score.
    """
    orders, tries = orders_of(len(item.candidates), options), list(_tries(item, model, options=options))
    answers = iter((yield [question for attempt in tries for span in attempt.spans for question in span.questions]))
    scores: dict[tuple[int, Order], list[float]] = {}
    first: dict[int, tuple[Try, Answer]] = {}
    for attempt in tries:
        logs = [np.concatenate([[], *(next(answers) for _ in span.questions)]) for span in attempt.spans]
        if all(map(len, logs)):
            scores.setdefault((attempt.candidate, attempt.order), []).append(
                score_of(logs, attempt.text, length=options["length"])
            )
            first.setdefault(attempt.candidate, (attempt, logs[0]))
    if len(scores) < len(item.candidates) * len(orders):
        return [Row(item, candidate.id, None, why=EMPTY) for candidate in item.candidates]
    values = np.array([[combine(scores[number, order], options["unknown"]) for order in orders] for number in first])
    shares, winners = choices_of(values)
    roles = tuple(item.candidates[winner].role for winner in winners)
    truncated = any(span.truncated for attempt in tries for span in attempt.spans)
    rows = []
    for number, candidate in enumerate(item.candidates):
        attempt, logs_shown = first[number]
        row = Row(item, candidate.id, float(values[number].mean()), truncated=truncated)
        rows.append(fill_row(row, model, tokens=attempt.span.targets, logs=logs_shown))
        rows.append(Row(item, candidate.id, float(shares[number]), quantity=CHOICE, pieces=roles))
    return rows


def orders_of(count: int, options: Options) -> list[Order]:
    """The orders in which options are listed: cyclic ones put each option once in each place."""
    places = tuple(range(count))
    if options["options"] == "hidden" or options["orders"] == "given":
        return [places]
    if options["orders"] == "all":
        return list(permutations(places))
    return [(*places[start:], *places[:start]) for start in places]


def _tries(item: Item, model: Model, *, options: Options) -> Iterator[Try]:
    words = question_words_of(languages.describe(item.language))
    shown = [answer_text(item, candidate, words=words) for candidate in item.candidates]
    for order in orders_of(len(shown), options):
        listed = tuple(shown[number] for number in order) if options["options"] == "listed" else ()
        for number, candidate in enumerate(item.candidates):
            several = candidate.role == UNKNOWN and options["unknown"] != "one"
            for text in dict.fromkeys([shown[number], *(words.unknown if several else ())]):
                spans = [
                    ask_for(model, Passage(text, _prompt(item, words, context=context, listed=listed), item.language))
                    for context in ([item.context, None] if options["prior"] == "subtracted" else [item.context])
                ]
                yield Try(number, order, text, spans[0], spans[1] if len(spans) > 1 else None)


def _prompt(item: Item, words: QuestionWords, *, context: str | None, listed: tuple[str, ...]) -> str:
    return words.continued(context=context, question=item.question or "", options=listed)


def answer_text(item: Item, candidate: Candidate, *, words: QuestionWords) -> str:
    """The answer as the model sees it; a placeholder for *unknown* becomes the language's usual wording."""
    placeholder = candidate.role == UNKNOWN and candidate.text.strip().casefold() == PLACEHOLDER
    return words.unknown[0] if placeholder and not item.language.startswith("en") else candidate.text


def score_of(logs: Sequence[Answer], text: str, *, length: str) -> float:
    """The log-probability of an answer, less that of its prior if there is one, per token or letter where that is wanted."""
    difference = float(logs[0].sum() - (logs[1].sum() if len(logs) > 1 else 0.0))
    return difference / {"sum": 1, "token": len(logs[0]), "letter": len(text)}[length]


def combine(scores: Sequence[float], unknown: str) -> float:
    """The score of an answer with several wordings: the highest, or the logarithm of the sum of their probabilities."""
    return float(np.logaddexp.reduce(scores)) if unknown == "sum" else max(scores)


def choices_of(values: Answer) -> tuple[Answer, list[int]]:
    """The share of orders in which each answer has the highest score, ties divided; and the first winner in each order."""
    highest = values == values.max(axis=0)
    return (highest / highest.sum(axis=0)).mean(axis=1), [int(place) for place in highest.argmax(axis=0)]


def check_options(options: Options) -> None:
    """Refuse options that do not fit together."""
    if options["unknown"] != "one" and options["options"] != "hidden":
        raise IsoglossError(
            "The options that are listed have one wording of unknown. Use options=hidden, or unknown=one."
        )
    if options["unknown"] == "sum" and (options["length"], options["prior"]) != ("sum", "kept"):
        raise IsoglossError("Only probabilities can be summed. Use unknown=sum with length=sum and prior=kept.")


def identity(model: Model, language: str, *, options: Options) -> dict[str, Any]:
    """What the scores depend on: the prompt of the language, and its wordings of *unknown*."""
    words = question_words_of(languages.describe(language))
    return {"prompts": {"prompt": words.texts["prompt"]}, "words": list(words.unknown)}


method = Method(
    title="Likelihood of answers to a question",
    formula="ln P(answer | context, question, options), mean over balanced orders of the options; the answer with the highest value is the choice; prior=subtracted: minus ln P(answer | question, options); unknown=max or sum: maximum or sum over several wordings of 'unknown'",
    citation="Parrish et al. (2022), BBQ, for models that continue a text; prior: Holtzman et al. (2021)",
    uses=(CONTINUE,),
    suits=lambda item: bool(item.question) and len(item.candidates) > 1,
    ask=ask,
    check=check_options,
    identity=identity,
    auto=(TASK,),
    options={
        "options": ("listed", "hidden"),
        "orders": ("cyclic", "given", "all"),
        "length": ("sum", "token", "letter"),
        "prior": ("kept", "subtracted"),
        "unknown": ("one", "max", "sum"),
    },
)
