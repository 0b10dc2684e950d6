"""The engine between methods and families: no question twice, bundles by cost, batches by token budget."""

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import IsoglossError, naming_panics
from .journal import Journal
from .model import Bundle, Model
from .questions import ARGMAX, NAN, TEXT, Answer, Asking, Prompt, Question

TOKEN_BUDGET = 2048
PASS_COSTS = 32  # tokens; on a graphics card, which is quick with tokens and slow to start, many more
PASS_COSTS_THERE = 512

Progress = Callable[[float], None]


def run_all(
    model: Model,
    asking: Iterable[Asking],
    *,
    token_budget: int = TOKEN_BUDGET,
    progress: Progress = lambda share: None,
    journal: Journal | None = None,
) -> list[list[Any]]:
    """The rows of each generator, in their order; each is asked again until it has what it needs.

    Answers that cost money or minutes are written into the journal one by one, and what it has is not asked again.
    """
    waiting = list(enumerate(asking))
    results: dict[int, list[Any]] = {}
    answers: dict[int, list[Any]] = {}
    journal = journal or Journal()
    turn = 0
    while waiting:
        asked: list[tuple[int, Asking, list[Question | Prompt]]] = []
        with naming_panics():
            for index, generator in waiting:
                try:
                    asked.append((index, generator, generator.send(answers[index]) if turn else next(generator)))
                except StopIteration as stop:
                    results[index] = stop.value
        questions = [question for _, _, group in asked for question in group]
        answered = iter(_answer_round(model, questions, token_budget=token_budget, progress=progress, journal=journal))
        answers = {index: [next(answered) for _ in group] for index, _, group in asked}
        waiting = [(index, generator) for index, generator, _ in asked]
        turn += 1
    trim_memory()
    return [results[index] for index in sorted(results)]


def _answer_round(
    model: Model, questions: Sequence[Question | Prompt], *, token_budget: int, progress: Progress, journal: Journal
) -> list[Any]:
    """One answer per question, in their order: those in batches of the engine's, and those that arrive one by one."""
    dear = list(dict.fromkeys(question for question in questions if is_dear(model, question)))
    batched = [question for question in questions if isinstance(question, Question) and not is_dear(model, question)]
    answers: dict[Any, Any] = dict(
        zip(batched, answer_all(model, batched, token_budget=token_budget, progress=progress), strict=True)
    )
    answers |= _answer_each(model, dear, token_budget=token_budget, progress=progress, journal=journal)
    return [answers[question] for question in questions]


def is_dear(model: Model, question: Question | Prompt) -> bool:
    """Whether a question is answered one by one, with a journal: one in words, or one to a model that has no batches."""
    return question.want == TEXT or model.family.bundle is None


def _answer_each(
    model: Model, questions: Sequence[Question | Prompt], *, token_budget: int, progress: Progress, journal: Journal
) -> dict[Any, Any]:
    """The answers that the journal has, and those that the family hands over one by one."""
    if questions and model.family.answer_each is None:
        raise IsoglossError(f"A {model.info.family} model cannot answer '{questions[0].want}'.")
    answers = {question: answer for question in questions if (answer := journal.find(question)) is not None}

    def keep(more: Mapping[Any, Any]) -> None:
        journal.keep(more)
        answers.update(more)
        progress(len(answers) / len(questions))

    todo = [question for question in questions if question not in answers]
    if todo and model.family.answer_each is not None:
        model.family.answer_each(model, todo, keep=keep, token_budget=token_budget)
    return answers


def trim_memory() -> None:
    """Give freed memory back to the system; glibc would keep it, a little more with every batch of another shape."""
    with suppress(OSError, TypeError, AttributeError):  # another system, another way to keep memory
        ctypes.CDLL(None).malloc_trim(0)


