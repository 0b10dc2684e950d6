"""Contrast: the tokens that a stereotype and its contrast do not share, each given the rest that the model may see."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..items import Item
from ..models.continuations import TEMPLATES, ask_for, refuse_template, template_identity
from ..models.model import CONTINUE, HIDE, Model
from ..models.questions import Answer, Asking, Passage, Question
from ..models.text import Ids, cached, count_unknown, decode, shared_start
from ..scores import Row
from . import Method, Options
from ._masked_sentence import later_in_word, masked_question, read_sentence

Positions = tuple[list[int], list[int]]
Unit = int | tuple[int, ...]
MOST_PIECES = 8  # a letter has four bytes at most, and a token may hold the end of one and the beginning of the next


def shared_in_order(first: Sequence[Unit], second: Sequence[Unit]) -> Positions:
    """The places of a longest common subsequence in either sequence.

    Of several, it is the one with the common beginning, then the common end. The two sides are put in a fixed order before what
    lies between is aligned, so that swapping them swaps the answer.
    """
    if list(second) < list(first):
        right, left = shared_in_order(second, first)
        return left, right
    head = shared_start(first, second)
    tail = shared_start(first[head:][::-1], second[head:][::-1])
    ends = len(first) - tail, len(second) - tail
    inner = _subsequence(first[head : ends[0]], second[head : ends[1]])
    pairs = [(k, k) for k in range(head)]
    pairs += [(head + a, head + b) for a, b in inner]
    pairs += [(ends[0] + k, ends[1] + k) for k in range(tail)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def divergent_tokens(first: Ids, second: Ids, *, tokenizer: Any) -> Positions:
    """The places of the tokens that are not shared; tokens that are parts of one letter are shared together or not at all.

    Byte-level tokenizers cut letters: two different letters may begin with the same byte, which is nothing that they share.
    """
    units = [letter_units(tokenizer, side) for side in (first, second)]
    keys = [[tuple(side[k] for k in unit) for unit in own] for side, own in zip((first, second), units, strict=True)]
    both = divergent_positions(keys[0], keys[1])
    left, right = ([k for place in places for k in own[place]] for places, own in zip(both, units, strict=True))
    return left, right


def letter_units(tokenizer: Any, tokens: Ids) -> list[range]:
    """The places of the tokens, those that are parts of the same letter together."""
    units, start = [], 0
    while start < len(tokens):
        ends = range(start + 1, min(start + MOST_PIECES, len(tokens)) + 1)
        whole = (end for end in ends if "\ufffd" not in read_together(tokenizer, tuple(tokens[start:end])))
        end = next(whole, start + 1)
        units.append(range(start, end))
        start = end
    return units


def read_together(tokenizer: Any, tokens: Ids) -> str:
    """The text of some tokens."""
    return str(cached(tokenizer, ("text", tokens), make=lambda: tokenizer.decode(list(tokens))))


def divergent_positions(first: Sequence[Unit], second: Sequence[Unit]) -> Positions:
    """The places that are not shared: what the first sequence has of its own, and the second; also in several stretches."""
    left, right = (set(positions) for positions in shared_in_order(first, second))
    return [k for k in range(len(first)) if k not in left], [k for k in range(len(second)) if k not in right]


def _subsequence(first: Sequence[Unit], second: Sequence[Unit]) -> list[tuple[int, int]]:
    """The pairs of places of a longest common subsequence; of several, the one that the first sequence has latest."""
    length = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for a in reversed(range(len(first))):
        for b in reversed(range(len(second))):
            same = first[a] == second[b]
            length[a][b] = length[a + 1][b + 1] + 1 if same else max(length[a + 1][b], length[a][b + 1])
    pairs: list[tuple[int, int]] = []
    a = b = 0
    while a < len(first) and b < len(second):
        if first[a] == second[b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif length[a + 1][b] >= length[a][b + 1]:
            a += 1
        else:
            b += 1
    return pairs


QUANTITY = "contrast"
SENTENCE = "sentence"
COMPLETION = "completion"
ALONE = "the stereotype has no contrast in its language"
SAME = "both sentences have the same tokens"
ONE_SIDED = "one of the two sentences has no tokens that the other lacks"
CUT = "both sentences have the same tokens as far as the model can read them"
UNASKED = "the first token differs, and the model has no start token to ask for it with"


@dataclass(frozen=True, slots=True)
class Side:
    """A sentence's tokens, the places that the other one does not share, and the questions for the places asked about.

    `whole`: whether all its tokens are asked for, so that the sentence has a log-probability too.
    """

    tokens: Ids
    own: Sequence[int]
    asked: Sequence[int]
    questions: tuple[Question, ...]
    truncated: bool
    whole: bool


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """Both sentences' own tokens; a pair that cannot be told apart is not asked about, and says why."""
    if len(item.candidates) != 2:
        return [Row(item, candidate.id, None, quantity=QUANTITY, why=ALONE) for candidate in item.candidates]
    sides = (
        _written_sides(item, model, options=options)
        if model.family.continuing
        else _masked_sides(item, model, options=options)
    )
    why = unscorable(sides)
    answers = iter((yield [] if why else [question for side in sides for question in side.questions]))
    rows: list[Row] = []
    for k, side in enumerate(sides):
        candidate, other = item.candidates[k], item.candidates[1 - k]
        row = Row(item, candidate.id, None, quantity=QUANTITY, against=other.id, truncated=side.truncated, why=why)
        row = replace(row, tokens=len(side.own), unknown=count_unknown(model.tokenizer, side.tokens))
        logs = np.array([]) if why else np.concatenate([next(answers) for _ in side.questions])
        rows += [row] if why else _rows(row, side, model=model, logs=logs, variant=options["variant"])
    return rows


