"""Forecasts: what a study will ask of its models, counted before it is asked, and about how long that will take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import registry, runs
from ..analysis.study import Failure
from ..errors import IsoglossError
from ..models.load import fetch_source, has_weights, open_model, open_outline
from ..models.memory import choose_device, memory_line
from ..reports.numbers import duration
from ..reports.text.table import Grid, as_text
from ..storage import StoragePath
from .cells import Cell, Running, group_cells, group_parts, is_alone
from .costs import QuestionCount, bundle_questions, count_work
from .plan import StudyPlan
from .run_files import run_info
from .scoring_plan import plan_scoring

if TYPE_CHECKING:
    from ..models.model import Bundle, Model
    from ..models.questions import Prompt, Question

OUTLINE = "meta"  # the device of a model without weights
PATIENCE = 3.0
BATCHES = 24
COUNTS = ("questions", "unique", "tokens", "read")
KEPT = (*COUNTS, "answer_tokens")


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is left to ask in a cell, by the first question of every method.

    `questions` are asked, `unique` of them by no cell above in the same work; `tokens` is what the questions hold, `read`
    what the model reads when equal inputs and common beginnings are read once. Without a trial, or without the
    model's weights on this disk, there are no seconds.
    """

    model: str
    dataset: str
    language: str
    method: str
    items: int
    parts: int
    done: int
    questions: int
    unique: int
    tokens: int
    read: int
    answer_tokens: int
    seconds: float | None


def forecast_plan(plan: StudyPlan, *, out: StoragePath, trial: bool = True) -> tuple[list[Forecast], list[Failure]]:
    """What each cell has left to ask, and which cells will fail; nothing is written, and nothing scored but a short trial."""
    running = Running(out, failures=list(plan.failures))
    rows: list[Forecast] = []
    for cells in plan.by_checkpoint():
        name, loading = cells[0].checkpoint, cells[0].loading
        try:
            here = has_weights(name, loading)  # no weights are downloaded: without them the model is an outline
            loading = replace(loading, offline=here or loading.offline)
            model = open_model(name, loading) if here else open_outline(name, loading)
            planned = plan_scoring(cells, model, running=running)
            rows += _forecast_scoring(planned, model, running=running, trial=trial)
        except Exception as error:
            running.fail([failure for cell in cells for failure in cell.failures(error)], error)
    return rows, list(running.failures or ())


def forecast_memory(plan: StudyPlan) -> list[str]:
    """A line for each checkpoint of a plan about the memory that its weights need, where its files say so."""
    lines = []
    for cells in plan.by_checkpoint():
        loading = cells[0].loading
        with suppress(IsoglossError):  # what is wrong is among the failures
            source = fetch_source(cells[0].checkpoint, replace(loading, allow_pickle=False), weights=False)
            if source.folder is not None and not source.gguf:
                device = choose_device()[0] if loading.device == "auto" else loading.device
                lines.append(memory_line(source.name, source.folder, device=device, dtype=loading.dtype))
    return [line for line in lines if line]


def forecast_servers(plan: StudyPlan) -> list[str]:
    """A line for each server of a plan: a forecast asks none, so what it can do is not known yet."""
    served = {cell.checkpoint: cell.loading.served_model for cell in plan.cells if cell.loading.served_model}
    return [
        f"{url}: not asked; whether it can score as {name} is found out before the first item"
        for url, name in served.items()
    ]


def forecast_measures(plan: StudyPlan) -> list[str]:
    """A line for each data set that none of the study's metrics fits: it would be scored, and not measured."""
    chosen = registry.chosen("metric", plan.measuring.metrics)
    roles: dict[str, set[str]] = {}
    for item in (item for cell in plan.cells for item in cell.items):
        roles.setdefault(item.dataset, set()).update(candidate.role for candidate in item.candidates)
    names = ", ".join(metric.short or metric.title for metric in chosen.values())
    return [
        f"{dataset}: none of the metrics of the study ({names}) fits its items, so it would be scored and not measured"
        for dataset, there in roles.items()
        if chosen and not any(set(metric.roles) <= there for metric in chosen.values())
    ]