def answer_all(
    model: Model, questions: Sequence[Question], *, token_budget: int, progress: Progress = lambda share: None
) -> list[Answer]:
    """One answer per question, in their order; equal questions are answered once."""
    unique = list(dict.fromkeys(questions))
    unknown = sorted({question.want for question in unique} - set(model.family.wants))
    if unknown:
        raise IsoglossError(f"A {model.info.family} model cannot answer '{unknown[0]}'.")
    if not unique or model.family.bundle is None:
        return []
    bundles = sorted(model.family.bundle(model, unique), key=lambda bundle: (-bundle.cost, bundle.indices))
    extra = PASS_COSTS if model.device == "cpu" else PASS_COSTS_THERE
    batches = (
        fill_batches(bundles, token_budget, extra=extra) if model.family.pads else fill_unpadded(bundles, token_budget)
    )
    answers: dict[int, Answer] = {}
    done, total = 0, sum(bundle.cost for bundle in bundles)
    for batch in batches:
        answers |= answer_batch(model, unique, batch=batch)
        done += sum(bundle.cost for bundle in batch)
        progress(done / total)
    if "files" in model.state:
        model.state["files"].check(model.info.name)
    if any(question.want != ARGMAX and np.isnan(answers[index]).any() for index, question in enumerate(unique)):
        raise IsoglossError(NAN)
    by_question = {question: answers[index] for index, question in enumerate(unique)}
    return [by_question[question] for question in questions]


def fill_batches(bundles: Sequence[Bundle], budget: int, *, extra: int = PASS_COSTS) -> list[list[Bundle]]:
    """Bundles, sorted by falling cost, in batches that stay within the budget and have little padding in all.

    A pass costs as much as `extra` tokens beside its own, so lengths are mixed where that is cheaper than another pass.
    """
    costs = [bundle.cost for bundle in bundles]
    starts = [index for index, cost in enumerate(costs) if index == 0 or cost != costs[index - 1]]

    def passes(start: int, end: int) -> int:
        """How many passes a run takes when all its bundles are padded to the first, which is the longest."""
        return -(-(end - start) // max(1, budget // max(1, costs[start])))

    best: list[tuple[int, int]] = [(0, 0)]  # before each start: the least cost, and where its last run starts
    for end in [*starts[1:], len(costs)] if starts else []:
        ways = (
            (best[number][0] + costs[start] * (end - start) + extra * passes(start, end), number)
            for number, start in enumerate(starts[: len(best)])
        )
        best.append(min(ways))
    batches: list[list[Bundle]] = []
    last, end = len(best) - 1, len(costs)
    while last:
        last = best[last][1]
        start, parts = starts[last], passes(starts[last], end)
        cuts = [start + (end - start) * number // parts for number in range(parts + 1)]
        batches = [*(list(bundles[first:after]) for first, after in pairwise(cuts)), *batches]
        end = start
    return batches


def fill_unpadded(bundles: Sequence[Bundle], budget: int) -> list[list[Bundle]]:
    """Bundles in batches whose costs stay within the budget in all, for a family that does not pad them to each other."""
    batches: list[list[Bundle]] = []
    left = 0
    for bundle in bundles:
        if bundle.cost > left:
            batches.append([])
            left = budget
        batches[-1].append(bundle)
        left -= bundle.cost
    return batches


def answer_batch(model: Model, questions: Sequence[Question], *, batch: list[Bundle]) -> dict[int, Answer]:
    """The batch's answers; when memory runs out, those of its two halves."""
    try:
        return model.family.answer(model, questions, batch=batch) if model.family.answer else {}
    except (MemoryError, RuntimeError) as error:
        # torch's own error is known by its name: the engine stays without torch
        known = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
        if not known and not any(words in str(error) for words in ("out of memory", "can't allocate memory")):
            raise
    if model.device.startswith("cuda"):
        import torch

        torch.cuda.empty_cache()
    if len(batch) == 1:
        raise IsoglossError(
            f"Out of memory with a single input of {batch[0].cost} tokens on {model.device}. "
            "Use a smaller model, another `device`, or `dtype='bfloat16'`."
        )
    middle = len(batch) // 2
    return answer_batch(model, questions, batch=batch[:middle]) | answer_batch(model, questions, batch=batch[middle:])
