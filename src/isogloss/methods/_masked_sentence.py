"""A whole sentence as a masked model reads it, and the row that a method makes of its tokens' log-probabilities."""

import re
import unicodedata
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..items import Candidate, Item
from ..models.model import Model
from ..models.questions import Answer, Asking, Question
from ..models.text import Ids, encode, special_tokens
from ..scores import Row
from . import EMPTY, fill_row

JOINERS = ("\u200c", "\u200d")
UNSPACED = re.compile(  # Thai, Lao, Tibetan, Burmese, Khmer, kana, Han
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class MaskedSentence:
    """Token ids with special tokens, the places of the inner ones, and whether the end was cut off."""

    ids: Ids
    inner: range
    truncated: bool

    @property
    def tokens(self) -> Ids:
        return self.ids[self.inner.start : self.inner.stop]


def read_sentence(model: Model, text: str) -> MaskedSentence:
    """The sentence between the model's special tokens; one that is too long loses its end."""
    start, end = special_tokens(model.tokenizer)
    tokens = encode(model.tokenizer, text)
    limit = model.info.max_length
    space = max(0, limit - len(start) - len(end)) if limit is not None else len(tokens)
    kept = tokens[:space]
    return MaskedSentence((*start, *kept, *end), range(len(start), len(start) + len(kept)), len(kept) < len(tokens))


def masked_question(model: Model, sentence: MaskedSentence, *, hidden: Sequence[int], language: str) -> Question:
    """The question for the token at the first of the `hidden` places when all of them are masked."""
    mask, gone = model.tokenizer.mask_token_id, set(hidden)
    ids = tuple(mask if k in gone else token for k, token in enumerate(sentence.ids))
    return Question(ids, (hidden[0],), (sentence.ids[hidden[0]],), language=language)


def later_in_word(model: Model, text: str, *, count: int) -> list[list[int]]:
    """For each of a sentence's first `count` tokens, the places of the tokens after it in the same word.

    Words are the tokenizer's, but a space always ends a word, marks and joiners belong to the letter before them, and
    in scripts without spaces every token is a word of its own.
    """
    encoding = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    words, offsets = encoding.word_ids(), encoding["offset_mapping"]
    later: list[list[int]] = [[] for _ in range(count)]
    for position in reversed(range(1, count)):
        known = words[position] is not None and words[position] == words[position - 1]
        if _continues(text, (offsets[position - 1], offsets[position]), same=known):
            later[position - 1] = [position, *later[position]]
    return later


def _continues(text: str, offsets: tuple[tuple[int, int], tuple[int, int]], *, same: bool) -> bool:
    """Whether the second of two tokens goes on with the word of the first; `same` is what the tokenizer says."""
    (_, end), (start, stop) = offsets
    if text[end:start].strip() != text[end:start] or text[start : start + 1].isspace():
        return False
    if start < end and stop > start:
        return True  # bytes of one letter
    before, after = text[start - 1 : start], text[start : start + 1]
    if _is_mark(after):
        return True
    joined = same or (_is_mark(before) and after.isalpha())
    return joined and not (UNSPACED.match(before) or UNSPACED.match(after))


def _is_mark(letter: str) -> bool:
    return letter in JOINERS or (letter != "" and unicodedata.category(letter).startswith("M"))


def row_of(item: Item, candidate: Candidate, *, model: Model, sentence: MaskedSentence, logs: Answer) -> Row:
    """A row without a value yet: the tokens, their log-probabilities, unknown ones counted."""
    row = Row(item, candidate.id, None, truncated=sentence.truncated)
    if not sentence.tokens:
        return replace(row, why=EMPTY)
    return fill_row(row, model, tokens=sentence.tokens, logs=logs)


def unmasked_rows(
    item: Item, model: Model, *, wants: Sequence[str]
) -> Generator[list[Question], list[Answer], list[tuple[Row, Answer, list[Answer]]]]:
    """For each candidate a row without a value, its tokens' log-probabilities where they stand, and what else of the
    same pass is wanted; a sentence without tokens has neither."""
    sentences = [read_sentence(model, candidate.text) for candidate in item.candidates]
    questions = [
        Question(read.ids, tuple(read.inner), read.tokens, language=item.language) for read in sentences if read.tokens
    ]
    more = [[replace(question, targets=(), want=want) for want in wants] for question in questions]
    answers = iter((yield [asked for first, rest in zip(questions, more, strict=True) for asked in (first, *rest)]))
    rows = []
    for candidate, sentence in zip(item.candidates, sentences, strict=True):
        logs = next(answers) if sentence.tokens else np.array([])
        row = row_of(item, candidate, model=model, sentence=sentence, logs=logs)
        rows.append((row, logs, [next(answers) for _ in wants] if sentence.tokens else []))
    return rows


def pseudo_likelihood(
    item: Item, model: Model, *, length: str, hide: Callable[[MaskedSentence, str], list[list[int]]]
) -> Asking:
    """One question per token and candidate; `hide` gives the places that are masked for each token, its own first."""
    sentences = [read_sentence(model, candidate.text) for candidate in item.candidates]
    questions = [
        [
            masked_question(model, sentence, hidden=hidden, language=item.language)
            for hidden in hide(sentence, candidate.text)
        ]
        for candidate, sentence in zip(item.candidates, sentences, strict=True)
    ]
    answers = iter((yield [question for group in questions for question in group]))
    rows: list[Row] = []
    for candidate, sentence, group in zip(item.candidates, sentences, questions, strict=True):
        logs = np.array([next(answers)[0] for _ in group])
        row = row_of(item, candidate, model=model, sentence=sentence, logs=logs)
        value = float(logs.mean() if length == "mean" else logs.sum()) if len(logs) else None
        rows.append(replace(row, value=value))
    return rows
