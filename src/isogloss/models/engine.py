"""The engine between methods and families: no question twice, bundles by cost, batches by token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..errors import IsoglossError
from ..scores import Row
from .model import Bundle, Model
from .questions import ARGMAX, NAN, Answer, Asking, Question

TOKEN_BUDGET = 2048

Progress = Callable[[float], None]


def run_all(
    model: Model, asking: Iterable[Asking], *, token_budget: int = TOKEN_BUDGET, progress: Progress = lambda share: None
) -> list[Row]:
    """The rows of all the generators, in their order; each is asked again until it has what it needs."""
    waiting = [(place, generator) for place, generator in enumerate(asking)]
    results: dict[int, list[Row]] = {}
    answers: dict[int, list[Answer]] = {}
    turn = 0
    while waiting:
        asked: list[tuple[int, Asking, list[Question]]] = []
        for place, generator in waiting:
            try:
                asked.append((place, generator, generator.send(answers[place]) if turn else next(generator)))
            except StopIteration as stop:
                results[place] = stop.value
        questions = [question for _, _, group in asked for question in group]
        found = iter(answer_all(model, questions, token_budget=token_budget, progress=progress))
        answers = {place: [next(found) for _ in group] for place, _, group in asked}
        waiting = [(place, generator) for place, generator, _ in asked]
        turn += 1
    return [row for place in sorted(results) for row in results[place]]


def answer_all(
    model: Model, questions: Sequence[Question], *, token_budget: int, progress: Progress = lambda share: None
) -> list[Answer]:
    """One answer per question, in their order; equal questions are answered once."""
    unique = list(dict.fromkeys(questions))
    unknown = sorted({question.want for question in unique} - set(model.family.wants))
    if unknown:
        raise IsoglossError(f"A {model.info.family} model cannot answer '{unknown[0]}'.")
    bundles = sorted(model.family.bundle(model, unique), key=lambda bundle: (-bundle.cost, bundle.places))
    batches = fill_batches(bundles, token_budget)
    found: dict[int, Answer] = {}
    for number, batch in enumerate(batches, 1):
        found |= _answer(model, unique, batch=batch)
        progress(number / len(batches))
    _refuse_nan(unique, found)
    by_question = {question: found[place] for place, question in enumerate(unique)}
    return [by_question[question] for question in questions]


def fill_batches(bundles: Sequence[Bundle], budget: int) -> list[list[Bundle]]:
    """Bundles, sorted by falling cost, in batches whose padded size stays within the budget.

    A batch that is filled to a quarter is closed rather than padded by more than a quarter.
    """
    batches: list[list[Bundle]] = []
    for bundle in bundles:
        longest, count = (batches[-1][0].cost, len(batches[-1])) if batches else (0, 0)
        wasteful = 4 * bundle.cost < 3 * longest and 4 * longest * count >= budget
        if batches and longest * (count + 1) <= budget and not wasteful:
            batches[-1].append(bundle)
        else:
            batches.append([bundle])
    return batches


def _answer(model: Model, questions: Sequence[Question], *, batch: list[Bundle]) -> dict[int, Answer]:
    """The batch's answers; when memory runs out, those of its two halves."""
    try:
        return model.family.answer(model, questions, batch=batch)
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
    _free_memory(model)
    if len(batch) == 1:
        raise IsoglossError(
            f"Out of memory with a single input of {batch[0].cost} tokens on {model.device}. "
            "Use a smaller model, another --device, or --dtype bfloat16."
        )
    middle = len(batch) // 2
    return _answer(model, questions, batch=batch[:middle]) | _answer(model, questions, batch=batch[middle:])


def _is_out_of_memory(error: BaseException) -> bool:
    """Also torch's own error, known by its name: the engine stays without torch."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return "out of memory" in str(error) or "can't allocate memory" in str(error)


def _free_memory(model: Model) -> None:
    if model.device.startswith("cuda"):
        import torch

        torch.cuda.empty_cache()


def _refuse_nan(questions: Sequence[Question], found: dict[int, Answer]) -> None:
    for place, question in enumerate(questions):
        if question.want != ARGMAX and np.isnan(found[place]).any():
            raise IsoglossError(NAN)
