"""Forecasts: what a study will ask of its models, counted before it is asked, and about how long that will take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .. import runs
from ..chat.runner import run_info as ask_info
from ..models.load import Loading, has_weights, open_model, open_outline
from ..reports.text.table import Grid, as_text
from ..storage import StoragePath
from .cells import Failure, Running, ScoringCell, group_cells, group_parts, run_info
from .costs import QuestionCount, count_work
from .method_choice import plan_scoring
from .plan import StudyPlan

if TYPE_CHECKING:
    from ..models.model import Bundle, Model
    from ..models.questions import Question

OUTLINE = "meta"  # the device of a model without weights
PATIENCE = 3.0
BATCHES = 24


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
    seconds: float | None


@dataclass
class SpeedTrial:
    """Batches that are tried to see how fast the model reads, the model's budget, and whether there is a trial at all."""

    budget: int
    wanted: bool
    batches: list[list[Question]] = field(default_factory=list)


def forecast_plan(plan: StudyPlan, *, out: StoragePath, trial: bool = True) -> tuple[list[Forecast], list[Failure]]:
    """What each cell has left to ask, and which cells will fail; nothing is written, and nothing scored but a short trial."""
    running = Running(out, plan.loading.token_budget, failures=list(plan.failures))
    rows: list[Forecast] = []
    for cells in plan.by_checkpoint():
        try:
            model = None if cells[0].endpoint else _open_without_download(cells[0].checkpoint, plan.loading)
            if model:
                rows += _forecast_scoring(
                    plan_scoring(cells, model, running=running), model, running=running, trial=trial
                )
        except Exception as error:
            running.fail([failure for cell in cells for failure in cell.failures(error)], error)
            continue
        for cell in cells:
            from .asking import plan_ask

            try:
                asked = plan_ask(cell, model, token_budget=running.token_budget)
            except Exception as error:
                running.fail(cell.failures(error), error)
                continue
            rows += [
                _forecast_asking(ask_info(asked_cell, backend), asked_cell.asks, out=out)
                for asked_cell, backend in asked
            ]
    return rows, list(running.failures or ())


def _forecast_asking(info: dict[str, Any], unique: int, *, out: StoragePath) -> Forecast:
    """What a cell that is asked has left: its requests; how long answers take is not known."""
    done = len(_written(info, out))
    left = 0 if done == info["parts"] else unique
    known = {name: info[name] for name in ("model", "dataset", "language", "method", "items", "parts")}
    return Forecast(**known, done=done, questions=left, unique=left, tokens=0, read=0, seconds=None if left else 0.0)


def _forecast_scoring(planned: Sequence[ScoringCell], model: Model, *, running: Running, trial: bool) -> list[Forecast]:
    from ..models.engine import TOKEN_BUDGET

    trial = trial and model.device != OUTLINE
    tried = SpeedTrial(running.token_budget or TOKEN_BUDGET, trial)
    counted: dict[int, tuple[int, QuestionCount]] = {}
    for indices in group_cells(planned):
        group = [planned[index] for index in indices]
        done = [_written(run_info(cell, model), running.out) for cell in group]
        counts = _count_group(group, model, done=done, tried=tried)
        counted |= {p: (len(d), c) for p, d, c in zip(indices, done, counts, strict=True)}
    rate = _try(model, tried) if trial else None
    return [_forecast(planned[p], model, done=counted[p][0], count=counted[p][1], rate=rate) for p in sorted(counted)]


def _open_without_download(name: str, loading: Loading) -> Model:
    """The model as far as that needs no download of weights: open if they are here, else an outline."""
    if has_weights(name):
        return open_model(name, replace(loading, offline=True))
    return open_outline(name, offline=loading.offline)


def _written(info: dict[str, Any], out: StoragePath | None) -> set[int]:
    """The numbers of the parts that are there."""
    run = runs.find_run(out, info) if out else None
    return set(runs.written_parts(run)) if run else set()


def _count_group(
    group: Sequence[ScoringCell], model: Model, *, done: Sequence[set[int]], tried: SpeedTrial
) -> list[QuestionCount]:
    counts = [QuestionCount() for _ in group]
    missing = [set(range(len(cell.parts))) - there for cell, there in zip(group, done, strict=True)]
    for work in group_parts(missing):
        questions, bundles = count_work(work, group, model=model, counts=counts)
        if tried.wanted and len(tried.batches) < BATCHES:
            tried.batches += _spread(questions, bundles, budget=tried.budget)
    return counts


def _spread(questions: Sequence[Question], bundles: Sequence[Bundle], *, budget: int) -> list[list[Question]]:
    """The questions of a few batches, from the longest texts to the shortest."""
    from ..models.engine import fill_unpadded

    batches = fill_unpadded(bundles, budget)
    few = batches[:: max(1, len(batches) // BATCHES)]
    return [[questions[index] for bundle in batch for index in bundle.indices] for batch in few]


def _try(model: Model, tried: SpeedTrial) -> float | None:
    """How many tokens the model reads in a second; the first question only warms up."""
    import numpy as np

    from ..models.engine import answer_all

    if not tried.batches:
        return None
    answer_all(model, tried.batches[-1][:1], token_budget=tried.budget)
    started = time.perf_counter()
    read = 0
    order = np.random.default_rng(0).permutation(len(tried.batches))  # long and short in turn, always alike
    for batch in (tried.batches[index] for index in order):
        answer_all(model, batch, token_budget=tried.budget)
        read += sum(bundle.cost for bundle in model.family.bundle(model, list(dict.fromkeys(batch))))
        if time.perf_counter() - started > PATIENCE:
            break
    return read / (time.perf_counter() - started)


def _forecast(cell: ScoringCell, model: Model, *, done: int, count: QuestionCount, rate: float | None) -> Forecast:
    return Forecast(
        model=cell.labels.get("model", model.info.name),
        dataset=cell.dataset,
        language=cell.language,
        method=cell.label,
        items=len(cell.items),
        parts=len(cell.parts),
        done=done,
        questions=count.questions,
        unique=count.unique,
        tokens=count.tokens,
        read=count.read,
        seconds=round(count.seconds + count.read / rate, 6) if rate else (0.0 if not count.read else None),
    )


def forecasts_as_text(rows: Sequence[Forecast]) -> str:
    """The forecasts for a terminal, with a sum below."""
    counts = ("questions", "unique", "tokens", "read")
    shown = [
        [
            *(row.model, row.dataset, row.language, row.method, str(row.items), f"{row.done}/{row.parts}"),
            *(str(getattr(row, name)) for name in counts),
            duration(row.seconds),
        ]
        for row in rows
    ]
    known = [row.seconds for row in rows if row.seconds is not None]
    total = f", about {duration(sum(known))}" if len(known) == len(rows) else ""
    sums = [sum(getattr(row, name) for row in rows) for name in ("items", *counts)]
    remark = "{} cells, {} items, {} questions, {} of them unique, {} tokens, {} to read".format(len(rows), *sums)
    heading = ["model", "dataset", "language", "method", "items", "parts", *counts, "time"]
    return as_text(Grid(heading, shown, 4, (remark + total,)))


def duration(seconds: float | None) -> str:
    """A time as people say it."""
    if seconds is None:
        return "-"
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"
