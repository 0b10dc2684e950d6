"""Slow, plain, obvious scorings, one text at a time, written from METHODS §1 and from nothing in `isogloss.methods`."""

from __future__ import annotations

import math
from typing import Any

import torch

from isogloss.items import Candidate, Item
from isogloss.models.model import Model

SENTINEL = "<extra_id_0>"
STARTS = {
    "gpt2": "<|endoftext|>",
    "llama": "<s>",
    "gemma2": "<bos>",
    "gemma3_text": "<bos>",
    "qwen2": "<|endoftext|>",
    "qwen3": "<|endoftext|>",
    "bloom": "<s>",
    "opt": "</s>",
}


class NoCache:
    """What a FlauBERT with `pre_norm` must be given, since transformers 5 cannot index the cache it makes itself."""

    def get_seq_length(self) -> int:
        return 0

    def __getitem__(self, layer: int) -> None:
        return None


def logprobs(model: Model, ids: list[int], language: str | None = None, **inputs: Any) -> torch.Tensor:
    """Log-probabilities of the whole vocabulary at every position of one text, in one plain pass."""
    config = model.net.config
    if language and config.model_type == "xlm":
        inputs["langs"] = torch.full((1, len(ids)), config.lang2id[language])
    if getattr(config, "pre_norm", False):
        inputs["cache"] = NoCache()
    with torch.no_grad():
        output = model.net(input_ids=torch.tensor([ids]), **inputs)
    logits = output.prediction_logits if hasattr(output, "prediction_logits") else output.logits
    return logits[0].double().log_softmax(-1)


def plain(model: Model, text: str) -> list[int]:
    """The tokens of a text without special tokens."""
    return list(model.tokenizer(text, add_special_tokens=False)["input_ids"])


def word_tokens(model: Model, left: str, word: str) -> list[int]:
    """The tokens of the word as it stands behind `left`: those that reach beyond it."""
    made = model.tokenizer(left + word, add_special_tokens=False, return_offsets_mapping=True)
    edge = len(left.rstrip(" "))
    return [token for token, (_, end) in zip(made["input_ids"], made["offset_mapping"], strict=True) if end > edge]


def split_blank(item: Item, candidate: Candidate) -> tuple[str, str, str]:
    """What stands before the first BLANK, the word, and what stands after it with the other BLANKs filled."""
    context, word = item.context or "", candidate.word or ""
    place = context.index("BLANK")
    return context[:place], word, context[place + len("BLANK") :].replace("BLANK", word)


def unmask(model: Model, item: Item, candidate: Candidate) -> list[float]:
    """Masked models: each piece at one mask behind the pieces before it."""
    left, word, right = split_blank(item, candidate)
    mask = model.tokenizer.mask_token_id
    whole = list(model.tokenizer(left + model.tokenizer.mask_token + right)["input_ids"])
    place = whole.index(mask)
    found = []
    pieces = word_tokens(model, left, word)
    for k, piece in enumerate(pieces):
        ids = whole[:place] + pieces[:k] + [mask] + whole[place + 1 :]
        found.append(logprobs(model, ids, item.language)[place + k, piece].item())
    return found


def unmask_all(model: Model, item: Item, candidate: Candidate) -> list[float]:
    """Masked models: as many masks as pieces, all read from one pass."""
    left, word, right = split_blank(item, candidate)
    mask = model.tokenizer.mask_token_id
    whole = list(model.tokenizer(left + model.tokenizer.mask_token + right)["input_ids"])
    place = whole.index(mask)
    pieces = word_tokens(model, left, word)
    ids = whole[:place] + [mask] * len(pieces) + whole[place + 1 :]
    table = logprobs(model, ids, item.language)
    return [table[place + k, piece].item() for k, piece in enumerate(pieces)]


def unmask_seq2seq(model: Model, item: Item, candidate: Candidate, *, paper: bool = False) -> list[float]:
    """T5 class: each piece at the step after the sentinel, or (as published) after the first greedy step."""
    left, word, right = split_blank(item, candidate)
    sentinel = model.tokenizer.convert_tokens_to_ids(SENTINEL)
    whole = list(model.tokenizer(left + SENTINEL + right)["input_ids"])
    place = whole.index(sentinel)
    pieces = word_tokens(model, left, word)
    found = []
    for k, piece in enumerate(pieces):
        ids = whole[:place] + pieces[:k] + whole[place:]
        first = sentinel
        if paper:
            first = int(logprobs(model, ids, decoder_input_ids=torch.tensor([[0]]))[0].argmax())
        table = logprobs(model, ids, decoder_input_ids=torch.tensor([[0, first]]))
        found.append(table[1, piece].item())
    return found


def text_logprobs(model: Model, tokens: list[int], *, start: bool = True) -> list[float]:
    """Causal models: the log-probability of every token of a text, the first one after the start token."""
    first = [model.tokenizer.convert_tokens_to_ids(STARTS[model.info.model_type])] if start else []
    ids = first + tokens
    table = logprobs(model, ids)
    return [table[place - 1, ids[place]].item() for place in range(1, len(ids))]


def likelihood(model: Model, candidate: Candidate, *, start: bool = True) -> list[float]:
    """Causal models: the sentence as it is stored."""
    return text_logprobs(model, plain(model, candidate.text), start=start)


def geometric(logs: list[float]) -> float:
    """The geometric mean of the probabilities."""
    return math.exp(math.fsum(logs) / len(logs))


def ended(context: str) -> str:
    """The context with a full stop where it ends in none of . ! ?"""
    return context if context[-1:] in (".", "!", "?") else context + "."


def continuation(model: Model, item: Item, candidate: Candidate) -> dict[str, list[float]]:
    """Causal models: A = context, AB = everything, B|A = the candidate's tokens in it, B = the candidate alone."""
    context = ended(item.context or "")
    before = plain(model, context)
    whole = text_logprobs(model, plain(model, f"{context} {candidate.text}"))
    return {
        "A": text_logprobs(model, before),
        "AB": whole,
        "B|A": whole[len(before) :],
        "B": likelihood(model, candidate),
    }


def case(name: str, logs: dict[str, list[float]]) -> float:
    """The score of a case, as METHODS §1 writes it."""
    mean = {key: geometric(values) for key, values in logs.items()}
    return {
        "orig": mean["B"] / mean["A"],
        "b": mean["B|A"] / mean["AB"],
        "c": mean["AB"],
        "d": mean["B|A"],
        "e": mean["B|A"] / mean["B"],
        "f": mean["AB"] / mean["B"],
    }[name]


def continuation_seq2seq(model: Model, item: Item, candidate: Candidate, *, closing: bool) -> list[float]:
    """T5 class: the candidate's tokens behind the sentinel, teacher-forced; as published with the closing </s>."""
    source = list(model.tokenizer(f"{ended(item.context or '')} {SENTINEL}")["input_ids"])
    wanted = plain(model, candidate.text) + ([model.tokenizer.eos_token_id] if closing else [])
    decoder = [0, model.tokenizer.convert_tokens_to_ids(SENTINEL), *wanted]
    table = logprobs(model, source, decoder_input_ids=torch.tensor([decoder]))
    return [table[k + 1, token].item() for k, token in enumerate(wanted)]


def nsp(model: Model, item: Item, candidate: Candidate) -> list[float]:
    """Models with a next-sentence head: the log-probabilities of its two classes."""
    inputs = model.tokenizer(item.context, candidate.text, return_tensors="pt", return_token_type_ids=True)
    inputs.pop("attention_mask")
    with torch.no_grad():
        logits = model.net(**inputs).seq_relationship_logits
    return logits[0].double().log_softmax(-1).tolist()
