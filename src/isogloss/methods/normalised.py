"""Normalised word probability: how much likelier a term becomes when the concept is shown instead of masked."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..items import BLANK, Candidate, Item
from ..models.model import HIDE, Model
from ..models.questions import Asking, Question
from ..models.text import Ids, cut, special_tokens
from ..scores import Row
from . import Method, Options, fill_row

QUANTITY = "normalised"
LOST = "term or concept cannot be masked by themselves here"


@dataclass(frozen=True, slots=True)
class ShownAndHidden:
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
        row, read = Row(item, candidate.id, float(shown.sum() - hidden.sum()), quantity=QUANTITY), pair.shown.ids
        rows.append(fill_row(row, model, tokens=pair.pieces, logs=shown - hidden, read=(*read, *pair.pieces)))
    return rows


def _pair(item: Item, candidate: Candidate, *, model: Model) -> ShownAndHidden | None:
    """The two questions, or none when the concept cannot be found or the text is too long."""
    left, _, right = (item.context or "").partition(BLANK)
    concept, word = str(item.tags.get("concept_word") or ""), candidate.word or ""
    if not concept or (left + right).count(concept) != 1:
        return None
    before, _, after = (left if concept in left else right).partition(concept)
    parts = (before, concept, after, word, right) if concept in left else (left, word, before, concept, after)
    term = 3 if concept in left else 1
    pieces = cut(model.tokenizer, parts)
    if not pieces[1] or not pieces[3] or any(model.tokenizer.mask_token_id in part for part in pieces):
        return None
    shown = _question(model, pieces, term=term, hidden=(term,), language=item.language)
    hidden = _question(model, pieces, term=term, hidden=(1, 3), language=item.language)
    return ShownAndHidden(pieces[term], shown, hidden) if shown is not None and hidden is not None else None


def _question(
    model: Model, parts: Sequence[Ids], *, term: int, hidden: tuple[int, ...], language: str
) -> Question | None:
    """The question for the pieces of the term when the hidden parts are masked."""
    start, end = special_tokens(model.tokenizer)
    masked = [(model.tokenizer.mask_token_id,) * len(part) if k in hidden else part for k, part in enumerate(parts)]
    ids = (*start, *(token for part in masked for token in part), *end)
    first = len(start) + sum(map(len, parts[:term]))
    limit = model.info.max_length
    if limit is not None and len(ids) > limit:
        return None
    return Question(ids, tuple(range(first, first + len(parts[term]))), tuple(parts[term]), language=language)


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
    uses=(HIDE,),
    suits=suits,
    ask=ask,
    version=2,
)