def _forecast_scoring(planned: Sequence[Cell], model: Model, *, running: Running, trial: bool) -> list[Forecast]:
    """What each cell of a model has left; with a trial, a few of the batches are read to see how long they take."""
    from ..models.engine import TOKEN_BUDGET

    trial = trial and model.device != OUTLINE
    budget = running.token_budget or TOKEN_BUDGET
    batches: list[list[Any]] = []
    infos = [run_info(cell, model) for cell in planned]
    done = [_written(info, running.out) for info in infos]
    counts = [QuestionCount() for _ in planned]
    for indices in group_cells(planned, model):
        group = [planned[index] for index in indices]
        missing = [set(range(len(planned[index].parts))) - done[index] for index in indices]
        for work in group_parts(missing):
            questions, bundles = count_work(work, group, model=model, counts=[counts[index] for index in indices])
            batched = not is_alone(group[0], model)  # how long answers in words take is not known
            if trial and batched and len(batches) < BATCHES:
                batches += _spread(questions, bundles, budget=budget)
    rate = _try(model, batches, budget=budget) if batches else None
    rows = []
    for cell, info, written, count in zip(planned, infos, done, counts, strict=True):
        timed = rate and not is_alone(cell, model)
        seconds = count.seconds + count.read / rate if rate and timed else (0.0 if not count.read else None)
        rows.append(_forecast(info, len(written), count=count, seconds=seconds))
    return rows


def _written(info: dict[str, Any], out: StoragePath | None) -> set[int]:
    """The numbers of the parts that are there."""
    run = runs.find_run(out, info) if out else None
    return set(runs.written_parts(run)) if run else set()


def _spread(questions: Sequence[Question | Prompt], bundles: Sequence[Bundle], *, budget: int) -> list[list[Any]]:
    """The questions of a few batches, from the longest texts to the shortest."""
    from ..models.engine import fill_unpadded

    batches = fill_unpadded(bundles, budget)
    few = batches[:: max(1, len(batches) // BATCHES)]
    return [[questions[index] for bundle in batch for index in bundle.indices] for batch in few]


def _try(model: Model, batches: Sequence[list[Any]], *, budget: int) -> float:
    """How many tokens the model reads in a second; the first question only warms up."""
    import numpy as np

    from ..models.engine import answer_all

    answer_all(model, batches[-1][:1], token_budget=budget)
    started = time.perf_counter()
    read = 0
    order = np.random.default_rng(0).permutation(len(batches))  # long and short in turn, always alike
    for batch in (batches[index] for index in order):
        answer_all(model, batch, token_budget=budget)
        read += sum(bundle.cost for bundle in bundle_questions(model, list(dict.fromkeys(batch))))
        if time.perf_counter() - started > PATIENCE:
            break
    return read / (time.perf_counter() - started)


def _forecast(info: dict[str, Any], done: int, *, count: QuestionCount, seconds: float | None) -> Forecast:
    """What is left of a cell, with what its `run.json` says."""
    fields = {name: info[name] for name in ("model", "dataset", "language", "method", "items", "parts")}
    left = {name: getattr(count, name) for name in KEPT}
    return Forecast(**fields, **left, done=done, seconds=None if seconds is None else round(seconds, 6))


def forecasts_as_text(rows: Sequence[Forecast]) -> str:
    """The forecasts for a terminal, with a sum below."""
    cells = [
        [
            *(row.model, row.dataset, row.language, row.method, str(row.items), f"{row.done}/{row.parts}"),
            *(str(getattr(row, name)) for name in COUNTS),
            duration(row.seconds),
        ]
        for row in rows
    ]
    seconds = [row.seconds for row in rows if row.seconds is not None]
    total = f", about {duration(sum(seconds))}" if len(seconds) == len(rows) else ""
    sums = [sum(getattr(row, name) for row in rows) for name in ("items", *COUNTS)]
    remark = "{} cells, {} items, {} questions, {} of them unique, {} tokens, {} to read".format(len(rows), *sums)
    heading = ["model", "dataset", "language", "method", "items", "parts", *COUNTS, "time"]
    return as_text(Grid(heading, cells, 4, (remark + total,)))
