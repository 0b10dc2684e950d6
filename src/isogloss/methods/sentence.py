"""A whole sentence as a masked model reads it, and the row that a method makes of its tokens' log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..items import Candidate, Item
from ..models.model import Model
from ..models.questions import Answer, Question
from ..models.text import Ids, count_unknown, decode, encode, frame
from ..scores import Row

EMPTY = "the sentence has no tokens"


@dataclass(frozen=True, slots=True)
class Sentence:
    """Token ids with special tokens, the places of the inner ones, and whether the end was cut off."""

    ids: Ids
    inner: range
    truncated: bool

    @property
    def tokens(self) -> Ids:
        return self.ids[self.inner.start : self.inner.stop]


def read_sentence(model: Model, text: str) -> Sentence:
    """The sentence between the model's special tokens; one that is too long loses its end."""
    start, end = frame(model.tokenizer)
    tokens = encode(model.tokenizer, text)
    limit = model.info.max_length
    room = max(0, limit - len(start) - len(end)) if limit is not None else len(tokens)
    kept = tokens[:room]
    return Sentence((*start, *kept, *end), range(len(start), len(start) + len(kept)), len(kept) < len(tokens))


def masked_question(model: Model, sentence: Sentence, *, place: int, hidden: Sequence[int], language: str) -> Question:
    """The question for the token at a place when the `hidden` places are masked."""
    mask = model.tokenizer.mask_token_id
    gone = set(hidden)
    ids = tuple(mask if k in gone else token for k, token in enumerate(sentence.ids))
    return Question(ids, (place,), (sentence.ids[place],), language=language)


def later_in_word(model: Model, text: str, *, count: int) -> list[list[int]]:
    """For each of a sentence's first `count` tokens, the places of the tokens after it in the same word."""
    words = model.tokenizer(text, add_special_tokens=False).word_ids() if count else []
    found: list[list[int]] = []
    for place in range(count):
        end = place + 1
        while words[place] is not None and end < count and words[end] == words[place]:
            end += 1
        found.append(list(range(place + 1, end)))
    return found


def row_of(item: Item, candidate: Candidate, *, model: Model, sentence: Sentence, logs: Answer) -> Row:
    """A row without a value yet: the tokens, their log-probabilities, unknown ones counted."""
    if not sentence.tokens:
        return Row(item, candidate.id, None, truncated=sentence.truncated, why=EMPTY)
    return Row(
        item,
        candidate.id,
        None,
        tokens=len(sentence.tokens),
        unknown=count_unknown(model.tokenizer, sentence.tokens),
        truncated=sentence.truncated,
        pieces=decode(model.tokenizer, sentence.tokens),
        logprobs=tuple(logs.tolist()),
    )


def refuse_without_mask(model: Model) -> str | None:
    """A sentence when the model has no mask token."""
    if model.tokenizer.mask_token is None:
        return f"'{model.info.name}' has no mask token, so no token can be hidden from it. Is it a masked model?"
    return None
