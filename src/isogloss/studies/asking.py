"""Asking as a kind of cell: chat models, on this machine or behind an endpoint, and what they answer."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..chat.endpoint import http_backend
from ..chat.local import local_backend
from ..chat.requests import Backend, read_ask_settings
from ..chat.runner import AskCell, ask_cell, plan_ask_cells
from ..runs import read_scored
from .cells import CellResult, Running
from .method_choice import PlannedCell

if TYPE_CHECKING:
    from ..models.model import Model


def plan_ask(planned: PlannedCell, model: Model | None, *, token_budget: int | None) -> list[tuple[AskCell, Backend]]:
    """The cells of what is asked, each with who answers it."""
    if planned.method != "ask":
        return []
    settings = read_ask_settings(planned.options)
    if planned.endpoint:
        backend = http_backend(planned.endpoint, settings)
    elif model is not None:
        backend = local_backend(model, settings, token_budget=token_budget)
    return [(cell, backend) for cell in plan_ask_cells(planned.items, settings, labels=planned.labels)]


def ask_planned(planned: PlannedCell, model: Model | None, *, running: Running) -> Iterator[CellResult]:
    """The answers of a planned cell, cell by cell; one that fails is named, and the others go on.

    Answers that are not kept are written down in a folder that is deleted in the end.
    """
    try:
        cells = plan_ask(planned, model, token_budget=running.token_budget)
    except Exception as error:
        running.fail(planned.failures(error), error)
        return
    for cell, backend in cells:
        try:
            with ExitStack() as cleanup:
                folder = running.out or Path(cleanup.enter_context(tempfile.TemporaryDirectory()))
                run = ask_cell(cell, backend, out=folder, progress=running.progress)
                scored = read_scored([run])
        except Exception as error:
            running.fail(replace(planned, items=cell.items).failures(error), error)
            continue
        yield CellResult(scored, run if running.out else None)
