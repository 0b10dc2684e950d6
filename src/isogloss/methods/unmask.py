"""Unmask: the probability of a word's pieces, one after the other, where the context has BLANK."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..items import BLANK, Candidate, Item
from ..models.model import Model
from ..models.questions import ARGMAX, Answer, Asking, Question
from ..models.text import Ids, around, count_unknown, decode, frame, token_id, word_pieces
from ..scores import Row
from .method import Method

SENTINEL = "<extra_id_0>"


def ask(item: Item, model: Model, *, options: Mapping[str, str]) -> Asking:
    """Ask for every piece of every candidate; the first question is the same for all of them."""
    questions: dict[str, list[Question]] = {}
    cut: dict[str, bool] = {}
    for candidate in item.candidates:
        built = list(_questions(item, candidate, model=model, variant=options["variant"]))
        questions[candidate.id] = [question for question, _ in built]
        cut[candidate.id] = any(truncated for _, truncated in built)
    if model.info.family == "seq2seq" and options["variant"] == "paper":
        questions = yield from _second_step(questions)
    found = iter((yield [question for group in questions.values() for question in group]))
    rows = []
    for candidate in item.candidates:
        group = questions[candidate.id]
        logs = np.concatenate([next(found) for _ in group]) if group else np.array([])
        pieces = tuple(token for question in group for token in question.targets)
        row = _row(item, candidate.id, model=model, pieces=pieces, logs=logs)
        if options["variant"] == "log" and row.value is not None:
            row = replace(row, value=float(logs.mean()))
        rows.append(replace(row, truncated=cut[candidate.id]))
    return rows


def _row(item: Item, candidate: str, *, model: Model, pieces: Ids, logs: Answer) -> Row:
    if not len(logs):
        return Row(item, candidate, None)
    return Row(
        item,
        candidate,
        float(np.exp(logs).mean()),
        tokens=len(pieces),
        unknown=count_unknown(model.tokenizer, pieces),
        pieces=decode(model.tokenizer, pieces),
        logprobs=tuple(logs.tolist()),
    )


def _questions(item: Item, candidate: Candidate, *, model: Model, variant: str) -> Iterator[tuple[Question, bool]]:
    """The questions for a candidate's pieces, and whether the context had to be cut for them."""
    tokenizer = model.tokenizer
    left, _, right = (item.context or "").partition(BLANK)
    word = candidate.word or ""
    right = right.replace(BLANK, word)
    seq2seq = model.info.family == "seq2seq"
    mask = SENTINEL if seq2seq else tokenizer.mask_token
    sides = around(tokenizer, mask, left=left, right=right)
    pieces = word_pieces(tokenizer, word, left=left)
    if sides is None or not pieces:
        return
    mask_id = token_id(tokenizer, mask)
    steps = (
        [((), (mask_id,) * len(pieces), pieces)]
        if variant == "all-masked"
        else [(pieces[:k], (mask_id,), (piece,)) for k, piece in enumerate(pieces)]
    )
    for shown, masks, targets in steps:
        yield _question(model, ((*sides[0], *shown), sides[1]), masks=masks, targets=targets, language=item.language)


def _question(
    model: Model, sides: tuple[Ids, Ids], *, masks: Ids, targets: Ids, language: str
) -> tuple[Question, bool]:
    start, end = frame(model.tokenizer)
    limit = model.info.max_length
    room = limit - len(start) - len(end) if limit is not None else None
    left, right, truncated = _cut(*sides, masks=len(masks), room=room)
    masks, targets = masks[:room], targets[:room]
    ids = (*start, *left, *masks, *right, *end)
    if model.info.family == "seq2seq":
        decoder = (model.net.config.decoder_start_token_id, *masks[:1])
        return Question(ids, (1,), targets, decoder_ids=decoder), truncated
    first = len(start) + len(left)
    places = tuple(range(first, first + len(masks)))
    return Question(ids, places, targets, language=language), truncated


def _cut(left: Ids, right: Ids, *, masks: int, room: int | None) -> tuple[Ids, Ids, bool]:
    """Both sides, shortened evenly when there is not room enough for them and the masks."""
    if room is None or len(left) + len(right) + masks <= room:
        return left, right, False
    room = max(0, room - masks)
    keep_right = min(len(right), max(room // 2, room - len(left)))
    keep_left = room - keep_right
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
    if options["variant"] == "paper":
        return "The variant 'paper' is for encoder-decoder models; for masked models the default is the published way."
    return None


method = Method(
    title="Unmask: fill the blank piece by piece",
    formula="mean over pieces j of P(w_j | context with w_1..w_(j-1) and one mask)",
    citation="Nadeem et al. (2021); Öztürk et al. (2023)",
    families=("masked", "seq2seq"),
    suits=lambda item: BLANK in (item.context or "") and all(candidate.word for candidate in item.candidates),
    ask=ask,
    auto=(("intrasentence", "masked"), ("intrasentence", "seq2seq")),
    options={"variant": ("prob", "log", "all-masked", "paper")},
    refuse=refuse,
)
