"""Costs: what a model has to read for its cells, counted, or estimated from a sample so that progress knows the time left."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import registry, runs
from ..errors import IsoglossError
from ..items import Item
from ..models.load import find_family, open_outline
from ..progress import LOADING, Progress, silent
from ..storage import StoragePath
from .cells import Running, ScoringCell, WorkUnit, ask_work, group_cells, group_parts, group_title
from .method_choice import PlannedCell, plan_scoring

if TYPE_CHECKING:
    from ..models.model import Bundle, Model
    from ..models.questions import Question
    from .plan import StudyPlan

SAMPLE = 2  # parts of a cell; items of one part often share what is read


@dataclass
class QuestionCount:
    """What was counted for one cell so far."""

    questions: int = 0
    unique: int = 0
    tokens: int = 0
    read: int = 0
    seconds: float = 0.0


def count_work(
    unit: WorkUnit, group: Sequence[ScoringCell], *, model: Model, counts: Sequence[QuestionCount]
) -> tuple[list[Question], list[Bundle]]:
    """Add a work's first questions to the counts of its cells; each question once, and what is read as one."""
    owner: dict[Question, int] = {}
    for index, asking in zip(unit.cells, ask_work(unit, group, model=model), strict=True):
        started = time.perf_counter()
        questions = [question for generator in asking for question in next(generator, [])]
        counts[index].seconds += time.perf_counter() - started
        counts[index].questions += len(questions)
        counts[index].tokens += sum(len(question.ids) + len(question.decoder_ids) for question in questions)
        for question in questions:
            owner.setdefault(question, index)
    unique = list(owner)
    bundles = sorted(model.family.bundle(model, unique), key=lambda bundle: (-bundle.cost, bundle.indices))
    for index in owner.values():
        counts[index].unique += 1
    for bundle in bundles:
        counts[owner[unique[bundle.indices[0]]]].read += bundle.cost
    return unique, bundles


def part_costs(group: Sequence[ScoringCell], model: Model) -> list[list[float]]:
    """For each cell of a group, what each of its parts costs."""
    letters = [[_letters(part) for part in cell.parts] for cell in group]
    return [
        [cost * size / sum(parts) for size in parts]
        for parts, cost in zip(letters, estimate_costs(group, model), strict=True)
    ]


def estimate_costs(group: Sequence[ScoringCell], model: Model) -> list[float]:
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
    pieces = {
        (cell.checkpoint, item.language, item.dataset if cell.method == "ask" else "")
        for cell in plan.cells
        for item in cell.items
    }
    if running.progress is silent or len(pieces) < 2:
        return
    running.progress("", 0.0, items=sum(len(cell.items) for cell in plan.cells))
    if all(cell.method == "ask" for cell in plan.cells):
        return
    running.progress(f"{LOADING}tokenizers", 0.0)
    there, offline = _written_shares(running.out), plan.loading.offline
    items = 0
    for cells in plan.by_checkpoint():
        name = cells[0].checkpoint
        try:
            model = plan.opened.get(name)
            if not (model or cells[0].endpoint or registry.get("family", find_family(name, offline=offline)).load):
                model = open_outline(name, offline=offline)
            items += _announce(cells, model, there=there, progress=running.progress) if model else 0
            items += sum(len(cell.items) for cell in cells if cell.method == "ask" or not model)
        except Exception:  # what is wrong is said when the model is opened
            items += sum(len(cell.items) for cell in cells)
    running.progress("", 0.0, items=items)


def _announce(
    planned: Sequence[PlannedCell], model: Model, *, there: Mapping[tuple[str, str, str], float], progress: Progress
) -> int:
    """Tell what each group of a model's cells costs; the number of their items comes out."""
    cells = plan_scoring(planned, model, running=Running(failures=[]))
    for indices in group_cells(cells):
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
