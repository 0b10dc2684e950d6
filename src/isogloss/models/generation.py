"""Answers in words from a model on this machine: transformers generates in batches, and no answer depends on its batch."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..chat.records import OPENING, THOUGHT
from ..errors import IsoglossError, require
from ..items import group_by
from .chat_template import NO_TEMPLATE, frame_prompts, may_have_template
from .engine import TOKEN_BUDGET, answer_all
from .model import Generating, Model
from .questions import Keep, Prompt, Question, Reply
from .text import Ids, encode

WINDOW = 256  # prompts that are sorted by length and framed together
NOT_ANSWERS = ("transformers_version", "_from_model_config", "use_cache", "output_attentions", "output_hidden_states")
TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|endoftext|>")


@dataclass(frozen=True, slots=True)
class EncodedPrompt:
    """A prompt as the model reads it."""

    prompt: Prompt
    ids: Ids


def answer_prompts(model: Model, questions: Sequence[Any], *, keep: Keep, token_budget: int | None = None) -> None:
    """Answer prompts by generating, batch by batch."""
    kinds = group_by(questions, lambda prompt: (prompt.template, prompt.max_tokens, prompt.temperature))
    for prompts in kinds.values():
        for batch in _batches(model, prompts, budget=token_budget or TOKEN_BUDGET):
            replies = _answer_batch(model, batch)
            keep({encoded.prompt: reply for encoded, reply in zip(batch, replies, strict=True)})


def refuse_prompts(model: Model, options: Mapping[str, str]) -> str | None:
    """A sentence when a model cannot be addressed: it has no chat template, and the bare prompt was not asked for."""
    if options.get("template") != "plain" and not model.tokenizer.chat_template:
        return NO_TEMPLATE.format(name=model.info.name)
    return None


def refuse_prompts_by_files(folder: Path, *, name: str, options: Mapping[str, str]) -> str | None:
    """The same sentence before any weight is loaded, where the files show that there is no chat template."""
    missing = options.get("template") != "plain" and not may_have_template(folder)
    return NO_TEMPLATE.format(name=name) if missing else None


def prompting_identity(model: Model, template: str) -> dict[str, Any]:
    """What answers in words depend on beside the weights: the chat template, and the model's own settings of generation.

    Those settings hold wherever `_generate` sets nothing else.
    """
    config = getattr(model.net, "generation_config", None)
    generation = json.loads(config.to_json_string(use_diff=True, ignore_metadata=True)) if config else {}
    return {
        "chat": model.tokenizer.chat_template if template != "plain" else False,
        "generation": {key: value for key, value in generation.items() if key not in NOT_ANSWERS and value is not None},
    }


def _generating(model: Model) -> Generating:
    if model.family.generating is None:
        raise IsoglossError(f"'{model.info.name}' is a {model.info.family} model, which cannot answer in words.")
    return model.family.generating


def _batches(model: Model, prompts: Sequence[Prompt], *, budget: int) -> Iterator[list[EncodedPrompt]]:
    """The prompts in batches of like length, window by window."""
    for start in range(0, len(prompts), WINDOW):
        window = prompts[start : start + WINDOW]
        texts = [prompt.text for prompt in window]
        if window[0].template == "plain":
            messages = [_generating(model).prompt(model, text) for text in texts]
        else:
            framed = frame_prompts(model.tokenizer, texts, name=model.info.name)
            messages = [encode(model.tokenizer, text) for text in framed]
        encoded = list(map(EncodedPrompt, window, messages))
        batch: list[EncodedPrompt] = []
        for prompt in sorted(encoded, key=lambda prompt: -len(prompt.ids)):
            if batch and (len(batch) + 1) * len(batch[0].ids) > budget:
                yield batch
                batch = []
            batch.append(prompt)
        if batch:
            yield batch


def _answer_batch(model: Model, batch: Sequence[EncodedPrompt]) -> list[Reply]:
    limit, most = model.info.max_length, batch[0].prompt.max_tokens
    longest = max(batch, key=lambda encoded: len(encoded.ids))
    if limit is not None and len(longest.ids) + most > limit:
        raise IsoglossError(
            f"A prompt has {len(longest.ids)} tokens; with {most} for the answer that is more than the {limit} that "
            f"'{model.info.name}' reads: '{longest.prompt.text[:60]}…'. Leave the item out."
        )
    ends, decode = _ends(model), model.tokenizer.decode
    generated = _generate(model, batch, ends=ends)
    logprobs = _option_logprobs(model, batch)
    replies = []
    for index, (encoded, ids) in enumerate(zip(batch, generated, strict=True)):
        stop = next((position for position, token in enumerate(ids) if token in ends), None)
        kept = ids[:stop]
        text, opening = (str(decode(tokens, skip_special_tokens=True)).strip() for tokens in (kept, kept[:OPENING]))
        reply = Reply(
            text=text,
            opening=opening if THOUGHT not in text else None,
            finish="length" if stop is None else "stop",
            prompt_tokens=len(encoded.ids),
            answer_tokens=len(kept),
            logprobs=logprobs.get(index),
        )
        replies.append(reply)
    return replies


def _ends(model: Model) -> set[int]:
    """The tokens that end an answer."""
    ends: set[int] = set()
    for token in (model.net.generation_config.eos_token_id, model.tokenizer.eos_token_id):
        ends |= set(token) if isinstance(token, list) else {token}
    vocabulary = model.tokenizer.get_vocab()
    ends |= {vocabulary.get(token) for token in TURN_ENDS}
    return {int(token) for token in ends if token is not None}


def _generate(model: Model, batch: Sequence[EncodedPrompt], *, ends: set[int]) -> list[list[int]]:
    """The tokens that follow each prompt; prompts are padded on the left."""
    torch, transformers = require("torch", extra="hf"), require("transformers", extra="hf")
    pad = model.tokenizer.pad_token_id
    pad = pad if pad is not None else min(ends, default=0)
    longest = max(len(encoded.ids) for encoded in batch)
    gaps = [longest - len(encoded.ids) for encoded in batch]
    ids = torch.tensor(
        [[pad] * gap + [*encoded.ids] for gap, encoded in zip(gaps, batch, strict=True)], device=model.device
    )
    mask = torch.tensor([[0] * gap + [1] * (longest - gap) for gap in gaps], device=model.device)
    config = transformers.GenerationConfig(
        max_new_tokens=batch[0].prompt.max_tokens,
        do_sample=False,
        num_beams=1,
        repetition_penalty=1.0,
        temperature=1.0,
        top_p=1.0,
        top_k=50,
        eos_token_id=sorted(ends) or None,
        pad_token_id=pad,
    )
    more = {"logits_processor": [_gumbel_noise(batch)]} if batch[0].prompt.temperature > 0 else {}
    with torch.inference_mode():
        output = model.net.generate(ids, attention_mask=mask, generation_config=config, **more)
    start = longest if _generating(model).echoes else 1
    return [row[start:].tolist() for row in output]


def _gumbel_noise(batch: Sequence[EncodedPrompt]) -> Callable[[Any, Any], Any]:
    """What turns the most probable token into a sample: seeded Gumbel noise, for each prompt its own."""
    torch = require("torch", extra="hf")
    draws = [np.random.default_rng(encoded.prompt.seed) for encoded in batch]
    temperature = batch[0].prompt.temperature

    def add_noise(ids: Any, scores: Any) -> Any:
        rows = np.stack([draw.gumbel(size=scores.shape[-1]) for draw in draws])
        return scores / temperature + torch.tensor(rows, dtype=scores.dtype, device=scores.device)

    return add_noise


def _option_logprobs(model: Model, batch: Sequence[EncodedPrompt]) -> dict[int, tuple[float, ...]]:
    """By index: the log-probability that the answer is each of the prompt's options, in small or capital letters."""
    questions: list[Question] = []
    indices: list[tuple[int, int]] = []
    for index, encoded in enumerate(batch):
        for option, word in enumerate(encoded.prompt.options):
            for form in dict.fromkeys((word, word[:1].upper() + word[1:])):
                tokens = encode(model.tokenizer, form)
                if not tokens:
                    raise IsoglossError(f"'{model.info.name}' has no tokens for the answer '{form}'.")
                questions.append(_generating(model).after(model, encoded.ids, tokens=tokens))
                indices.append((index, option))
    logs = answer_all(model, questions, token_budget=TOKEN_BUDGET)
    sums: dict[tuple[int, int], float] = {}
    for where, log in zip(indices, logs, strict=True):
        sums[where] = float(np.logaddexp(sums.get(where, -np.inf), float(log.sum())))
    return {
        index: tuple(sums[index, option] for option in range(len(encoded.prompt.options)))
        for index, encoded in enumerate(batch)
        if encoded.prompt.options
    }
