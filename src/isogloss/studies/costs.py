"""Costs: what a model has to read for its cells, counted, or estimated from a sample so that progress knows the time left."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import runs
from ..errors import IsoglossError
from ..items import Item
from ..models.engine import is_dear
from ..models.load import open_outline
from ..models.model import Bundle
from ..models.questions import Prompt
from ..progress import LOADING, Progress, silent
from ..storage import StoragePath
from .cells import Cell, Running, WorkUnit, ask_work, group_cells, group_parts, group_title
from .scoring_plan import PlannedCell, plan_scoring

if TYPE_CHECKING:
    from ..models.model import Model
    from ..models.questions import Question
    from .plan import StudyPlan

LETTERS_A_TOKEN = 3  # cautious: English has about four, most other languages fewer
SAMPLE = 2  # parts of a cell; items of one part often share what is read


@dataclass
class QuestionCount:
    """What was counted for one cell so far."""

    questions: int = 0
    unique: int = 0
    tokens: int = 0
    read: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0


def count_work(
    unit: WorkUnit, group: Sequence[Cell], *, model: Model, counts: Sequence[QuestionCount]
) -> tuple[list[Question | Prompt], list[Bundle]]:
    """Add a work's first questions to the counts of its cells; each question once, and what is read as one."""
    owner: dict[Question | Prompt, int] = {}
    for index, asking in zip(unit.cells, ask_work(unit, group, model=model), strict=True):
        started = time.perf_counter()
        questions = [question for generator in asking for question in next(generator, [])]
        counts[index].seconds += time.perf_counter() - started
        counts[index].questions += len(questions)
        counts[index].tokens += sum(map(count_tokens, questions))
        for question in questions:
            owner.setdefault(question, index)
    unique = list(owner)
    bundles = bundle_questions(model, unique)
    for question, index in owner.items():
        counts[index].unique += 1
        counts[index].answer_tokens += question.max_tokens if isinstance(question, Prompt) else 0
    for bundle in bundles:
        counts[owner[unique[bundle.indices[0]]]].read += bundle.cost
    return unique, bundles


def count_tokens(question: Question | Prompt) -> int:
    """The tokens of a question; those of one in words are estimated from its letters, and the answer's added."""
    if isinstance(question, Prompt):
        return len(question.text) // LETTERS_A_TOKEN + question.max_tokens
    return len(question.ids) + len(question.decoder_ids)


def bundle_questions(model: Model, questions: Sequence[Question | Prompt]) -> list[Bundle]:
    """Questions as the engine shares their passes, the dearest first; what is answered one by one is not shared."""
    batched = {index for index, question in enumerate(questions) if not is_dear(model, question)}
    bundles = [
        Bundle((index,), count_tokens(question)) for index, question in enumerate(questions) if index not in batched
    ]
    if batched and model.family.bundle:
        order = sorted(batched)
        for bundle in model.family.bundle(model, [questions[index] for index in order]):  # type: ignore[misc]
            bundles.append(Bundle(tuple(order[index] for index in bundle.indices), bundle.cost))
    return sorted(bundles, key=lambda bundle: (-bundle.cost, bundle.indices))


def part_costs(group: Sequence[Cell], model: Model) -> list[list[float]]:
    """For each cell of a group, what each of its parts costs."""
    letters = [[_letters(part) for part in cell.parts] for cell in group]
    return [
        [cost * size / sum(parts) for size in parts]
        for parts, cost in zip(letters, estimate_costs(group, model), strict=True)
    ]


def estimate_costs(group: Sequence[Cell], model: Model) -> list[float]:
    """What each cell of a group costs: the tokens to read, estimated from a sample, times the weights that read them."""
    chosen = [_spread_parts(len(cell.parts)) for cell in group]
    counts = [QuestionCount() for _ in group]
    for unit in group_parts(chosen):
        count_work(unit, group, model=model, counts=counts)
    size = body_size(model)
    costs = []
    for cell, numbers, count in zip(group, chosen, counts, strict=True):
        few = sum(_letters(cell.parts[number]) for number in numbers)
        costs.append(max(1, count.read) * size * _letters(cell.items) / few)
    return costs


def _letters(items: Iterable[Item]) -> int:
    return sum(1 + len(candidate.text) for item in items for candidate in item.candidates)


def _spread_parts(count: int) -> list[int]:
    """The numbers of the parts that are sampled: all of few, else those in the middle of equal stretches."""
    return list(range(count)) if count <= SAMPLE else [(2 * n + 1) * count // (2 * SAMPLE) for n in range(SAMPLE)]


def body_size(model: Model) -> int:
    """The weights that every token passes: those without a side as long as the vocabulary."""
    tensors = model.net.parameters() if hasattr(model.net, "parameters") else ()
    return sum(tensor.numel() for tensor in tensors if max(tensor.shape, default=0) < model.info.vocabulary * 0.9) or 1


def announce_plan(plan: StudyPlan, running: Running) -> None:
    """Tell what the cells of all checkpoints cost before the first is opened, and how much of that is there already.

    One model in one language is not announced: it is the whole job. A model that cannot be outlined is left out.
    """
    pieces = {(cell.checkpoint, cell.loading.served_model, item.language) for cell in plan.cells for item in cell.items}
    if running.progress is silent or len(pieces) < 2:
        return
    running.progress("", 0.0, items=sum(len(cell.items) for cell in plan.cells))
    running.progress(f"{LOADING}tokenizers", 0.0)
    there, items = _written_shares(running.out), 0
    for cells in plan.by_checkpoint():
        name = cells[0].checkpoint
        try:
            model = plan.opened.get(name) or open_outline(name, cells[0].loading)
            items += _announce(cells, model, there=there, progress=running.progress)
        except Exception:  # what is wrong is said when the model is opened
            items += sum(len(cell.items) for cell in cells)
    running.progress("", 0.0, items=items)


def _announce(
    planned: Sequence[PlannedCell], model: Model, *, there: Mapping[tuple[str, str, str], float], progress: Progress
) -> int:
    """Tell what each group of a model's cells costs; the number of their items comes out."""
    cells = plan_scoring(planned, model, running=Running(failures=[]))
    for indices in group_cells(cells, model):
        group = [cells[index] for index in indices]
        costs = estimate_costs(group, model)
        names = [(cell.labels.get("model", model.info.name), cell.label, cell.hash) for cell in group]
        kept = sum(cost * there.get(name, 0.0) for name, cost in zip(names, costs, strict=True))
        items = sum(len(cell.items) for cell in group)
        progress(group_title(group, model), kept / sum(costs), items=items, cost=sum(costs))
    return sum(len(cell.items) for cell in cells)


def _written_shares(out: StoragePath | None) -> dict[tuple[str, str, str], float]:
    """The share of the parts that are there, by model, method and data; not by weights, which are not hashed yet."""
    shares = {}
    for folder in runs.run_folders(out) if out is not None and out.exists() else []:
        try:
            run = runs.read_run(folder)
        except IsoglossError:
            continue
        key = (str(run.info["model"]), str(run.info["method"]), str(run.info["fingerprint"].get("data")))
        shares[key] = len(runs.written_parts(run)) / run.parts
    return shares