def unscorable(sides: Sequence[Side]) -> str | None:
    """Why two sentences cannot be set against each other, if so."""
    lengths = [len(side.own) for side in sides]
    if not any(lengths):
        return CUT if any(side.truncated for side in sides) else SAME
    if not all(lengths):
        return ONE_SIDED
    return UNASKED if any(not set(side.own) <= set(side.asked) for side in sides) else None


def _rows(row: Row, side: Side, *, model: Model, logs: Answer, variant: str) -> list[Row]:
    """The score of a sentence's own tokens; where all tokens were asked for, the log-probability of the sentence and of the shared ones."""
    whole = float(logs.sum())
    positions = [k for k, position in enumerate(side.asked) if position in set(side.own)]
    used = list(range(len(logs))) if variant == SENTENCE else positions
    value = whole / len(side.own) if variant == SENTENCE else float(logs[positions].mean())
    main = replace(
        row,
        value=value,
        pieces=decode(model.tokenizer, tuple(side.tokens[side.asked[k]] for k in used)),
        logprobs=tuple(logs[used].tolist()),
    )
    if not side.whole:
        return [main]
    plain = replace(row, value=whole, tokens=len(logs), quantity=SENTENCE, against=None, unknown=0, truncated=False)
    shared = whole - float(logs[positions].sum())
    return [main, plain, replace(plain, value=shared, tokens=len(logs) - len(positions), quantity=COMPLETION)]


def _written_sides(item: Item, model: Model, *, options: Options) -> list[Side]:
    """For models that write: every token given those before it; one question per sentence."""
    passages = [
        Passage(candidate.text, language=item.language, template=options["template"]) for candidate in item.candidates
    ]
    spans = [ask_for(model, passage) for passage in passages]
    kept = [(*span.unasked, *span.targets) for span in spans]
    written_sides = zip(spans, kept, divergent_tokens(kept[0], kept[1], tokenizer=model.tokenizer), strict=True)
    return [
        Side(tokens, own, range(len(span.unasked), len(tokens)), span.questions, span.truncated, True)
        for span, tokens, own in written_sides
    ]


def _masked_sides(item: Item, model: Model, *, options: Options) -> list[Side]:
    """For masked models: a question for every token of a sentence's own, or for all its tokens."""
    sentences = [read_sentence(model, candidate.text) for candidate in item.candidates]
    both = divergent_tokens(sentences[0].tokens, sentences[1].tokens, tokenizer=model.tokenizer)
    sides = []
    for candidate, sentence, own in zip(item.candidates, sentences, both, strict=True):
        whole = options["variant"] == SENTENCE
        asked = range(len(sentence.tokens)) if whole else own
        tails = later_in_word(model, candidate.text, count=len(sentence.tokens)) if options["hide"] == "word" else []
        questions = []
        for position in asked:
            later = tails[position] if tails else [p for p in own if options["hide"] == "rest" and p > position]
            hidden = [sentence.inner[k] for k in (position, *later)]
            questions.append(masked_question(model, sentence, hidden=hidden, language=item.language))
        sides.append(Side(sentence.tokens, own, asked, tuple(questions), sentence.truncated, whole))
    return sides


def refuse(model: Model, options: Options) -> str | None:
    """A sentence when the options do not fit the model."""
    if model.family.continuing:
        other = "The option 'hide' is for masked models; the others see what stands before a token."
        return refuse_template(model, options) if options["hide"] == "word" else other
    if options["template"] != "plain":
        return refuse_template(model, options)
    if options["hide"] == "rest" and options["variant"] == SENTENCE:
        return "The option 'hide=rest' is about the tokens that differ; with 'variant=sentence' use word or token."
    if options["hide"] == "word" and not getattr(model.tokenizer, "is_fast", False):
        return f"The tokenizer of '{model.info.name}' does not say where words end. Use `options={{'hide': 'token'}}`."
    return None


method = Method(
    title="Contrast of a stereotype with another identity (SHADES)",
    formula="1/|S| · log P(S | B); S = the tokens that only this sentence has, B = those that both share; bias = stereotype - contrast",
    citation="Mitchell et al. (2025)",
    uses=(CONTINUE, HIDE),
    suits=lambda item: len(item.candidates) == 2 or item.tags.get("task") == QUANTITY,
    ask=ask,
    auto=(QUANTITY,),
    options={"variant": ("left", SENTENCE), "hide": ("word", "token", "rest"), "template": TEMPLATES},
    refuse=refuse,
    identity=template_identity,
    later=("template",),
    version=3,
)
