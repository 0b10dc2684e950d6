"""Requests: each statement under each prompt, with the answer words in both orders, as often as it is to be sampled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import languages
from ..answers.records import ORDERS, Answer, AnswerKey
from ..errors import IsoglossError, UnknownName
from ..items import BLANK, STEREOTYPE, Candidate, Item
from ..wording import PROMPTS, Wording, wording_of

TEMPLATES = ("auto", "plain")
ORDER_CHOICES = ("both", *ORDERS)


@dataclass(frozen=True, slots=True)
class Plan:
    """How statements are put: whose role, in which orders, how often, how freely, and how long an answer may be."""

    role: str = STEREOTYPE
    order: str = "both"
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 10
    template: str = "auto"

    @property
    def orders(self) -> tuple[str, ...]:
        return ORDERS if self.order == "both" else (self.order,)


@dataclass(frozen=True, slots=True)
class Request:
    """One message to a model; `words` are the language's words for yes and no."""

    item: Item
    candidate: str
    prompt: str
    order: str
    sample: int
    text: str
    words: tuple[str, str]

    @property
    def key(self) -> AnswerKey:
        return (*self.item.key, self.candidate, self.prompt, self.order, self.sample)


Keep = Callable[[Sequence[Answer]], None]


@dataclass(frozen=True)
class Backend:
    """Something that answers by a plan: its name, what its answers depend on, and what must be said about it.

    `answer` hands every answer to `keep` as soon as it is there.
    """

    name: str
    plan: Plan
    identity: Mapping[str, Any]
    answer: Callable[[Sequence[Request], Keep], None]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: Callable[[str], list[str]] = lambda language: []


def check_plan(plan: Plan) -> Plan:
    """Refuse settings that do not exist, or do not fit together."""
    if plan.order not in ORDER_CHOICES:
        raise UnknownName("order", plan.order, ORDER_CHOICES)
    if plan.template not in TEMPLATES:
        raise UnknownName("template", plan.template, TEMPLATES)
    if plan.samples > 1 and not plan.temperature > 0:
        raise IsoglossError(
            f"{plan.samples} samples at temperature 0 are all the same. Say --temperature 0.7, or --samples 1."
        )
    return plan


def make_requests(items: Sequence[Item], plan: Plan) -> list[Request]:
    """Every request of the plan, item by item; items without a candidate of the role are left out."""
    words = {tag: wording_of(languages.describe(tag)) for tag in {item.language for item in items}}
    return [request for item in items for request in _item_requests(item, plan, wording=words[item.language])]


def _item_requests(item: Item, plan: Plan, *, wording: Wording) -> Iterator[Request]:
    for candidate in item.candidates:
        if candidate.role != plan.role:
            continue
        for prompt in PROMPTS:
            for order in plan.orders:
                text = fill_prompt(wording, prompt, order=order, statement=statement_of(item, candidate))
                for sample in range(plan.samples):
                    yield Request(item, candidate.id, prompt, order, sample, text, wording.words)


def fill_prompt(wording: Wording, prompt: str, *, order: str, statement: str) -> str:
    """The prompt with the answer words in that order and the statement in it; braces of a statement stay as they are."""
    first, second = wording.words if order == ORDERS[0] else wording.words[::-1]
    before, after = wording.prompts[prompt].split("{statement}")

    def fill(text: str) -> str:
        return text.replace("{first}", first).replace("{second}", second)

    return fill(before) + statement + fill(after)


def statement_of(item: Item, candidate: Candidate) -> str:
    """What is put to the model: the candidate's sentence, after its context where that is a sentence of its own."""
    if not item.context or BLANK in item.context:
        return candidate.text
    return languages.join_sentences(item.context, candidate.text, tag=item.language)


def seed_of(request: Request, seed: int) -> int:
    """A seed for one request alone, so that a sample does not depend on what is asked beside it."""
    text = repr((seed, *request.key))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
