"""Running a plan: each model is opened once, cells that fail are named while the rest goes on, and measures are written."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import results
from ..analysis.measures import Measures, measure
from ..errors import IsoglossError
from ..files.layout import write_atomically
from ..items import group_by
from ..models import load
from ..progress import Progress, silent
from ..run_plans import record_cells
from ..runs import Run, read_run, run_folders
from ..scores import Scored, join_scored
from ..storage import RemotePath, StoragePath
from .cells import CellResult, Failure, Running, nothing_done, run_cells
from .costs import announce_plan
from .method_choice import PlannedCell, plan_scoring
from .plan import StudyPlan
from .run_files import LIBRARIES
from .stopping import stop_cells

if TYPE_CHECKING:
    import polars as pl

    from ..analysis.claims import GateResult
    from .connection import Cluster


@dataclass(frozen=True, slots=True, repr=False)
class StudyResult:
    """What a study gave: scores and their runs, the cells that failed, and, once measured, the measures and verdicts.

    `problems` are sentences about what went wrong after scoring; in `to_dict` and `to_json` they are among the notes.
    """

    scored: Scored | None
    runs: tuple[Run, ...] = ()
    failures: tuple[Failure, ...] = ()
    measures: Measures | None = None
    claims: GateResult | None = None
    problems: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known about the models and the data."""
        noted = self.measures if self.measures is not None else self.scored
        return noted.notes if noted is not None else ()

    def __repr__(self) -> str:
        counts = {"measure": self.measures or (), "run": self.runs, "failure": self.failures, "problem": self.problems}
        shown = [f"{len(rows)} {name}{'' if len(rows) == 1 else 's'}" for name, rows in counts.items() if rows]
        return f"StudyResult({', '.join(shown) or '0 measures'})"

    def __str__(self) -> str:
        unmeasured = ["Nothing was measured.", *(f"· {note}" for note in self.notes)]
        measured = [str(self.measures)] if self.measures is not None else unmeasured
        return "\n".join([*measured, *self._remarks()])

    def _repr_html_(self) -> str:
        if self.measures is None:
            return results.as_preformatted(str(self))
        remarks = self._remarks()
        return self.measures._repr_html_() + (results.as_preformatted("\n".join(remarks)) if remarks else "")

    def _remarks(self) -> list[str]:
        """The verdicts on the claims, the cells that failed, and the problems, as text."""
        claims = [f"\n{self.claims}"] if self.claims is not None else []
        return [*claims, *([f"\n{state_failures(self.failures)}"] if self.failures else []), *self.problems]

    def to_polars(self) -> pl.DataFrame:
        """The measures, one row each; no row where nothing was measured."""
        return (self.measures if self.measures is not None else Measures(())).to_polars()

    def to_dict(self) -> dict[str, Any]:
        """The measures, what was odd in the data, the notes, the verdicts if there are claims, and the failed cells."""
        measured = {"measures": [], "problems": {}} if self.measures is None else self.measures.to_dict()
        claims = {"claims": self.claims.to_dict()} if self.claims is not None else {}
        return {
            **measured,
            "notes": [*self.notes, *self.problems],
            **claims,
            "failures": list(map(asdict, self.failures)),
        }

    to_pandas = results.pandas_of
    to_json = results.json_of


def run_plan(
    plan: StudyPlan,
    *,
    out: StoragePath | None = None,
    cluster: Cluster | None = None,
    progress: Progress = silent,
    strict: bool = False,
) -> StudyResult:
    """The scores of all cells, kept in `out`, here or on a cluster; cells that fail are named, and the others go on.

    Families that need no machine of their own, such as servers, are always asked from here. With `strict` the first error
    ends the run.
    """
    stop = stop_cells(plan.until, measuring=plan.measuring) if plan.until else None
    running = Running(out, None, progress, None if strict else list(plan.failures), stop)
    groups = plan.by_checkpoint()
    record_cells(out, plan.names())
    announce_plan(plan, running)
    results: list[CellResult] = []
    if cluster is not None:
        from .ray import run_on_ray

        there = [cells for cells in groups if load.find_source(cells[0].checkpoint, cells[0].loading).family is None]
        groups = [cells for cells in groups if cells not in there]
        results += run_on_ray(there, running=running, cluster=cluster) if there else []
    for cells in groups:
        results += _run_checkpoint(cells, plan, running=running)
    scored = join_scored([result.scored for result in results]) if results else None
    runs = tuple(result.run for result in results if result.run)
    return StudyResult(scored, runs, tuple(running.failures or ()))


