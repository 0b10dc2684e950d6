"""Normalised word probability: how much likelier a term becomes when the concept is shown instead of masked."""

from ..items import BLANK, Candidate, Item
from ..models.model import HIDE, Model
from ..models.questions import Asking, Question
from ..models.text import cut, special_tokens
from ..scores import Row
from . import Method, Options, fill_row

QUANTITY = "normalised"
LOST = "term or concept cannot be masked by themselves here"


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """Two questions per candidate: its pieces with the concept shown, and with the concept masked."""
    pairs = [_questions(item, candidate, model=model) for candidate in item.candidates]
    answers = iter((yield [question for pair in pairs for question in pair]))
    rows = []
    for candidate, pair in zip(item.candidates, pairs, strict=True):
        if not pair:
            rows.append(Row(item, candidate.id, None, quantity=QUANTITY, why=LOST))
            continue
        shown, hidden, pieces = next(answers), next(answers), pair[0].targets
        row = Row(item, candidate.id, float(shown.sum() - hidden.sum()), quantity=QUANTITY)
        rows.append(fill_row(row, model, tokens=pieces, logs=shown - hidden, read=(*pair[0].ids, *pieces)))
    return rows


def _questions(item: Item, candidate: Candidate, *, model: Model) -> list[Question]:
    """The two questions, or none when the concept cannot be found or the text is too long."""
    left, _, right = (item.context or "").partition(BLANK)
    concept, word = str(item.tags.get("concept_word") or ""), candidate.word or ""
    if not concept or (left + right).count(concept) != 1:
        return []
    before, _, after = (left if concept in left else right).partition(concept)
    parts = (before, concept, after, word, right) if concept in left else (left, word, before, concept, after)
    term = 3 if concept in left else 1
    pieces, (start, end) = cut(model.tokenizer, parts), special_tokens(model.tokenizer)
    mask, limit = model.tokenizer.mask_token_id, model.info.max_length
    too_long = limit is not None and len(start) + sum(map(len, pieces)) + len(end) > limit
    if too_long or not pieces[1] or not pieces[3] or any(mask in part for part in pieces):
        return []
    first = len(start) + sum(map(len, pieces[:term]))
    positions = tuple(range(first, first + len(pieces[term])))
    questions = []
    for hidden in ((term,), (1, 3)):
        masked = [(mask,) * len(part) if k in hidden else part for k, part in enumerate(pieces)]
        ids = (*start, *(token for part in masked for token in part), *end)
        questions.append(Question(ids, positions, pieces[term], language=item.language))
    return questions


def suits(item: Item) -> bool:
    """Whether only the term changes from candidate to candidate, and there is a concept."""
    return (
        BLANK in (item.context or "")
        and bool(item.tags.get("concept_word"))
        and all(candidate.word for candidate in item.candidates)
    )


method = Method(
    title="Normalized word probability",
    formula="ln P(term | concept shown) - ln P(term | concept masked too), all pieces of the term masked at once; "
    "works poorly for rare words, for which both probabilities are tiny",
    citation="Ahn and Oh (2021)",
    uses=(HIDE,),
    suits=suits,
    ask=ask,
    version=2,
)
