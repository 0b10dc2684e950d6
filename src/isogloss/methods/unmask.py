"""Unmask: the probability of a word's pieces, one after the other, where the context has BLANK."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..items import BLANK, Candidate, Item
from ..models.model import Model
from ..models.questions import ARGMAX, Answer, Asking, Question
from ..models.text import Ids, count_unknown, cut, decode, encode, special_tokens, token_id
from ..scores import Row
from . import Method

SENTINEL = "<extra_id_0>"
PAPER = "paper"
LOST = "the word has no tokens, or the context holds the mask token itself"


@dataclass(frozen=True, slots=True)
class Step:
    """One input: what stands left of the masks, the masks, what stands right of them, and the pieces read there."""

    left: Ids
    masks: Ids
    right: Ids
    targets: Ids


def ask(item: Item, model: Model, *, options: Mapping[str, str]) -> Asking:
    """Ask for every piece of every candidate; the first question is the same for all of them."""
    questions: dict[str, list[Question]] = {}
    short: dict[str, bool] = {}
    for candidate in item.candidates:
        built = list(_questions(item, candidate, model=model, variant=options["variant"]))
        questions[candidate.id] = [question for question, _ in built]
        short[candidate.id] = any(truncated for _, truncated in built)
    if model.info.family == "seq2seq" and options["variant"] == PAPER:
        questions = yield from _second_step(questions)
    found = iter((yield [question for group in questions.values() for question in group]))
    rows = []
    for candidate in item.candidates:
        group = questions[candidate.id]
        logs = np.concatenate([next(found) for _ in group]) if group else np.array([])
        row = _row(item, candidate.id, model=model, group=group, logs=logs)
        if options["variant"] == "log" and row.value is not None:
            row = replace(row, value=float(logs.mean()))
        rows.append(replace(row, truncated=short[candidate.id]))
    return rows


def _row(item: Item, candidate: str, *, model: Model, group: Sequence[Question], logs: Answer) -> Row:
    if not group:
        return Row(item, candidate, None, why=LOST)
    pieces = tuple(token for question in group for token in question.targets)
    return Row(
        item,
        candidate,
        float(np.exp(logs).mean()),
        tokens=len(pieces),
        unknown=count_unknown(model.tokenizer, (*group[-1].ids, *group[-1].targets)),
        pieces=decode(model.tokenizer, pieces),
        logprobs=tuple(logs.tolist()),
    )


def _questions(item: Item, candidate: Candidate, *, model: Model, variant: str) -> Iterator[tuple[Question, bool]]:
    """The questions for a candidate's pieces, and whether the context had to be cut for them."""
    read = _published_steps if variant == PAPER else _steps
    mask = SENTINEL if model.info.family == "seq2seq" else model.tokenizer.mask_token
    word = candidate.word or ""
    for step in read(model.tokenizer, item.context or "", word=word, mask=mask, at_once=variant == "all-masked"):
        yield _question(model, step, language=item.language)


def _steps(tokenizer: Any, context: str, *, word: str, mask: str, at_once: bool) -> Iterator[Step]:
    """The tokens of the filled sentence, where every BLANK has the pieces so far and a mask; the first mask is read."""
    parts = [part for gap in context.split(BLANK) for part in (gap, word)][:-1]
    found = cut(tokenizer, parts)
    pieces, mask_id = found[1], token_id(tokenizer, mask)
    if any(mask_id in part for part in found):
        return
    for shown in (0,) if at_once and pieces else range(len(pieces)):
        filled = [
            ((*part[:shown], *(mask_id,) * (len(part) if at_once else 1)) if index % 2 else part)
            for index, part in enumerate(found)
        ]
        masks = (mask_id,) * (len(pieces) if at_once else 1)
        right = tuple(token for part in filled[2:] for token in part)
        yield Step((*filled[0], *pieces[:shown]), masks, right, pieces[shown : shown + len(masks)])


def _published_steps(tokenizer: Any, context: str, *, word: str, mask: str, at_once: bool) -> Iterator[Step]:
    """As published: the word is cut by itself, and its pieces and the mask are put into the context as text."""
    pieces, mask_id = encode(tokenizer, word), token_id(tokenizer, mask)
    for shown, piece in enumerate(pieces):
        text = context.replace(BLANK, tokenizer.decode(list(pieces[:shown])) + mask)
        ids = encode(tokenizer, text)
        if ids.count(mask_id) != context.count(BLANK):
            return
        position = ids.index(mask_id)
        yield Step(ids[:position], (mask_id,), ids[position + 1 :], (piece,))


def _question(model: Model, step: Step, *, language: str) -> tuple[Question, bool]:
    start, end = special_tokens(model.tokenizer)
    limit = model.info.max_length
    space = limit - len(start) - len(end) if limit is not None else None
    left, right, truncated = _cut(step.left, step.right, masks=len(step.masks), space=space)
    masks, targets = step.masks[:space], step.targets[:space]
    ids = (*start, *left, *masks, *right, *end)
    if model.info.family == "seq2seq":
        decoder = (model.net.config.decoder_start_token_id, *masks[:1])
        return Question(ids, (1,), targets, decoder_ids=decoder), truncated
    first = len(start) + len(left)
    positions = tuple(range(first, first + len(masks)))
    return Question(ids, positions, targets, language=language), truncated


def _cut(left: Ids, right: Ids, *, masks: int, space: int | None) -> tuple[Ids, Ids, bool]:
    """Both sides, shortened evenly when there is not enough space for them and the masks."""
    if space is None or len(left) + len(right) + masks <= space:
        return left, right, False
    space = max(0, space - masks)
    keep_right = min(len(right), max(space // 2, space - len(left)))
    keep_left = space - keep_right
    return left[len(left) - keep_left :] if keep_left else (), right[:keep_right], True


def _second_step(
    questions: dict[str, list[Question]],
) -> Generator[list[Question], list[Answer], dict[str, list[Question]]]:
    """As published: the first decoder step is what the model finds most probable, not the sentinel."""
    flat = [question for group in questions.values() for question in group]
    first = yield [Question(q.ids, (0,), (), ARGMAX, decoder_ids=q.decoder_ids[:1]) for q in flat]
    steps = iter(first)
    return {
        name: [Question(q.ids, (1,), q.targets, decoder_ids=(q.decoder_ids[0], int(next(steps)[0]))) for q in group]
        for name, group in questions.items()
    }


def refuse(model: Model, options: Mapping[str, str]) -> str | None:
    """A sentence when the model cannot fill a blank."""
    name, tokenizer = model.info.name, model.tokenizer
    if model.info.family == "seq2seq":
        if SENTINEL not in tokenizer.get_vocab():
            return f"'{name}' has no '{SENTINEL}' token, so it cannot fill a blank. Use --method continuation."
        if options["variant"] == "all-masked":
            return "The variant 'all-masked' is for masked models; an encoder-decoder model has one sentinel."
        return None
    if tokenizer.mask_token is None:
        return f"'{name}' has no mask token, so it cannot fill a blank. Is it a masked model?"
    return None


method = Method(
    title="Unmask: fill the blank piece by piece",
    formula="mean over pieces j of P(w_j | context with w_1..w_(j-1) and one mask)",
    citation="Nadeem et al. (2021); Öztürk et al. (2023)",
    families=("masked", "seq2seq"),
    suits=lambda item: BLANK in (item.context or "") and all(candidate.word for candidate in item.candidates),
    ask=ask,
    auto=(("intrasentence", "masked"), ("intrasentence", "seq2seq")),
    options={"variant": ("prob", "log", "all-masked", PAPER)},
    refuse=refuse,
    version=2,
)
