"""GEST's own scoring: all tokens that differ between two sentences, masked at once; or the next word after a prompt."""

import math
from collections.abc import Sequence

from ..items import Item
from ..models.model import CONTINUE, HIDE, Model
from ..models.questions import Asking, Question
from ..models.text import Ids, encode, encode_full, shared_start
from ..scores import Row
from . import Method, Options, fill_row

SAME = "both sentences have the same tokens"
UNEVEN = "the two sentences have different numbers of tokens, so none can be compared in its place"
NO_WORD = "the two sentences do not differ in one word that could come next"
TOO_EARLY = "the word stands before the sentence, which a causal model has not read yet"
PIECES = "the word is not one token of this model"
LONG = "the text is too long for the model"


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """One question per sentence; both share their text, since what differs is masked or comes next."""
    texts = [candidate.text for candidate in item.candidates]
    words = [candidate.word for candidate in item.candidates]
    asked = _next_words(model, texts, words=words) if model.family.continuing else _masked(model, texts)
    limit = model.info.max_length
    if not isinstance(asked, str) and limit is not None and any(len(ids) > limit for ids, _, _ in asked):
        asked = LONG
    if isinstance(asked, str):
        return [Row(item, candidate.id, None, why=asked) for candidate in item.candidates]
    answers = yield [Question(ids, positions, targets, language=item.language) for ids, positions, targets in asked]
    rows = []
    for candidate, (ids, _, targets), logs in zip(item.candidates, asked, answers, strict=True):
        row = Row(item, candidate.id, float(logs.mean()) / math.log(10))
        rows.append(fill_row(row, model, tokens=targets, logs=logs, read=ids))
    return rows


Asked = list[tuple[Ids, Ids, Ids]] | str


def _masked(model: Model, texts: Sequence[str]) -> Asked:
    """For each sentence its tokens with all that differ masked, where these are, and what they were; or why not."""
    first, second = (encode_full(model.tokenizer, text) for text in texts)
    if len(first) != len(second):
        return UNEVEN
    places = tuple(place for place, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
    if not places:
        return SAME
    mask = model.tokenizer.mask_token_id
    hidden = tuple(mask if place in places else token for place, token in enumerate(first))
    return [(hidden, places, tuple(ids[place] for place in places)) for ids in (first, second)]


def _next_words(model: Model, texts: Sequence[str], *, words: Sequence[str | None]) -> Asked:
    """For each sentence the text before the word that differs, and the word as its next token; or why not.

    The prompt is tokenized alone, as published: with a start token where the tokenizer adds one.
    """
    if None in words:
        return NO_WORD
    letters = [[ord(letter) for letter in text] for text in texts]
    before = shared_start(*letters)
    after = shared_start(*(text[:before:-1] for text in letters))
    if after > before:
        return TOO_EARLY
    prompt = texts[0][:before].rstrip(" ")
    bare, ids = encode(model.tokenizer, prompt), encode_full(model.tokenizer, prompt)
    asked: list[tuple[Ids, Ids, Ids]] = []
    for word in words:
        both = encode(model.tokenizer, f"{prompt} {word}")
        if both[:-1] != bare:
            return PIECES
        asked.append((ids, (len(ids) - 1,), both[-1:]))
    return asked


method = Method(
    title="Words that differ, masked at once (GEST)",
    formula="mean of log10 P over the tokens that differ between two sentences, all masked; causal: log10 P of the next word",
    citation="Pikuliak et al. (2024)",
    uses=(HIDE, CONTINUE),
    suits=lambda item: len(item.candidates) == 2,
    ask=ask,
    auto=("gest",),
)
