"""Workers: what one actor of a cluster does. It opens a model by its name, plans the cells, scores works and writes them."""

from __future__ import annotations

import faulthandler
import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import IsoglossError
from ..items import Candidate, Item, Items, Problem
from ..runs import read_run
from ..storage import as_path
from . import cells
from .jobs import Loading, ModelJob, ScoringRequest, failure_of, open_job, plan_requests

if TYPE_CHECKING:
    from ..models.model import Model


def pack_job(job: ModelJob) -> str:
    """The job as plain text, with the model by name only; folders on this machine by their whole path."""
    model = str(Path(job.model).resolve()) if Path(job.model).exists() else job.model
    return json.dumps(asdict(replace(job, model=model)), ensure_ascii=False)


def unpack_job(text: str) -> ModelJob:
    """The job that `pack_job` wrote."""
    given = json.loads(text)
    requests = [
        ScoringRequest(_items(one["items"]), one["method"], one["options"], one["labels"]) for one in given["requests"]
    ]
    return ModelJob(given["model"], tuple(requests), Loading(**given["loading"]))


def _items(given: Mapping[str, Any]) -> Items:
    return Items(tuple(_item(row) for row in given["rows"]), tuple(Problem(**one) for one in given["problems"]))


def _item(row: Mapping[str, Any]) -> Item:
    tags = {name: tuple(value) if isinstance(value, list) else value for name, value in row["tags"].items()}
    return Item(**{**row, "tags": tags, "candidates": tuple(Candidate(**one) for one in row["candidates"])})


def ending_signal(path: Path) -> str | None:
    """The name of the signal that ended a worker, from the file that its last moment was traced in."""
    names = {signal.strsignal(number): number.name for number in signal.Signals}
    try:
        first = path.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    except OSError:
        return None
    return names.get(first.removeprefix("Fatal Python error: "))


class Worker:
    """One model, open, and the cells that it is asked; every method answers with plain data or with a sentence."""

    def __init__(self) -> None:
        self.model: Model | None = None
        self.cells: list[cells.ScoringCell] = []
        self.job = ModelJob("", ())
        self.failed: list[dict[str, str]] = []

    def trace(self, path: str) -> None:
        """Write the name of a signal that ends this process into a file."""
        self.trace_file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115 (open while the process lives)
        faulthandler.enable(self.trace_file, all_threads=False)

    def open(self, packed: str) -> dict[str, Any]:
        """Open the job's model and plan its cells."""
        self.model = None  # two models at once may not fit
        self.failed = []
        try:
            self.job = unpack_job(packed)
            self.model = open_job(self.job)
            self.cells = plan_requests(self.job.requests, self.model, failed=self._fail)
        except IsoglossError as error:
            return {"error": str(error)}
        return {}

    def _fail(self, requests: Sequence[ScoringRequest], error: Exception) -> None:
        self.failed += [asdict(failure_of(request, error)) for request in requests]

    def prepare(self, out: str) -> dict[str, Any]:
        """Make the runs that are not there yet; each group of cells with its title, items and runs, and what cannot be."""
        try:
            groups = [self._prepare_group(group, out=out) for group in self._groups()]
            return {"groups": groups, "failed": self.failed}
        except IsoglossError as error:
            return {"error": str(error)}

    def _prepare_group(self, group: Sequence[cells.ScoringCell], *, out: str) -> dict[str, Any]:
        model = self._opened()
        runs = [cells.open_cell(cell, model, out=as_path(out)) for cell in group]
        return {
            "title": cells.group_title(group, model),
            "items": sum(len(cell.items) for cell in group),
            "folders": [str(run.folder) for run in runs],
        }

    def score(self, group: int, work: tuple[int, tuple[int, ...]], *, folders: Sequence[str]) -> dict[str, Any]:
        """Score one work of a group and write its parts."""
        task = cells.WorkUnit(*work)
        try:
            chosen = self._groups()[group]
            runs = [read_run(as_path(folder)) for folder in folders]
            budget = self.job.loading.token_budget
            tables = cells.score_work(task, chosen, model=self._opened(), token_budget=budget)
            cells.write_work(task, runs, tables=tables)
        except IsoglossError as error:
            return {"error": str(error)}
        return {}

    def _groups(self) -> list[list[cells.ScoringCell]]:
        return [[self.cells[index] for index in indices] for indices in cells.group_cells(self.cells)]

    def _opened(self) -> Model:
        if self.model is None:
            raise IsoglossError("A worker was asked before its model was open.")
        return self.model
