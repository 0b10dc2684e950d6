"""Choice: a chat model is shown the candidates as labeled options, in balanced orders, and picks one in words."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from .. import languages
from ..chat.choice_records import CHOICES, ChoiceAnswer, make_choice_rows
from ..chat.question_words import FORMS, UNKNOWN, QuestionWords, question_words_of
from ..errors import IsoglossError
from ..items import BLANK, Candidate, Item
from ..models.model import Model
from ..models.questions import TEXT, Asking, Prompt
from . import Free, Method, Options

LABELS = "ABCDEFGH"
GAP = "____"
QUESTION, FILL, FOLLOW, LIKELY = FORMS
PLACEHOLDER = "unknown"  # EsBBQ and CaBBQ have this English word where the model is to see a wording in its language
PART = 192  # candidates, of about 64 items with three each: a part is complete within minutes


def form_of(item: Item) -> str:
    """How an item is asked: a question, a blank to fill, a sentence to follow, or the likelier of some sentences."""
    if item.question:
        return QUESTION
    if BLANK in (item.context or "") and all(candidate.word for candidate in item.candidates):
        return FILL
    return FOLLOW if item.context and BLANK not in item.context else LIKELY


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """One message for each order of the options, and each sample.

    Constrained, the answer is the label with the highest log-probability, not what the model goes on to say.
    """
    words, form = question_words_of(languages.describe(item.language)), form_of(item)
    orders = list(orders_of(item, options))
    texts = {candidate.id: option_text(item, candidate, words=words) for candidate in item.candidates}
    samples, constrained = int(options["samples"]), options["constrained"] == "yes"
    labels = tuple(LABELS[: len(item.candidates)])
    prompts = [
        Prompt(
            message(item, order, words=words),
            options=labels if constrained else (),
            max_tokens=1 if constrained else int(options["max_tokens"]),
            temperature=float(options["temperature"]),
            seed=int(options["seed"]) + sample,
            template=options["template"],
        )
        for order in orders
        for sample in range(samples)
    ]
    replies = yield prompts
    if constrained and all(reply.logprobs is None for reply in replies):
        raise IsoglossError(
            f"The model gives no log-probabilities of the labels {', '.join(labels)}. Use `constrained=no`."
        )
    rows = []
    for number, reply in enumerate(replies):
        order, sample = orders[number // samples], number % samples
        shown = tuple(candidate.id for candidate in order)
        rows.append(
            ChoiceAnswer(
                *item.key,
                shown[0],
                form,
                sample,
                shown,
                tuple(candidate.role for candidate in order),
                tuple(texts[name] for name in shown),
                likeliest(labels, reply.logprobs) if constrained else reply.text,
                reply.finish,
                reply.prompt_tokens,
                reply.answer_tokens,
            )
        )
    return rows


def orders_of(item: Item, options: Options) -> Iterator[tuple[Candidate, ...]]:
    """The orders of the options: cyclic ones put each option once in each place."""
    candidates = item.candidates
    if options["orders"] == "all":
        yield from permutations(candidates)
        return
    for start in range(len(candidates) if options["orders"] == "cyclic" else 1):
        yield (*candidates[start:], *candidates[:start])


def message(item: Item, order: tuple[Candidate, ...], *, words: QuestionWords) -> str:
    """The message that shows the options in an order."""
    texts = [option_text(item, candidate, words=words) for candidate in order]
    return words.asked(
        form_of(item),
        context=(item.context or "").replace(BLANK, GAP),
        question=item.question or "",
        options=dict(zip(LABELS, texts, strict=False)),
    )


def option_text(item: Item, candidate: Candidate, *, words: QuestionWords) -> str:
    """What an option shows: the word for a blank, otherwise the sentence; *unknown* in the item's language."""
    if form_of(item) == FILL:
        return str(candidate.word)
    placeholder = candidate.role == UNKNOWN and candidate.text.strip().casefold() == PLACEHOLDER
    return words.unknown[0] if placeholder and not item.language.startswith("en") else candidate.text


def likeliest(labels: Sequence[str], logprobs: Sequence[float] | None) -> str:
    """The label with the highest log-probability; several where they tie, and none where there are no log-probabilities."""
    if not logprobs:
        return ""
    return ", ".join(label for label, log in zip(labels, logprobs, strict=True) if log == max(logprobs))


def check_options(options: Options) -> None:
    """Refuse settings that do not fit together."""
    if options["constrained"] == "yes" and (int(options["samples"]) > 1 or float(options["temperature"]) > 0):
        raise IsoglossError(
            "The label with the highest log-probability is the same in every sample. Use samples=1 and temperature=0."
        )
    if int(options["samples"]) > 1 and not float(options["temperature"]) > 0:
        raise IsoglossError(
            f"{options['samples']} samples at temperature 0 are all the same. Use temperature=0.7, or samples=1."
        )


def identity(model: Model, language: str, *, options: Options) -> dict[str, Any]:
    """What answers depend on beside model and items: the prompts, the wording of *unknown*, and how the model is addressed."""
    words = question_words_of(languages.describe(language))
    asked = {"prompts": dict(words.texts), "words": list(words.unknown[:1])}
    return asked | dict(model.family.prompting(model, options["template"]))


method = Method(
    title="Choosing between labeled options, by a chat model",
    formula="share of answers that pick a candidate, over balanced orders of the labeled options; answers that pick none are counted by reason",
    citation="ours; Nadeem et al. (2021) for StereoSet, Parrish et al. (2022) for BBQ",
    uses=(TEXT,),
    suits=lambda item: 1 < len(item.candidates) <= len(LABELS),
    ask=ask,
    check=check_options,
    identity=identity,
    auto=(QUESTION,),
    options={
        "orders": ("cyclic", "given", "all"),
        "constrained": ("no", "yes"),
        "samples": Free("1", int, 1),
        "temperature": Free("0.0", float),
        "seed": Free("0", int),
        "max_tokens": Free("10", int, 1),
        "template": ("auto", "plain"),
    },
    holds=CHOICES,
    read=make_choice_rows,
    columns=("places",),
    part=PART,
)
