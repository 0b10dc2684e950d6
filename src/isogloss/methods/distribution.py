"""Distributions: how far the model's expectations at the blank differ from term to term, over the whole vocabulary."""

from collections.abc import Sequence

import numpy as np

from ..items import BLANK, Candidate, Item, group_by
from ..models.model import EXPECT, Model
from ..models.questions import Answer, Asking, Question
from ..models.text import count_unknown, decode
from ..scores import Row
from . import Method, Options

KL = "kl"
ENTROPY = "entropy"
TOP = 10
FLOOR = -1e4  # a token that a model can never give has no logarithm
BLOCK = 32_768

UNSEEN = "the terms stand after the blank, where a causal model does not see them"
SAME = "both texts have the same tokens"
LOST = "the text holds the mask token itself"
LONG = "the text is too long for the model"


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """One distribution per candidate; then the divergence of each ordered pair, and what is likeliest for each."""
    expect = model.family.expecting
    expected = [
        expect(model, candidate.text, language=item.language) if expect else None for candidate in item.candidates
    ]
    problem = _problem(expected, model)
    if problem is not None:
        return [Row(item, candidate.id, None, quantity=KL, why=problem) for candidate in item.candidates]
    questions = [question for question in expected if question is not None]
    unknown = [count_unknown(model.tokenizer, question.ids) for question in questions]
    answers = yield questions
    logs, kept = _average_variants(np.maximum(np.stack(answers), FLOOR), item.candidates)
    terms, questions = [item.candidates[k] for k in kept], [questions[k] for k in kept]
    unknown = [unknown[k] for k in kept]
    divergence, entropies = compare(logs)
    size = logs.shape[1]
    rows = [
        Row(item, term.id, float(divergence[i, k]), tokens=size, quantity=KL, against=other.id, unknown=unknown[i])
        if questions[i].ids != questions[k].ids or term.text == other.text
        else Row(item, term.id, None, quantity=KL, against=other.id, unknown=unknown[i], why=SAME)
        for i, term in enumerate(terms)
        for k, other in enumerate(terms)
        if i != k
    ]
    for candidate, line, entropy in zip(terms, logs, entropies, strict=True):
        best = np.argsort(-line, kind="stable")[:TOP]
        pieces = decode(model.tokenizer, tuple(int(token) for token in best))
        shown = tuple(float(line[token]) for token in best)
        rows.append(Row(item, candidate.id, float(entropy), size, ENTROPY, pieces=pieces, logprobs=shown))
    return rows


def _average_variants(logs: Answer, candidates: Sequence[Candidate]) -> tuple[Answer, list[int]]:
    """The log of the mean distribution over the variants of each term, and the number of each term's first candidate."""
    groups = group_by(range(len(candidates)), lambda number: candidates[number].role)
    if len(groups) == len(candidates):
        return logs, list(range(len(candidates)))
    means = [np.logaddexp.reduce(logs[group], axis=0) - np.log(len(group)) for group in groups.values()]
    return np.stack(means), [group[0] for group in groups.values()]


def compare(logs: Answer) -> tuple[Answer, Answer]:
    """KL(i, k) in nats for all pairs of rows of log-probabilities, and the entropy of each row; blocks of the vocabulary."""
    cross, own = np.zeros((len(logs), len(logs))), np.zeros(len(logs))
    for start in range(0, logs.shape[1], BLOCK):
        part = logs[:, start : start + BLOCK].astype(np.float64)
        shares = np.exp(part)
        cross += shares @ part.T
        own += (shares * part).sum(1)
    return np.maximum(own[:, None] - cross, 0.0), -own


def _problem(questions: Sequence[Question | None], model: Model) -> str | None:
    if any(question is None for question in questions):
        return LOST
    limit = model.info.max_length
    if limit is not None and any(len(question.ids) > limit for question in questions if question is not None):
        return LONG
    if model.family.continuing and len(questions) > 1 and len({q.ids for q in questions if q is not None}) == 1:
        return UNSEEN
    return None


method = Method(
    title="Distributions over the vocabulary at the blank",
    formula="KL(p_i ‖ p_k) in nats between the distributions at the blank for two terms; causal: at the first token of the blank, given only the text before it",
    citation="BehnamGhader and Milios (2022), after Liang et al. (2021)",
    uses=(EXPECT,),
    suits=lambda item: all(candidate.text.count(BLANK) == 1 for candidate in item.candidates),
    ask=ask,
    auto=("template-blank",),
    version=2,
)
