"""Asking: is a statement a stereotype, does the model agree, does it disagree? The answers are stored word for word."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from typing import Any, get_type_hints

from .. import languages
from ..chat.answer_rows import make_answer_rows
from ..chat.answer_words import asked_prompts
from ..chat.prompt_words import PROMPTS, PromptWords, prompt_words_of
from ..chat.records import ANSWERS, ORDERS, Answer
from ..errors import IsoglossError
from ..items import BLANK, STEREOTYPE, Candidate, Item, group_by
from ..models.model import Model
from ..models.questions import TEXT, Asking, Prompt
from ..settings import read_fields
from . import Ask, Free, Method, Options

TEMPLATES = ("auto", "plain")
ORDER_CHOICES = ("both", *ORDERS)
PART = 192  # candidates, of about 64 items with three each: a part is complete within minutes


@dataclass(frozen=True, slots=True)
class AskSettings:
    """How models are asked about statements: role, order of the answer words, samples per prompt, temperature and maximum tokens.

    `thinking` is the number of extra tokens before the answer, `shots` the number of answered examples before the
    question, and `prompts` a TOML file with a table of prompts for each language.
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
    def options(self) -> dict[str, str]:
        """What differs from the defaults, in words."""
        default = AskSettings()
        return {key: str(value) for key, value in asdict(self).items() if value != getattr(default, key)}


@dataclass(frozen=True, slots=True)
class Request:
    """One message about a statement: the candidate, the prompt, the order of the answer words, and the sample."""

    candidate: str
    prompt: str
    order: str
    sample: int
    message: Prompt


def read_settings(options: Options) -> AskSettings:
    """The settings that options in words describe."""
    return AskSettings(**read_fields(AskSettings, options, what="ask"))


def check_options(options: Options) -> None:
    """Refuse settings that do not fit together."""
    settings = read_settings(options)
    if settings.samples > 1 and not settings.temperature > 0:
        raise IsoglossError(
            f"{settings.samples} samples at temperature 0 are all the same. Use temperature=0.7, or samples=1."
        )


def prepare(items: Sequence[Item], options: Options) -> Ask:
    """How each of the items is asked about; a language without prompts is refused."""
    settings = read_settings(options)
    groups = group_by(items, lambda item: item.language)
    words = {tag: prompt_words_of(languages.describe(tag), settings.prompts) for tag in groups}
    statements = {tag: _statements(rows, settings.role) for tag, rows in groups.items()} if settings.shots else {}

    def ask(item: Item, model: Model, *, options: Options) -> Asking:
        examples = _examples(item, statements.get(item.language, []), shots=settings.shots)
        requests = list(make_requests(item, settings, words=words[item.language], examples=examples))
        replies = yield [request.message for request in requests]
        return [_answer(item, request, reply=reply) for request, reply in zip(requests, replies, strict=True)]

    return ask


def ask_item(item: Item, model: Model, *, options: Options) -> Asking:
    """The questions about one item alone."""
    return prepare([item], options)(item, model, options=options)


def _answer(item: Item, request: Request, *, reply: Any) -> Answer:
    yes, no = reply.logprobs or (None, None)
    return Answer(
        *item.key,
        request.candidate,
        request.prompt,
        request.order,
        request.sample,
        text=reply.text,
        opening=reply.opening,
        finish=reply.finish,
        prompt_tokens=reply.prompt_tokens,
        answer_tokens=reply.answer_tokens,
        yes=yes,
        no=no,
    )


def _statements(items: Sequence[Item], role: str) -> list[tuple[str, str]]:
    """The statements of a language with their clusters, in an order that their ids alone decide."""
    rows = [
        (hashlib.sha256(item.id.encode()).hexdigest(), item.cluster or item.id, statement_of(item, candidate))
        for item in items
        for candidate in item.candidates
        if candidate.role == role
    ]
    return [(cluster, text) for _, cluster, text in sorted(rows)]


