"""Plain references: every candidate alone, dynamic padding, softmax over the whole vocabulary at every position.

They work as the published code does and share nothing with the engine; `batch` is how many inputs go in at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from isogloss.items import Candidate, Item
from isogloss.models.model import Model

SENTINEL = "<extra_id_0>"


def _each(items: Sequence[Item]) -> list[tuple[Item, Candidate]]:
    return [(item, candidate) for item in items for candidate in item.candidates]


def unmask(model: Model, items: Sequence[Item], batch: int) -> list[float]:
    """Masked models: one input per piece of every word."""
    tokenizer, texts, targets, owners = model.tokenizer, [], [], []
    for number, (item, candidate) in enumerate(_each(items)):
        pieces = tokenizer.encode(candidate.word, add_special_tokens=False)
        for k, piece in enumerate(pieces):
            shown = tokenizer.decode(pieces[:k])
            texts.append(item.context.replace("BLANK", shown + tokenizer.mask_token))
            targets.append(piece)
            owners.append(number)
    found: dict[int, list[float]] = {}
    with torch.no_grad():
        for start in range(0, len(texts), batch):
            inputs = tokenizer(
                texts[start : start + batch], padding=True, return_tensors="pt", return_token_type_ids=False
            )
            output = model.net(**inputs)
            probabilities = (output.prediction_logits if "prediction_logits" in output else output.logits).softmax(-1)
            for row in range(len(inputs.input_ids)):
                position = (inputs.input_ids[row] == tokenizer.mask_token_id).nonzero()[0, 0]
                found.setdefault(owners[start + row], []).append(
                    float(probabilities[row, position, targets[start + row]])
                )
    return [sum(values) / len(values) for _, values in sorted(found.items())]


def likelihood(model: Model, items: Sequence[Item], batch: int) -> list[float]:
    """Causal models: every sentence alone, after the start token."""
    texts = [candidate.text for item in items for candidate in item.candidates]
    return _causal(model, [("", text) for text in texts], batch)


def continuation(model: Model, items: Sequence[Item], batch: int) -> list[float]:
    """Causal models, case d: the candidate's tokens after the context."""
    pairs = [(_closed(item.context or ""), " " + c.text) for item in items for c in item.candidates]
    return _causal(model, pairs, batch)


def _closed(context: str) -> str:
    return context if context.endswith((".", "!", "?")) else context + "."


def _causal(model: Model, pairs: Sequence[tuple[str, str]], batch: int) -> list[float]:
    tokenizer = model.tokenizer
    rows = []
    for context, text in pairs:
        before = tokenizer.encode(context, add_special_tokens=False) if context else []
        full = tokenizer.encode(context + text, add_special_tokens=False)
        rows.append(([tokenizer.bos_token_id, *full], len(before)))
    scores = []
    with torch.no_grad():
        for start in range(0, len(rows), batch):
            group = rows[start : start + batch]
            longest = max(len(ids) for ids, _ in group)
            ids = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in group])
            mask = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in group])
            probabilities = model.net(input_ids=ids, attention_mask=mask).logits.softmax(-1)
            for row, (tokens, skip) in enumerate(group):
                positions = torch.arange(skip, len(tokens) - 1)
                wanted = probabilities[row, positions, torch.tensor(tokens)[positions + 1]]
                scores.append(float(2 ** wanted.log2().mean()))
    return scores


def unmask_seq2seq(model: Model, items: Sequence[Item], batch: int) -> list[float]:
    """Encoder-decoder models: one input per piece; the decoder is forced to begin with the sentinel."""
    tokenizer, texts, targets, owners = model.tokenizer, [], [], []
    for number, (item, candidate) in enumerate(_each(items)):
        left = (item.context or "").partition("BLANK")[0]
        before = tokenizer.encode(left.rstrip(), add_special_tokens=False) if left else []
        pieces = tokenizer.encode(left + (candidate.word or ""), add_special_tokens=False)[len(before) :]
        for k, piece in enumerate(pieces):
            shown = tokenizer.decode(pieces[:k])
            texts.append((item.context or "").replace("BLANK", shown + SENTINEL))
            targets.append(piece)
            owners.append(number)
    sentinel = tokenizer.convert_tokens_to_ids(SENTINEL)
    found: dict[int, list[float]] = {}
    with torch.no_grad():
        for start in range(0, len(texts), batch):
            inputs = tokenizer(
                texts[start : start + batch], padding=True, return_tensors="pt", return_token_type_ids=False
            )
            decoder = torch.tensor([[0, sentinel]] * len(inputs.input_ids))
            probabilities = model.net(**inputs, decoder_input_ids=decoder).logits.softmax(-1)
            for row in range(len(decoder)):
                found.setdefault(owners[start + row], []).append(float(probabilities[row, 1, targets[start + row]]))
    return [sum(values) / len(values) for _, values in sorted(found.items())]


def continuation_seq2seq(model: Model, items: Sequence[Item], batch: int) -> list[float]:
    """Encoder-decoder models: the candidate as the decoder's text after the sentinel."""
    tokenizer = model.tokenizer
    sentinel = tokenizer.convert_tokens_to_ids(SENTINEL)
    pairs = [
        (
            f"{_closed(item.context or '')} {SENTINEL}",
            [0, sentinel, *tokenizer.encode(c.text, add_special_tokens=False)],
        )
        for item in items
        for c in item.candidates
    ]
    scores = []
    with torch.no_grad():
        for start in range(0, len(pairs), batch):
            group = pairs[start : start + batch]
            inputs = tokenizer(
                [text for text, _ in group], padding=True, return_tensors="pt", return_token_type_ids=False
            )
            longest = max(len(ids) for _, ids in group)
            decoder = torch.tensor([ids + [0] * (longest - len(ids)) for _, ids in group])
            probabilities = model.net(**inputs, decoder_input_ids=decoder).logits.softmax(-1)
            for row, (_, ids) in enumerate(group):
                positions = torch.arange(1, len(ids) - 1)
                scores.append(float(2 ** probabilities[row, positions, torch.tensor(ids)[positions + 1]].log2().mean()))
    return scores
