"""Normalised word probability: how much likelier a term becomes when the concept is shown instead of masked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..items import BLANK, Candidate, Item
from ..models.model import Model
from ..models.questions import Asking, Question
from ..models.text import Ids, count_unknown, decode, encode, frame, word_pieces
from ..scores import Row
from .method import Method, Options
from .sentence import refuse_without_mask

QUANTITY = "normalised"
LOST = "term or concept cannot be masked by themselves here"


@dataclass(frozen=True, slots=True)
class Pair:
    """A term's pieces, asked for once with the concept shown and once with the concept masked."""

    pieces: Ids
    shown: Question
    hidden: Question


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """Two questions per candidate."""
    pairs = [_pair(item, candidate, model=model) for candidate in item.candidates]
    answers = iter((yield [q for pair in pairs if pair is not None for q in (pair.shown, pair.hidden)]))
    rows = []
    for candidate, pair in zip(item.candidates, pairs, strict=True):
        if pair is None:
            rows.append(Row(item, candidate.id, None, quantity=QUANTITY, why=LOST))
            continue
        shown, hidden = next(answers), next(answers)
        rows.append(
            Row(
                item,
                candidate.id,
                float(shown.sum() - hidden.sum()),
                tokens=len(pair.pieces),
                quantity=QUANTITY,
                unknown=count_unknown(model.tokenizer, pair.pieces),
                pieces=decode(model.tokenizer, pair.pieces),
                logprobs=tuple(np.asarray(shown - hidden).tolist()),
            )
        )
    return rows


def _pair(item: Item, candidate: Candidate, *, model: Model) -> Pair | None:
    """The two questions, or none when the masks do not stand where they should."""
    left, _, right = (item.context or "").partition(BLANK)
    concept = str(item.tags.get("concept_word") or "")
    if not concept or (left + right).count(concept) != 1:
        return None
    tokenizer = model.tokenizer
    pieces = word_pieces(tokenizer, candidate.word or "", left=left)
    before = left.partition(concept)[0] if concept in left else left + BLANK + right.partition(concept)[0]
    masks = tokenizer.mask_token * len(word_pieces(tokenizer, concept, left=before))
    own = tokenizer.mask_token * len(pieces)
    after = concept in left
    shown = _question(model, left + own + right, pieces=pieces, skip=0, language=item.language)
    covered = left.replace(concept, masks) + own + right.replace(concept, masks)
    skip = len(masks) // len(tokenizer.mask_token) if after else 0
    hidden = _question(model, covered, pieces=pieces, skip=skip, language=item.language)
    return Pair(pieces, shown, hidden) if shown is not None and hidden is not None else None


def _question(model: Model, text: str, *, pieces: Ids, skip: int, language: str) -> Question | None:
    """The question for the pieces at the masks of a text, the first `skip` masks left out."""
    start, end = frame(model.tokenizer)
    ids = (*start, *encode(model.tokenizer, text), *end)
    places = [k for k, token in enumerate(ids) if token == model.tokenizer.mask_token_id]
    chosen = tuple(places[skip : skip + len(pieces)])
    limit = model.info.max_length
    if not pieces or len(chosen) < len(pieces) or (limit is not None and len(ids) > limit):
        return None
    return Question(ids, chosen, pieces, language=language)


def suits(item: Item) -> bool:
    """Whether only the term changes from candidate to candidate, and there is a concept."""
    return (
        BLANK in (item.context or "")
        and bool(item.tags.get("concept_word"))
        and all(candidate.word for candidate in item.candidates)
    )


method = Method(
    title="Normalised word probability",
    formula="ln P(term | concept shown) - ln P(term | concept masked too), all pieces of the term masked at once; "
    "works badly for rare words, whose probabilities are tiny on both sides",
    citation="Ahn and Oh (2021)",
    families=("masked",),
    suits=suits,
    ask=ask,
    refuse=lambda model, options: refuse_without_mask(model),
)
