"""The back end on this machine: transformers generates in batches, and no answer depends on the others in its batch."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import registry
from ..errors import IsoglossError, require
from ..models.engine import TOKEN_BUDGET, answer_all
from ..models.model import Generating, Model, notes_on
from ..models.questions import Question
from ..models.text import Ids, encode
from .framing import frame_prompts
from .records import OPENING, THOUGHT, Answer
from .requests import AskSettings, Backend, OnAnswers, PromptRequest, seed_of

WINDOW = 256
NOT_ANSWERS = ("transformers_version", "_from_model_config", "use_cache", "output_attentions", "output_hidden_states")
TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|endoftext|>")


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """A request as the model reads it."""

    request: PromptRequest
    ids: Ids


def local_backend(model: Model, settings: AskSettings, *, token_budget: int | None = None) -> Backend:
    """An open model that answers by generating; a model that cannot is refused."""
    known = model.info
    generating_of(known.name, known.family)
    chat = settings.template != "plain"
    if chat and not model.tokenizer.chat_template:
        raise IsoglossError(
            f"'{known.name}' has no chat template, so it is not known how to address it. "
            "Use --option template=plain to give it the bare prompt, or choose a chat model."
        )

    def answer(requests: Sequence[PromptRequest], on_answers: OnAnswers) -> None:
        for batch in _batches(model, requests, chat=chat, budget=token_budget or TOKEN_BUDGET):
            on_answers(_answer_batch(model, batch, settings=settings))

    # the model's own settings of generation hold wherever `_generate` sets nothing else
    generation = json.loads(model.net.generation_config.to_json_string(use_diff=True, ignore_metadata=True))
    identity: dict[str, Any] = {
        "weights": known.weights,
        "tokenizer": known.tokenizer,
        "dtype": known.dtype,
        "chat": model.tokenizer.chat_template if chat else False,
        "generation": {k: v for k, v in generation.items() if k not in NOT_ANSWERS and v is not None},
    }
    facts: dict[str, Any] = {"family": known.family, "parameters": known.parameters, "languages": list(known.languages)}
    facts |= {"device": model.device}
    return Backend(known.name, settings, identity, answer, facts, lambda tag: notes_on(known, tag))


def generating_of(name: str, family: str) -> Generating:
    """How a model of a family answers; a family that cannot is refused."""
    generating: Generating | None = registry.get("family", family).generating
    if generating is None:
        raise IsoglossError(f"'{name}' is a {family} model, which cannot answer. Choose a chat model.")
    return generating


def _batches(
    model: Model, requests: Sequence[PromptRequest], *, chat: bool, budget: int
) -> Iterator[list[EncodedRequest]]:
    """The requests in batches of like length, window by window."""
    for start in range(0, len(requests), WINDOW):
        window = requests[start : start + WINDOW]
        texts = [request.text for request in window]
        if chat:
            framed = frame_prompts(model.tokenizer, texts, name=model.info.name)
            messages = [encode(model.tokenizer, text) for text in framed]
        else:
            generating = generating_of(model.info.name, model.info.family)
            messages = [generating.prompt(model, text) for text in texts]
        encoded = list(map(EncodedRequest, window, messages))
        batch: list[EncodedRequest] = []
        for request in sorted(encoded, key=lambda request: -len(request.ids)):
            if batch and (len(batch) + 1) * len(batch[0].ids) > budget:
                yield batch
                batch = []
            batch.append(request)
        if batch:
            yield batch


def _answer_batch(model: Model, batch: Sequence[EncodedRequest], *, settings: AskSettings) -> list[Answer]:
    limit = model.info.max_length
    longest = max(batch, key=lambda request: len(request.ids))
    if limit is not None and len(longest.ids) + settings.new_tokens > limit:
        raise IsoglossError(
            f"The prompt of item '{longest.request.item.id}' has {len(longest.ids)} tokens; with {settings.new_tokens} for the "
            f"answer that is more than the {limit} that '{model.info.name}' reads. Leave the item out."
        )
    ends, decode = _ends(model), model.tokenizer.decode
    generated = _generate(model, batch, settings=settings, ends=ends)
    logprobs = _yes_no_logprobs(model, batch)
    answers = []
    for index, (encoded, ids) in enumerate(zip(batch, generated, strict=True)):
        stop = next((position for position, token in enumerate(ids) if token in ends), None)
        kept = ids[:stop]
        text, opening = (str(decode(tokens, skip_special_tokens=True)).strip() for tokens in (kept, kept[:OPENING]))
        yes, no = logprobs.get(index, (None, None))
        answer = Answer(
            *encoded.request.key,
            text=text,
            opening=opening if THOUGHT not in text else None,
            finish="length" if stop is None else "stop",
            prompt_tokens=len(encoded.ids),
            answer_tokens=len(kept),
            yes=yes,
            no=no,
        )
        answers.append(answer)
    return answers


def _ends(model: Model) -> set[int]:
    """The tokens that end an answer."""
    ends: set[int] = set()
    for token in (model.net.generation_config.eos_token_id, model.tokenizer.eos_token_id):
        ends |= set(token) if isinstance(token, list) else {token}
    vocabulary = model.tokenizer.get_vocab()
    ends |= {vocabulary.get(token) for token in TURN_ENDS}
    return {int(token) for token in ends if token is not None}


def _generate(
    model: Model, batch: Sequence[EncodedRequest], *, settings: AskSettings, ends: set[int]
) -> list[list[int]]:
    """The tokens that follow each prompt; prompts are padded on the left."""
    torch, transformers = require("torch", extra="hf"), require("transformers", extra="hf")
    pad = model.tokenizer.pad_token_id
    pad = pad if pad is not None else min(ends, default=0)
    longest = max(len(request.ids) for request in batch)
    gaps = [longest - len(request.ids) for request in batch]
    ids = torch.tensor(
        [[pad] * gap + [*request.ids] for gap, request in zip(gaps, batch, strict=True)], device=model.device
    )
    mask = torch.tensor([[0] * gap + [1] * (longest - gap) for gap in gaps], device=model.device)
    config = transformers.GenerationConfig(
        max_new_tokens=settings.new_tokens,
        do_sample=False,
        num_beams=1,
        repetition_penalty=1.0,
        temperature=1.0,
        top_p=1.0,
        top_k=50,
        eos_token_id=sorted(ends) or None,
        pad_token_id=pad,
    )
    more = {"logits_processor": [_gumbel_noise(batch, settings=settings)]} if settings.temperature > 0 else {}
    with torch.inference_mode():
        output = model.net.generate(ids, attention_mask=mask, generation_config=config, **more)
    start = longest if generating_of(model.info.name, model.info.family).echoes else 1
    return [row[start:].tolist() for row in output]


def _gumbel_noise(batch: Sequence[EncodedRequest], *, settings: AskSettings) -> Callable[[Any, Any], Any]:
    """What turns the most probable token into a sample: seeded Gumbel noise, for each request its own."""
    torch = require("torch", extra="hf")
    draws = [np.random.default_rng(seed_of(request.request, settings.seed)) for request in batch]

    def add_noise(ids: Any, scores: Any) -> Any:
        rows = np.stack([draw.gumbel(size=scores.shape[-1]) for draw in draws])
        return scores / settings.temperature + torch.tensor(rows, dtype=scores.dtype, device=scores.device)

    return add_noise


def _yes_no_logprobs(model: Model, batch: Sequence[EncodedRequest]) -> dict[int, tuple[float, float]]:
    """By place: the log-probabilities that the answer is the language's yes or its no, in small or capital letters."""
    generating = generating_of(model.info.name, model.info.family)
    questions: list[Question] = []
    indices: list[tuple[int, int]] = []
    for index, request in enumerate(batch):
        if request.request.sample:
            continue
        for side, word in enumerate(request.request.words):
            for form in dict.fromkeys((word, word[:1].upper() + word[1:])):
                tokens = encode(model.tokenizer, form)
                if not tokens:
                    raise IsoglossError(f"'{model.info.name}' has no tokens for the answer '{form}'.")
                questions.append(generating.after(model, request.ids, tokens=tokens))
                indices.append((index, side))
    logs = answer_all(model, questions, token_budget=TOKEN_BUDGET)
    sums: dict[tuple[int, int], float] = {}
    for where, log in zip(indices, logs, strict=True):
        sums[where] = float(np.logaddexp(sums.get(where, -np.inf), float(log.sum())))
    return {index: (sums[index, 0], sums[index, 1]) for index, side in sums if side == 0}