def _run_checkpoint(cells: Sequence[PlannedCell], plan: StudyPlan, *, running: Running) -> list[CellResult]:
    """The results of one checkpoint's cells in this process; those of one language are scored together."""
    name, loading = cells[0].checkpoint, cells[0].loading
    try:
        model = plan.opened.get(name)
        if model is None:
            if not loading.served_model:  # a server is reached at once
                running.progress(f"loading {cells[0].labels.get('checkpoint', name)}", 0.0)
            model = load.open_model(name, loading)
    except Exception as error:
        running.fail([failure for cell in cells for failure in cell.failures(error)], error)
        return []
    running = replace(running, token_budget=loading.token_budget)
    planned = plan_scoring(cells, model, running=running)
    names = [cell.labels.get("model", model.info.name) for cell in planned]
    record_cells(
        running.out,
        [(name, cell.dataset, cell.language, cell.label) for name, cell in zip(names, planned, strict=True)],
    )
    return run_cells(planned, model, running=running)


def require_scores(result: StudyResult) -> StudyResult:
    """The result, when anything was scored; else an error that says why not."""
    if result.scored is None:
        raise nothing_done(result.failures)
    return result


def state_failures(failures: Sequence[Failure], what: str = "could not be scored") -> str:
    """How many cells failed, and below it which and why."""
    cells = "1 cell" if len(failures) == 1 else f"{len(failures)} cells"
    return f"{cells} {what}:\n{failures_as_text(failures)}"


def failures_as_text(failures: Iterable[Failure]) -> str:
    """What failed, one line for each reason of each model."""
    groups = group_by(failures, lambda failure: (failure.model, failure.why))
    lines = []
    for (model, why), group in groups.items():
        cells = [" ".join(filter(None, (failure.data, failure.language, failure.method))) for failure in group]
        shown = ", ".join(dict.fromkeys(cells[:3])) + (f" and {len(cells) - 3} more" if len(cells) > 3 else "")
        lines.append(": ".join(filter(None, (" ".join(filter(None, (model, shown))), why))))
    return "\n".join(lines)


# ---- what is written


def finish_plan(plan: StudyPlan, result: StudyResult, *, out: StoragePath) -> StudyResult:
    """The result with its measures, written to `measures.csv` and `measures.json` beside a copy of the study, its claims and its report.

    Of a part of a study nothing but the copy is written, so that the table of the whole is not lost; into a folder
    that can only be read, nothing at all.
    """
    from ..reports.text.measures import grid
    from ..reports.text.sentences import measures_as_json
    from ..reports.text.table import as_csv

    sealed = not isinstance(out, RemotePath) and out.exists() and not os.access(out, os.W_OK)
    problems: list[str] = []
    try:
        if plan.path and not sealed:
            record_study(plan.path, out=out)
    except IsoglossError as error:  # why cells failed is said all the same
        problems.append(str(error))
    scored = result.scored
    if scored is None:
        return replace(result, problems=tuple(problems))
    try:
        measures = measure(scored, **plan.measuring)
    except IsoglossError as error:
        if plan.study is None:
            raise
        return replace(result, problems=(*problems, f"The scores could not be measured: {error}"))
    if sealed and plan.study:
        measures = replace(measures, notes=(*measures.notes, f"{out} can only be read, so nothing was written into it"))
    if not (plan.partial or sealed or problems):
        write_atomically(out / "measures.csv", as_csv(measures, grid(measures)))
        text = json.dumps(measures_as_json(measures, scored), ensure_ascii=False, indent=1)
        write_atomically(out / "measures.json", text + "\n")
        if plan.study and plan.path:
            from .outputs import write_outputs

            claims, failed = write_outputs(plan.study, scored, out=out, base=plan.path.parent)
            result, problems = replace(result, claims=claims), problems + failed
    return replace(result, measures=measures, problems=tuple(problems))


def record_study(path: Path, *, out: StoragePath) -> None:
    """Copy the study file into the folder, under comments that say by which versions and checkpoints it was run."""
    versions = {name: version(name) for name in LIBRARIES}
    checkpoints = {}
    for run in map(read_run, run_folders(out)) if out.exists() else []:
        facts = run.info.get("facts", {})
        versions |= run.info.get("versions", {})
        name = facts.get("checkpoint", run.info["model"])
        weights = str(run.info["fingerprint"].get("weights", ""))[:12]
        commit = facts.get("commit") or facts.get("revision") or "none"
        checkpoints[name] = f"Checkpoint {name}: commit {commit}, weights {weights}."
    lines = [
        f"Run on {time.strftime('%Y-%m-%d', time.gmtime())} by {', '.join(f'{name} {number}' for name, number in sorted(versions.items()))}.",
        f"Relative paths in it start at {path.parent.resolve()}.",
        *(checkpoints[name] for name in sorted(checkpoints)),
    ]
    text = path.read_text(encoding="utf-8")
    write_atomically(out / "study.yaml", "".join(f"# {line}\n" for line in lines) + text)
