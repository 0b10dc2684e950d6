"""Unmask: the probability of a word's pieces, one after the other, where the context has BLANK."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import IsoglossError
from ..items import BLANK, Candidate, Item
from ..models.model import FILL, Model
from ..models.questions import ARGMAX, Asking, Question
from ..models.text import Ids, cut, encode, special_tokens, token_id
from ..scores import Row
from . import Method, Options, fill_row

PAPER = "paper"
LOST = "the word has no tokens, or the context holds the mask token itself"


@dataclass(frozen=True, slots=True)
class Step:
    """One input: the text before the masks, the masks, the text after them, and the pieces read there."""

    left: Ids
    masks: Ids
    right: Ids
    targets: Ids


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """Ask for every piece of every candidate; the first question is the same for all of them."""
    variant = options["variant"]
    built = [list(_questions(item, candidate, model=model, variant=variant)) for candidate in item.candidates]
    groups = [[question for question, _ in group] for group in built]
    flat = [question for group in groups for question in group]
    if variant == PAPER and any(question.decoder_ids for question in flat):
        # as published, the first decoder step is what the model finds most probable, not the sentinel
        first = yield [Question(q.ids, (0,), (), ARGMAX, decoder_ids=q.decoder_ids[:1]) for q in flat]
        begins = ((q.decoder_ids[0], int(step[0])) for q, step in zip(flat, first, strict=True))
        groups = [[Question(q.ids, (1,), q.targets, decoder_ids=next(begins)) for q in group] for group in groups]
    answers = iter((yield [question for group in groups for question in group]))
    rows = []
    for candidate, group, questions in zip(item.candidates, groups, built, strict=True):
        if not group:
            rows.append(Row(item, candidate.id, None, why=LOST))
            continue
        logs = np.concatenate([next(answers) for _ in group])
        value = float(logs.mean() if variant == "log" else np.exp(logs).mean())
        row = Row(item, candidate.id, value, truncated=any(truncated for _, truncated in questions))
        pieces = tuple(token for question in group for token in question.targets)
        rows.append(fill_row(row, model, tokens=pieces, logs=logs, read=(*group[-1].ids, *group[-1].targets)))
    return rows


def _questions(item: Item, candidate: Candidate, *, model: Model, variant: str) -> Iterator[tuple[Question, bool]]:
    """The questions for a candidate's pieces, and whether the context had to be cut for them."""
    read = _published_steps if variant == PAPER else _steps
    filling = model.family.filling
    if filling is None:
        raise IsoglossError(f"A {model.info.family} model cannot fill a blank.")
    mask, word, at_once = filling.mask(model), candidate.word or "", variant == "all-masked"
    for step in read(model.tokenizer, item.context or "", word=word, mask=mask, at_once=at_once):
        question, truncated = _question(model, step, language=item.language)
        yield filling.question(model, question), truncated


def _steps(tokenizer: Any, context: str, *, word: str, mask: str, at_once: bool) -> Iterator[Step]:
    """The tokens of the filled sentence, where every BLANK has the pieces so far and a mask; the first mask is read."""
    parts = [part for gap in context.split(BLANK) for part in (gap, word)][:-1]
    tokens_of = cut(tokenizer, parts)
    pieces, mask_id = tokens_of[1], token_id(tokenizer, mask)
    if any(mask_id in part for part in tokens_of):
        return
    for shown in (0,) if at_once and pieces else range(len(pieces)):
        filled = [
            ((*part[:shown], *(mask_id,) * (len(part) if at_once else 1)) if index % 2 else part)
            for index, part in enumerate(tokens_of)
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
    """The question for a step; both sides are shortened evenly when they and the masks do not fit."""
    start, end = special_tokens(model.tokenizer)
    limit, left, right = model.info.max_length, step.left, step.right
    space = limit - len(start) - len(end) if limit is not None else None
    truncated = space is not None and len(left) + len(step.masks) + len(right) > space
    if space is not None and truncated:
        sides = max(0, space - len(step.masks))
        keep_right = min(len(right), max(sides // 2, sides - len(left)))
        left, right = left[len(left) - (sides - keep_right) :], right[:keep_right]
    masks, first = step.masks[:space], len(start) + len(left)
    positions = tuple(range(first, first + len(masks)))
    ids = (*start, *left, *masks, *right, *end)
    return Question(ids, positions, step.targets[:space], language=language), truncated


method = Method(
    title="Unmask: fill in the blank piece by piece",
    formula="mean over pieces j of P(w_j | context with w_1..w_(j-1) and one mask)",
    citation="Nadeem et al. (2021); Öztürk et al. (2023)",
    uses=(FILL,),
    suits=lambda item: BLANK in (item.context or "") and all(candidate.word for candidate in item.candidates),
    ask=ask,
    auto=("intrasentence",),
    options={"variant": ("prob", "log", "all-masked", PAPER)},
    version=2,
)
