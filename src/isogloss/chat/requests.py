"""Requests: each statement under each prompt, with the answer words in both orders, as often as it is to be sampled."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

from .. import languages
from ..errors import IsoglossError, UnknownName
from ..items import BLANK, STEREOTYPE, Candidate, Item
from ..settings import read_fields
from .prompt_words import PROMPTS, PromptWords, prompt_words_of
from .records import ORDERS, Answer, AnswerKey

TEMPLATES = ("auto", "plain")
ORDER_CHOICES = ("both", *ORDERS)


@dataclass(frozen=True, slots=True)
class AskSettings:
    """How statements are put: whose role, in which orders, how often, how freely, and how long an answer may be.

    `thinking` is how many tokens a model may think in before its answer, `shots` how many answered examples stand before
    the question, and `prompts` a TOML file with a table of prompts for each language, instead of our own.
    """

    role: str = STEREOTYPE
    order: str = "both"
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 10
    template: str = "auto"
    thinking: int = 0
    shots: int = 0
    prompts: str = ""

    @property
    def new_tokens(self) -> int:
        """How many tokens a model may generate."""
        return self.max_tokens + self.thinking

    @property
    def options(self) -> dict[str, str]:
        """What differs from the defaults, in words."""
        default = AskSettings()
        return {key: str(value) for key, value in asdict(self).items() if value != getattr(default, key)}


def read_ask_settings(options: Mapping[str, str]) -> AskSettings:
    """The settings that options in words describe, such as samples=3; what does not exist is refused."""
    return check_ask_settings(AskSettings(**read_fields(AskSettings, options, what="ask")))


@dataclass(frozen=True, slots=True)
class PromptRequest:
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


OnAnswers = Callable[[Sequence[Answer]], None]


@dataclass(frozen=True)
class Backend:
    """Something that answers by a plan: its name, what its answers depend on, and what must be said about it.

    `answer` hands every answer to `keep` as soon as it is there.
    """

    name: str
    plan: AskSettings
    identity: Mapping[str, Any]
    answer: Callable[[Sequence[PromptRequest], OnAnswers], None]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: Callable[[str], list[str]] = lambda language: []


def check_ask_settings(settings: AskSettings) -> AskSettings:
    """Refuse settings that do not exist, or do not fit together."""
    for name, choices in (("order", ORDER_CHOICES), ("template", TEMPLATES)):
        if getattr(settings, name) not in choices:
            raise UnknownName(name, getattr(settings, name), choices)
    if settings.samples < 1 or settings.max_tokens < 1 or not settings.temperature >= 0:
        raise IsoglossError("'samples' and 'max_tokens' must be at least 1, and 'temperature' at least 0.")
    if settings.thinking < 0 or settings.shots < 0:
        raise IsoglossError("'thinking' and 'shots' must be at least 0.")
    if settings.samples > 1 and not settings.temperature > 0:
        raise IsoglossError(
            f"{settings.samples} samples at temperature 0 are all the same. Use temperature=0.7, or samples=1."
        )
    return settings


def make_requests(items: Sequence[Item], settings: AskSettings) -> list[PromptRequest]:
    """Every request of the plan, item by item; items without a candidate of the role are left out."""
    tags = {item.language for item in items}
    words = {tag: prompt_words_of(languages.describe(tag), settings.prompts) for tag in tags}
    statements = {tag: _statements(items, settings.role, language=tag) for tag in tags} if settings.shots else {}
    requests: list[PromptRequest] = []
    for item in items:
        others = statements.get(item.language, [])
        requests += _item_requests(item, settings, prompt_words=words[item.language], others=others)
    return requests


def _statements(items: Sequence[Item], role: str, *, language: str) -> list[tuple[str, str]]:
    """The statements of a language with their clusters, in an order that their ids alone decide."""
    rows = [
        (hashlib.sha256(item.id.encode()).hexdigest(), item.cluster or item.id, statement_of(item, candidate))
        for item in items
        if item.language == language
        for candidate in item.candidates
        if candidate.role == role
    ]
    return [(cluster, text) for _, cluster, text in sorted(rows)]


def _item_requests(
    item: Item, settings: AskSettings, *, prompt_words: PromptWords, others: Sequence[tuple[str, str]]
) -> Iterator[PromptRequest]:
    examples = [text for cluster, text in others if cluster != (item.cluster or item.id)][: settings.shots]
    candidates = [candidate for candidate in item.candidates if candidate.role == settings.role]
    orders = ORDERS if settings.order == "both" else (settings.order,)
    for candidate, prompt, order in product(candidates, PROMPTS, orders):
        statements = [*examples, statement_of(item, candidate)]
        *shown, asked = (fill_prompt(prompt_words, prompt, order=order, statement=text) for text in statements)
        solved = [f"{text}\n{prompt_words.words[number % 2]}" for number, text in enumerate(shown)]
        text = "\n\n".join([*solved, asked])
        for sample in range(settings.samples):
            yield PromptRequest(item, candidate.id, prompt, order, sample, text, prompt_words.words)


def fill_prompt(prompt_words: PromptWords, prompt: str, *, order: str, statement: str) -> str:
    """The prompt with the answer words in that order and the statement in it; braces of a statement stay as they are."""
    first, second = prompt_words.words if order == ORDERS[0] else prompt_words.words[::-1]
    parts = prompt_words.prompts[prompt].split("{statement}")
    return statement.join(part.replace("{first}", first).replace("{second}", second) for part in parts)


def statement_of(item: Item, candidate: Candidate) -> str:
    """What is put to the model: the candidate's sentence, after its context where that is a sentence of its own."""
    if not item.context or BLANK in item.context:
        return candidate.text
    return languages.join_sentences(item.context, candidate.text, tag=item.language)


def seed_of(request: PromptRequest, seed: int) -> int:
    """A seed for one request alone, so that a sample does not depend on what is asked beside it."""
    text = repr((seed, *request.key))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
