"""Asking as a kind of cell: chat models, on this machine or behind an endpoint, planned, checked and asked."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..chat.endpoint import Endpoint, http_backend
from ..chat.local import check_can_answer, local_backend
from ..chat.requests import AskSettings, Backend, read_ask_settings
from ..chat.retry import RetryPolicy
from ..chat.runner import AskCell, ask_cell, check_askable, plan_ask_cells
from ..items import Items
from ..models.load import DEFAULT_LOADING, Loading, find_source
from ..runs import read_scored
from ..storage import StoragePath
from .cells import CellResult, Running
from .method_choice import PlannedCell, notice_languages
from .plan import StudyPlan, plan_command

if TYPE_CHECKING:
    from ..models.model import Model
    from .file import ModelSettings


def plan_asking(
    models: Sequence[str],
    items: Items,
    *,
    settings: AskSettings | None = None,
    endpoint: Endpoint | None = None,
    loading: Loading = DEFAULT_LOADING,
    measuring: Mapping[str, Any] | None = None,
) -> StudyPlan:
    """Every chat model asked about the items, here or behind an endpoint; refused when none can be asked."""
    check_askable(items, settings or AskSettings())
    options = (settings or AskSettings()).options
    at = {name: replace(endpoint, model=name) if endpoint else None for name in models}
    items = notice_languages(items)
    cells = [PlannedCell(name, items, "ask", options, endpoint=at[name]) for name in models]
    return plan_command(cells, loading, measuring=measuring or {})


def study_endpoint(model: ModelSettings, checkpoint: str) -> Endpoint:
    """The endpoint of a model in a study file."""
    policy = RetryPolicy(model.tries)
    return Endpoint(str(model.endpoint), checkpoint, model.key_env, model.concurrency, model.timeout, policy)


def check_ask_cell(cell: PlannedCell, family: str | None) -> None:
    """Refuse a cell that no model of the family can answer, or whose items cannot be asked about."""
    settings = read_ask_settings(cell.options)
    if cell.endpoint:
        http_backend(cell.endpoint, settings)
    else:
        check_can_answer(find_source(cell.checkpoint).name, str(family))
    check_askable(cell.items, settings)


def plan_ask(planned: PlannedCell, model: Model | None, *, token_budget: int | None) -> list[tuple[AskCell, Backend]]:
    """The cells of what is asked, each with who answers it."""
    if planned.kind != "ask":
        return []
    settings = read_ask_settings(planned.options)
    if planned.endpoint:
        backend = http_backend(planned.endpoint, settings)
    elif model is not None:
        backend = local_backend(model, settings, token_budget=token_budget)
    return [(cell, backend) for cell in plan_ask_cells(planned.items, settings, labels=planned.labels)]


def ask_planned(planned: PlannedCell, model: Model | None, *, running: Running) -> Iterator[CellResult]:
    """The answers of a planned cell, cell by cell; one that fails is named, and the others go on."""
    try:
        cells = plan_ask(planned, model, token_budget=running.token_budget)
    except Exception as error:
        running.fail(planned.failures(error), error)
        return
    for cell, backend in cells:
        try:
            with _answers_folder(running.out) as folder:
                run = ask_cell(cell, backend, out=folder, progress=running.progress)
                scored = read_scored([run])
        except Exception as error:
            running.fail(replace(planned, items=cell.items).failures(error), error)
            continue
        yield CellResult(scored, run if running.out else None)


@contextmanager
def _answers_folder(out: StoragePath | None) -> Iterator[StoragePath]:
    """Where answers are written down; a folder that is deleted in the end when they are not kept."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
