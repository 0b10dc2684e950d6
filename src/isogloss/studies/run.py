"""Executing a plan: each model is opened once, cells that fail are named while the rest goes on, and outputs are written."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from .. import registry
from ..analysis.study import Study, nothing_done
from ..errors import IsoglossError
from ..files.layout import write_atomically
from ..items import Items
from ..models import load
from ..models.model import DEFAULT_LOADING, Loading, Model
from ..progress import Progress, silent
from ..reports.text.measures import grid
from ..reports.text.sentences import study_as_json
from ..reports.text.table import as_csv
from ..run_plans import record_cells
from ..runs import Run, read_run, run_folders
from ..scores import Scored, join_scored
from ..storage import RemotePath, StoragePath
from .cells import CellResult, Running, run_cells
from .costs import announce_plan
from .plan import StudyPlan, plan_evaluation
from .run_files import LIBRARIES
from .scoring_plan import PlannedCell, plan_scoring
from .stopping import Stopping, parse_rule, stop_cells

WAIT = 300  # seconds that workers have to start


@dataclass(frozen=True, slots=True)
class Cluster:
    """A Ray cluster: its address (by default, one is started on this machine), workers, threads of each, and seconds to wait for them."""

    address: str | None = None
    threads: int = 1
    workers: int | None = None
    wait: float = WAIT


def execute(
    plan: StudyPlan,
    *,
    out: StoragePath | None = None,
    cluster: Cluster | None = None,
    progress: Progress = silent,
    strict: bool = False,
) -> Study:
    """Score all cells of a plan into `out`, here or on a cluster, and write what the plan asks for beside the runs.

    Cells that fail are named, and the others go on. With `strict` the first error ends it, and nothing but the runs is
    written. Where a command could score nothing at all, an error says why.
    """
    study = _score(plan, out=out, cluster=cluster, progress=progress, strict=strict)
    if study.scored is None and plan.study is None:
        raise nothing_done(study.failures)
    return study if strict or out is None else write_study(plan, study, out=out)


def _score(
    plan: StudyPlan, *, out: StoragePath | None, cluster: Cluster | None, progress: Progress, strict: bool
) -> Study:
    """The scores of all cells; families that need no machine of their own, such as servers, are always asked from here."""
    stop = _find_stop(plan, out=out, cluster=cluster) if plan.until else None
    running = Running(out, None, progress, None if strict else list(plan.failures), stop)
    groups = plan.by_checkpoint()
    record_cells(out, plan.names())
    announce_plan(plan, running)
    results: list[CellResult] = []
    if cluster is not None:
        there = [cells for cells in groups if _needs_machine(cells[0])]
        groups = [cells for cells in groups if cells not in there]
        results += registry.get("executor", "ray")(there, running=running, cluster=cluster) if there else []
    for cells in groups:
        results += run_checkpoint(cells, plan, running=running)
    scored = join_scored([result.scored for result in results]) if results else None
    kept = [result for result in results if result.run]
    texts = tuple(result.texts for result in kept if result.texts is not None)
    return Study(
        scored,
        tuple(result.run for result in kept if result.run),
        tuple(running.failures or ()),
        measuring=plan.measuring,
        texts=texts if len(texts) == len(kept) else (),
    )


def _find_stop(plan: StudyPlan, *, out: StoragePath | None, cluster: Cluster | None) -> Stopping:
    """What looks at the parts of each cell; a rule that cannot work is refused before a model is opened."""
    rule = str(plan.until)
    if cluster is not None:
        raise IsoglossError("`until` looks at the parts one after the other, so it cannot be used with a cluster.")
    if out is None:
        raise IsoglossError("A stopping rule looks at the parts that are written. Give a folder for them: out=FOLDER.")
    for unit in dict.fromkeys(cell.loading.order for cell in plan.cells):
        parse_rule(rule, unit=unit)
    return stop_cells(rule, mode=plan.measuring.mode)


def _needs_machine(cell: PlannedCell) -> bool:
    """Whether a cell is for the cluster: not a server's, which is asked from here; what this machine lacks, another may have."""
    try:
        return load.find_source(cell.checkpoint, cell.loading).family is None
    except IsoglossError:
        return True


def run_checkpoint(cells: Sequence[PlannedCell], plan: StudyPlan, *, running: Running) -> list[CellResult]:
    """The results of one checkpoint's cells in this process; those of one language are scored together."""
    name, loading = cells[0].checkpoint, cells[0].loading
    try:
        model = plan.opened.get(name)
        if model is None:
            _refuse_early(cells)
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


