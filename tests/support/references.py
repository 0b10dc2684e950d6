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


def in_sentence(model: Model, item: Item, candidate: Candidate) -> list[list[int]]:
    """The tokens of the filled sentence between and in the BLANKs, by turns; what follows BLANK is cut as behind a word."""
    found, text, context, word = [], "", item.context or "", candidate.word or ""
    for number, gap in enumerate(context.split("BLANK")):
        if number:
            found.append(word_tokens(model, text, word))
            text += word
        last = number == context.count("BLANK")
        own = gap if last else gap.rstrip(" ")
        before, both = plain(model, text), plain(model, text + own)
        if both[: len(before)] != before or (own and len(both) == len(before)):
            before, both = plain(model, "a"), plain(model, "a" + own)
        found.append(both[len(before) :])
        text += gap
    return found


def masked_inputs(model: Model, item: Item, candidate: Candidate, mask: int) -> list[tuple[list[int], int, int]]:
    """For each piece: every BLANK with the pieces before it and a mask; the place of the first mask; the piece."""
    parts, found = in_sentence(model, item, candidate), []
    framed = list(model.tokenizer("a")["input_ids"])
    left = framed.index(plain(model, "a")[0])
    for k, piece in enumerate(parts[1]):
        ids = framed[:left]
        for number, part in enumerate(parts):
            ids = ids + ([*part[:k], mask] if number % 2 else part)
        ids = ids + framed[left + len(plain(model, "a")) :]
        found.append((ids, left + len(parts[0]) + k, piece))
    return found


def unmask(model: Model, item: Item, candidate: Candidate) -> list[float]:
    """Masked models: each piece at one mask behind the pieces before it."""
    inputs = masked_inputs(model, item, candidate, model.tokenizer.mask_token_id)
    return [logprobs(model, ids, item.language)[position, piece].item() for ids, position, piece in inputs]


def unmask_all(model: Model, item: Item, candidate: Candidate) -> list[float]:
    """Masked models: as many masks as pieces, all read from one pass."""
    mask = model.tokenizer.mask_token_id
    parts = in_sentence(model, item, candidate)
    _, position, _ = masked_inputs(model, item, candidate, mask)[0]
    framed = list(model.tokenizer("a")["input_ids"])
    left = framed.index(plain(model, "a")[0])
    middle = [token for number, part in enumerate(parts) for token in ([mask] * len(part) if number % 2 else part)]
    table = logprobs(model, [*framed[:left], *middle, *framed[left + len(plain(model, "a")) :]], item.language)
    return [table[position + k, piece].item() for k, piece in enumerate(parts[1])]


def unmask_seq2seq(model: Model, item: Item, candidate: Candidate) -> list[float]:
    """T5 class: each piece at the step after the sentinel."""
    sentinel = model.tokenizer.convert_tokens_to_ids(SENTINEL)
    found = []
    for ids, _, piece in masked_inputs(model, item, candidate, sentinel):
        table = logprobs(model, ids, decoder_input_ids=torch.tensor([[0, sentinel]]))
        found.append(table[1, piece].item())
    return found


def text_logprobs(model: Model, tokens: list[int], *, start: bool = True) -> list[float]:
    """Causal models: the log-probability of every token of a text, the first one after the start token."""
    first = [model.tokenizer.convert_tokens_to_ids(STARTS[model.info.model_type])] if start else []
    ids = first + tokens
    table = logprobs(model, ids)
    return [table[index - 1, ids[index]].item() for index in range(1, len(ids))]


def likelihood(model: Model, candidate: Candidate, *, start: bool = True) -> list[float]:
    """Causal models: the sentence as it is stored."""
    return text_logprobs(model, plain(model, candidate.text), start=start)


def geometric(logs: list[float]) -> float:
    """The geometric mean of the probabilities."""
    return math.exp(math.fsum(logs) / len(logs))


def ended(item: Item) -> str:
    """The context with a full stop of its language where no mark ends it."""
    context = (item.context or "").rstrip()
    return context if context[-1:] in tuple(".!?。।") else context + {"zh": "。", "hi": "।"}.get(item.language, ".")


def space(item: Item) -> str:
    """What stands between two sentences."""
    return "" if item.language == "zh" else " "


def continuation(model: Model, item: Item, candidate: Candidate) -> dict[str, list[float]]:
    """Causal models: A = context, AB = everything, B|A = the candidate's tokens in it, B = the candidate alone."""
    context = ended(item)
    before = plain(model, context)
    tokens = plain(model, context + space(item) + candidate.text)
    seam = next((k for k, token in enumerate(before) if tokens[k : k + 1] != [token]), len(before))
    whole = text_logprobs(model, tokens)
    return {
        "A": text_logprobs(model, before),
        "AB": whole,
        "B|A": whole[seam:],
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
    source = list(model.tokenizer(ended(item) + space(item) + SENTINEL)["input_ids"])
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
