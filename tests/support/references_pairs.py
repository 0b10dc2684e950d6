"""Slow, plain scorings of whole sentences and pairs, written from METHODS §6 and SEMANTICS §4-5 alone."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch

from isogloss.models.model import Model
from support.references import SENTINEL, NoCache, logprobs


def whole(model: Model, text: str) -> tuple[list[int], list[int]]:
    """The tokens with special tokens, and the places of the others."""
    made = model.tokenizer(text, return_special_tokens_mask=True)
    mask = made["special_tokens_mask"]
    inner = [k for k, special in enumerate(mask) if not special or made["input_ids"][k] == model.tokenizer.unk_token_id]
    return list(made["input_ids"]), inner


def pll(model: Model, text: str, language: str) -> list[float]:
    """Each token masked alone."""
    ids, inner = whole(model, text)
    found = []
    for position in inner:
        shown = [*ids[:position], model.tokenizer.mask_token_id, *ids[position + 1 :]]
        found.append(logprobs(model, shown, language)[position, ids[position]].item())
    return found


def pll_word_l2r(model: Model, text: str, language: str) -> list[float]:
    """Each token masked together with the later tokens of its word."""
    ids, inner = whole(model, text)
    made = model.tokenizer(text, return_offsets_mapping=True)
    words, offsets = made.word_ids(), made["offset_mapping"]
    if language == "zh":  # every token is a word, but for the bytes of one letter
        words = [sum(offsets[k][0] >= offsets[k - 1][1] for k in range(1, index + 1)) for index in range(len(ids))]
    found = []
    for position in inner:
        shown = list(ids)
        for later in inner:
            if later >= position and words[later] == words[position]:
                shown[later] = model.tokenizer.mask_token_id
        found.append(logprobs(model, shown, language)[position, ids[position]].item())
    return found


def shared(first: list[int], second: list[int]) -> tuple[list[int], list[int]]:
    """The longest common block, then the same to its left and to its right; as difflib says it works."""
    best = (0, 0, 0)
    for a in range(len(first)):
        for b in range(len(second)):
            size = 0
            while a + size < len(first) and b + size < len(second) and first[a + size] == second[b + size]:
                size += 1
            if size > best[2]:
                best = (a, b, size)
    a, b, size = best
    if not size:
        return [], []
    left = shared(first[:a], second[:b])
    right = shared(first[a + size :], second[b + size :])
    return (
        [*left[0], *range(a, a + size), *(a + size + k for k in right[0])],
        [*left[1], *range(b, b + size), *(b + size + k for k in right[1])],
    )


def crows(model: Model, texts: tuple[str, str], language: str) -> list[list[float]]:
    """The tokens that both sentences share but the first and the last (the special ones), each masked alone."""
    ids = [whole(model, text)[0] for text in texts]
    positions = shared(ids[0], ids[1])
    found = []
    for one, where in zip(ids, positions, strict=True):
        logs = []
        for position in where[1:-1]:
            shown = [*one[:position], model.tokenizer.mask_token_id, *one[position + 1 :]]
            logs.append(logprobs(model, shown, language)[position, one[position]].item())
        found.append(logs)
    return found


def eager_output(model: Model, ids: list[int], language: str) -> Any:
    """One plain pass of a copy of the network with eager attention, everything kept."""
    net = copy.deepcopy(model.net)
    net.set_attn_implementation("eager")
    inputs: dict[str, Any] = {}
    if net.config.model_type == "xlm":
        inputs["langs"] = torch.full((1, len(ids)), net.config.lang2id[language])
    if getattr(net.config, "pre_norm", False):
        inputs["cache"] = NoCache()
    with torch.no_grad():
        return net.base_model(
            input_ids=torch.tensor([ids]), output_attentions=True, output_hidden_states=True, **inputs
        )


def aula(model: Model, text: str, language: str) -> tuple[float, float]:
    """AUL and AULA: attention stacked over layers, averaged over layers, heads, then queries."""
    ids, inner = whole(model, text)
    table = logprobs(model, ids, language)
    logs = np.array([table[position, ids[position]].item() for position in inner])
    stacked = torch.stack(list(eager_output(model, ids, language).attentions))  # layers, 1, heads, queries, keys
    received = stacked.double().mean(0)[0].mean(0).mean(0).numpy()[inner]
    return float(logs.mean()), float((received * logs).mean())


def aul(model: Model, text: str, language: str) -> float:
    """The mean log-probability of every token where it stands."""
    ids, inner = whole(model, text)
    table = logprobs(model, ids, language)
    return float(np.mean([table[position, ids[position]].item() for position in inner]))


def vector(model: Model, text: str, language: str) -> list[float]:
    """The mean of the last layer over the inner tokens."""
    ids, inner = whole(model, text)
    net, inputs = model.net, {}
    if net.config.model_type == "xlm":
        inputs["langs"] = torch.full((1, len(ids)), net.config.lang2id[language])
    if getattr(net.config, "pre_norm", False):
        inputs["cache"] = NoCache()
    with torch.no_grad():
        states = net.base_model(input_ids=torch.tensor([ids]), **inputs).last_hidden_state[0]
    return states.double()[inner].mean(0).tolist()


def likelihood_seq2seq(model: Model, text: str) -> list[float]:
    """T5 class: the sentence behind a sentinel, teacher-forced."""
    source = list(model.tokenizer(SENTINEL)["input_ids"])
    wanted = list(model.tokenizer(text, add_special_tokens=False)["input_ids"])
    decoder = [0, model.tokenizer.convert_tokens_to_ids(SENTINEL), *wanted]
    table = logprobs(model, source, decoder_input_ids=torch.tensor([decoder]))
    return [table[k + 1, token].item() for k, token in enumerate(wanted)]


def mbe(scores: np.ndarray, vectors: np.ndarray, male: np.ndarray, *, cosine: bool) -> float:
    """The dense way: every male and female sentence against each other."""
    if cosine:
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    weights = vectors[male] @ vectors[~male].T
    above = scores[male][:, None] > scores[~male][None, :]
    equal = scores[male][:, None] == scores[~male][None, :]
    won = above + (0.5 * equal if cosine else 0)
    return float(100 * (weights * won).sum() / weights.sum())