def _refuse_early(cells: Sequence[PlannedCell]) -> None:
    """Refuse a model that no cell could ask, before its weights are loaded."""
    reasons = map(_reason_to_refuse, cells)
    first = next(reasons)
    if first and all(reasons):
        raise IsoglossError(first)


def _reason_to_refuse(cell: PlannedCell) -> str | None:
    method = cell.method.replace("-", "_")
    if method not in registry.names("method") or not registry.get("method", method).alone:
        return None
    return load.refuse_unopened(cell.checkpoint, cell.loading, options=cell.options)


# ---- items and models without a study file


def score_items(
    items: Items,
    models: str | Path | Model | Sequence[str | Path | Model],
    *,
    method: str = "auto",
    options: Mapping[str, str] | None = None,
    out: StoragePath | None = None,
    until: str | None = None,
    loading: Loading = DEFAULT_LOADING,
    progress: Progress = silent,
) -> Scored:
    """The items scored by one model or several; the first that fails raises an error."""
    names, opened = _split_models(models)
    plan = StudyPlan(())
    if names:
        plan = plan_evaluation(names, items, method=method, options=options, loading=loading)
    plan = _add_opened(plan, opened, cell=PlannedCell("", items, method, options or {}, loading=loading))
    if plan.failures:
        raise nothing_done(plan.failures)
    return execute(replace(plan, until=until), out=out, progress=progress, strict=True).scores


def _split_models(models: str | Path | Model | Sequence[str | Path | Model]) -> tuple[list[str], dict[str, Model]]:
    """The names of models, each once, and the open models by their names."""
    entries = [models] if isinstance(models, str) or not isinstance(models, Sequence) else list(models)
    if not entries or not all(isinstance(entry, str | Path | Model) for entry in entries):
        raise IsoglossError("A model is a name, a folder or an open model. Give one of these, or a list of them.")
    names = list(dict.fromkeys(str(entry) for entry in entries if isinstance(entry, str | Path)))
    opened: dict[str, Model] = {}
    for entry in entries:
        if isinstance(entry, Model):
            name = entry.info.name
            if opened.setdefault(name, entry) is not entry or name in names:
                raise IsoglossError(f"Two models are called '{name}'. Score them one after another.")
    return names, opened


def _add_opened(plan: StudyPlan, opened: Mapping[str, Model], *, cell: PlannedCell) -> StudyPlan:
    """The plan with a cell like this one for each open model."""
    cells = [replace(cell, checkpoint=name) for name in opened]
    return replace(plan, cells=(*plan.cells, *cells), opened=opened)


# ---- what is written


def write_study(plan: StudyPlan, study: Study, *, out: StoragePath) -> Study:
    """Write `measures.csv` and `measures.json` beside a copy of the study file, and what that lists: claims, report, tables.

    Of a part of a study nothing but the copy is written, so that the table of the whole is not lost; into a folder
    that can only be read, nothing at all.
    """
    sealed = not isinstance(out, RemotePath) and out.exists() and not os.access(out, os.W_OK)
    try:
        if plan.path and not sealed:
            record_study(plan.path, study.runs, out=out)
    except IsoglossError as error:  # why cells failed is said all the same
        return replace(study, problems=(str(error),))
    if study.scored is None:
        return study
    try:
        measures = study.measure(study.measuring)
    except IsoglossError as error:
        if plan.study is None:
            raise
        return replace(study, problems=(f"The scores could not be measured: {error}",))
    if sealed and plan.study:
        noted = replace(
            study.scored, notes=(*study.scored.notes, f"{out} can only be read, so nothing was written into it")
        )
        return replace(study, scored=noted, memory={})
    if plan.partial or sealed:
        return study
    write_atomically(out / "measures.csv", as_csv(measures, grid(measures)))
    text = json.dumps(study_as_json(study), ensure_ascii=False, indent=1)
    write_atomically(out / "measures.json", text + "\n")
    if plan.study and plan.path:
        from .outputs import write_outputs

        return write_outputs(plan.study, study, out=out, base=plan.path.parent)
    return study


def record_study(path: Path, runs: Sequence[Run], *, out: StoragePath) -> None:
    """Copy the study file into the folder, under comments that say by which versions and checkpoints it was run.

    Runs of the folder that are not among these were there before.
    """
    versions = {name: version(name) for name in LIBRARIES}
    checkpoints = {}
    folders = {run.folder for run in runs}
    before = [read_run(folder) for folder in run_folders(out) if folder not in folders] if out.exists() else []
    for run in [*before, *runs]:
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
