"""Workers: what one actor of a cluster does. It opens a model by its name, plans the cells, scores units of work and writes them."""

import faulthandler
import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..analysis.study import Failure
from ..errors import IsoglossError
from ..items import Candidate, Item, Items, Problem
from ..models.journal import open_journal
from ..models.load import open_model
from ..models.model import Loading, Model
from ..runs import open_run, read_run
from ..storage import as_path
from ..studies import cells
from ..studies.run_files import run_info
from ..studies.scoring_plan import PlannedCell, plan_scoring


def pack_cells(cells: Sequence[PlannedCell]) -> str:
    """Cells as plain text; folders on this machine by their whole path."""

    def whole(name: str) -> str:
        return str(Path(name).resolve()) if Path(name).exists() else name

    packed = [asdict(replace(cell, checkpoint=whole(cell.checkpoint))) for cell in cells]
    return json.dumps(packed, ensure_ascii=False)


def unpack_cells(text: str) -> list[PlannedCell]:
    """What `pack_cells` wrote."""
    planned = []
    for cell in json.loads(text):
        problems = tuple(Problem(**problem) for problem in cell["items"]["problems"])
        items = Items(tuple(map(_item, cell["items"]["rows"])), problems)
        loading = Loading(**{**cell["loading"], "prices": tuple(cell["loading"]["prices"])})
        planned.append(PlannedCell(**{**cell, "items": items, "loading": loading}))
    return planned


def _item(row: Mapping[str, Any]) -> Item:
    tags = {name: tuple(value) if isinstance(value, list) else value for name, value in row["tags"].items()}
    return Item(**{**row, "tags": tags, "candidates": tuple(Candidate(**candidate) for candidate in row["candidates"])})


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
        self.groups: list[list[cells.Cell]] = []
        self.token_budget: int | None = None
        self.failed: list[Failure] = []

    def trace(self, path: str) -> None:
        """Write the name of a signal that ends this process into a file."""
        self.trace_file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115 (open while the process lives)
        faulthandler.enable(self.trace_file, all_threads=False)

    def open(self, packed: str) -> dict[str, Any]:
        """Open the cells' model and plan what it is asked."""
        self.model = None  # two models at once may not fit
        self.failed = []
        try:
            planned = unpack_cells(packed)
            loading = planned[0].loading
            self.token_budget = loading.token_budget
            model = self.model = open_model(planned[0].checkpoint, loading)
            scoring = plan_scoring(planned, model, running=cells.Running(failures=self.failed))
            self.groups = [[scoring[index] for index in indices] for indices in cells.group_cells(scoring, model)]
        except IsoglossError as error:
            return {"error": str(error)}
        return {}

    def prepare(self, out: str) -> dict[str, Any]:
        """Make the runs that are not there yet; each group of cells with its title, items and runs, and what cannot be."""
        model, folder = self._opened(), as_path(out)
        groups: list[dict[str, Any]] = []
        try:
            for group in self.groups:
                runs = [open_run(folder, info=run_info(cell, model), items=cell.table) for cell in group]
                title, items = cells.group_title(group, model), sum(len(cell.items) for cell in group)
                groups.append({"title": title, "items": items, "folders": [str(run.folder) for run in runs]})
            return {"groups": groups, "failed": [asdict(failure) for failure in self.failed]}
        except IsoglossError as error:
            return {"error": str(error)}

    def score(self, group: int, work: tuple[int, tuple[int, ...]], *, folders: Sequence[str]) -> dict[str, Any]:
        """Score one work of a group and write its parts; dear answers are journalled, each part in a file of its own."""
        unit = cells.WorkUnit(*work)
        try:
            runs, model = [read_run(as_path(folder)) for folder in folders], self._opened()
            path = cells.journal_path(runs, self.groups[group], model=model)
            journal = open_journal(path.with_name(f"{unit.number:05d}-{path.name}") if path else None)
            scoring = cells.Scoring(model, self.token_budget, journal=journal)
            cells.write_work(unit, runs, tables=cells.score_work(unit, self.groups[group], scoring=scoring))
        except IsoglossError as error:
            return {"error": str(error)}
        return {}

    def _opened(self) -> Model:
        if self.model is None:
            raise IsoglossError("A worker was asked before its model was open.")
        return self.model