def _examples(item: Item, statements: Sequence[tuple[str, str]], *, shots: int) -> list[str]:
    """Statements about other clusters, to stand before the question."""
    return [text for cluster, text in statements if cluster != (item.cluster or item.id)][:shots]


def make_requests(
    item: Item, settings: AskSettings, *, words: PromptWords, examples: Sequence[str] = ()
) -> Iterator[Request]:
    """Each statement under each prompt, with the answer words in both orders, as often as it is to be sampled.

    The log-probabilities of yes and no are those of the first sample; they do not depend on how an answer is drawn.
    """
    candidates = [candidate for candidate in item.candidates if candidate.role == settings.role]
    orders = ORDERS if settings.order == "both" else (settings.order,)
    for candidate, prompt, order in product(candidates, PROMPTS, orders):
        statements = [*examples, statement_of(item, candidate)]
        *shown, asked = (fill_prompt(words, prompt, order=order, statement=text) for text in statements)
        solved = [f"{text}\n{words.words[number % 2]}" for number, text in enumerate(shown)]
        text = "\n\n".join([*solved, asked])
        for sample in range(settings.samples):
            message = Prompt(
                text,
                () if sample else words.words,
                settings.max_tokens + settings.thinking,
                settings.temperature,
                seed_of(text, sample, seed=settings.seed) if settings.temperature > 0 else 0,
                settings.template,
            )
            yield Request(candidate.id, prompt, order, sample, message)


def preview_prompts(items: Sequence[Item], options: Options) -> dict[str, str]:
    """The first message of each prompt."""
    chosen = {field.name: str(field.default) for field in fields(AskSettings)} | dict(options)
    questions = next(prepare(items, chosen)(_first(items, chosen["role"]), None, options=chosen))  # type: ignore[arg-type]
    return dict(zip(PROMPTS, (question.text for question in questions[:: max(1, len(questions) // 3)]), strict=False))


def _first(items: Sequence[Item], role: str) -> Item:
    return next(item for item in items if any(candidate.role == role for candidate in item.candidates))


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


def seed_of(text: str, sample: int, *, seed: int) -> int:
    """A seed for one sample of one message, so that it does not depend on what else is asked."""
    return int.from_bytes(hashlib.sha256(repr((seed, text, sample)).encode()).digest()[:8], "big")


def identity(model: Model, language: str, *, options: Options) -> dict[str, Any]:
    """What answers depend on beside model and items: the prompts, the answer words, and how the model is addressed."""
    words = prompt_words_of(languages.describe(language), options["prompts"])
    asked = {"prompts": dict(words.prompts), "words": list(words.words)}
    return asked | dict(model.family.prompting(model, options["template"]))


CHOICES = {"order": ORDER_CHOICES, "template": TEMPLATES}
LEAST = {"samples": 1, "max_tokens": 1}  # other numbers may be 0


def _options() -> Mapping[str, tuple[str, ...] | Free]:
    """The settings as options of a method."""
    kinds = get_type_hints(AskSettings)
    return {
        field.name: CHOICES.get(field.name) or Free(str(field.default), kinds[field.name], LEAST.get(field.name, 0))
        for field in fields(AskSettings)
    }


method = Method(
    title="Asking a chat model: is it a stereotype, do you agree, do you disagree?",
    formula="three prompts about the statement, in its language, each with the answer words in both orders; measuring reads answers as yes, no or none",
    citation="Mitchell et al. (2025)",
    uses=(TEXT,),
    suits=lambda item: True,
    admits=lambda item, options: any(candidate.role == options["role"] for candidate in item.candidates),
    ask=ask_item,
    prepare=prepare,
    check=check_options,
    identity=identity,
    auto=("intrasentence", "intersentence", "pair", "sentence", "contrast", "template"),
    options=_options(),
    holds=ANSWERS,
    read=lambda answers, info: make_answer_rows(answers, asked_prompts(info)),
    columns=("prompt",),
    part=PART,
)
