"""Outcomes: a study is run, here or on a cluster; what fails is named, the rest goes on, and what is found is written."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from ..analysis.measures import Measures, measure
from ..errors import IsoglossError, short_message
from ..files.layout import write_atomically
from ..runs import find_runs, read_run, read_scored, run_folders, written_parts
from ..scores import Scored, join_scored
from ..storage import RemotePath, StoragePath
from .cells import LIBRARIES, Progress, silent
from .dry_run import Forecast, forecast_job
from .jobs import Callbacks, Failed, Failure, ModelJob, ScoringRequest, failure_of, run_job
from .plan import StudyPlan

if TYPE_CHECKING:
    from .ray import Cluster


@dataclass(frozen=True, slots=True)
class StudyScores:
    """What a study gave: its scores, if there are any, and what failed."""

    scored: Scored | None
    failures: tuple[Failure, ...] = ()


def run_study(
    plan: StudyPlan, *, out: StoragePath, progress: Progress = silent, cluster: Cluster | None = None
) -> StudyScores:
    """The study's scores, kept in `out`; cells that fail are named, and the others are scored all the same."""
    if cluster is not None and plan.jobs:
        return _run_on_cluster(plan, out=out, progress=progress, cluster=cluster)
    failures = list(plan.failures)
    callbacks = Callbacks(progress, _writer(failures))
    found = [scored for job in plan.jobs for scored in run_job(job, out=out, callbacks=callbacks)]
    return StudyScores(join_scored(found) if found else None, tuple(failures))


def forecast_study(plan: StudyPlan, *, out: StoragePath, trial: bool = True) -> tuple[list[Forecast], list[Failure]]:
    """What each cell of the study has left to ask, and which cells will fail; nothing is written."""
    failures = list(plan.failures)
    callbacks = Callbacks(failed=_writer(failures))
    return [row for job in plan.jobs for row in forecast_job(job, out=out, callbacks=callbacks, trial=trial)], failures


def _writer(failures: list[Failure]) -> Failed:
    """Writes every failure into the list."""

    def write(requests: Sequence[ScoringRequest], error: Exception) -> None:
        failures.extend(failure_of(request, error) for request in requests)

    return write


def run_jobs(
    jobs: Sequence[ModelJob], *, out: StoragePath, cluster: Cluster | None, progress: Progress = silent
) -> Scored:
    """The jobs' scores, here or on a cluster; a job that fails is an error."""
    if cluster is None:
        return join_scored([scored for job in jobs for scored in run_job(job, out=out, callbacks=Callbacks(progress))])
    from .ray import run_on_ray

    done = run_on_ray(jobs, out=out, cluster=cluster, progress=progress)
    if done.failed:
        raise IsoglossError(" ".join(dict.fromkeys(cell.why for cell in done.failed)))
    return read_scored(list(done.runs))


def _run_on_cluster(plan: StudyPlan, *, out: StoragePath, progress: Progress, cluster: Cluster) -> StudyScores:
    from .ray import run_on_ray

    done = run_on_ray(plan.jobs, out=out, cluster=cluster, progress=progress)
    runs = [run for run in done.runs if written_parts(run)]
    return StudyScores(read_scored(runs) if runs else None, (*plan.failures, *done.failed))


def failures_as_text(failures: Iterable[Failure]) -> str:
    """What failed, one line for each reason of each model."""
    groups: dict[tuple[str, str], list[Failure]] = {}
    for one in failures:
        groups.setdefault((one.model, one.why), []).append(one)
    lines = []
    for (model, why), group in groups.items():
        cells = [" ".join(filter(None, (one.data, one.language, one.method))) for one in group]
        shown = ", ".join(dict.fromkeys(cells[:3])) + (f" and {len(cells) - 3} more" if len(cells) > 3 else "")
        lines.append(": ".join(filter(None, (" ".join(filter(None, (model, shown))), why))))
    return "\n".join(lines)


def failures_as_json(failures: Iterable[Failure]) -> list[dict[str, str]]:
    """What failed, for machines."""
    return [asdict(one) for one in failures]


# ---- what is written


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What a study ends with: its measures, if there are any, and a sentence for everything that went wrong."""

    measures: Measures | None
    failures: tuple[Failure, ...] = ()
    troubles: tuple[str, ...] = ()


def finish_study(plan: StudyPlan, result: StudyScores, *, out: StoragePath) -> StudyResult:
    """The study's measures, written to `measures.csv` and `measures.json` beside a copy of the study and its report.

    Of a part of the study nothing but the copy is written, so that the table of the whole is not lost; into a folder
    that can only be read, nothing at all.
    """
    from ..reports.text.measures import measures_as_csv
    from ..reports.text.sentences import measures_as_json

    sealed = not isinstance(out, RemotePath) and out.exists() and not os.access(out, os.W_OK)
    troubles: list[str] = []
    try:
        if not sealed:
            record_study(plan, out=out)
    except IsoglossError as error:  # why cells failed is said all the same
        troubles.append(str(error))
    if result.scored is None:
        return StudyResult(None, result.failures, tuple(troubles))
    wanted = plan.study.measures.model_dump()
    try:
        found = measure(result.scored, **wanted)
    except IsoglossError as error:
        return StudyResult(None, result.failures, (*troubles, f"The scores could not be measured: {error}"))
    if sealed:
        found = replace(found, notes=(*found.notes, f"{out} can only be read, so nothing was written into it"))
    if plan.partial or sealed or troubles:
        return StudyResult(found, result.failures, tuple(troubles))
    _put(out, "measures.csv", text=measures_as_csv(found))
    _put(out, "measures.json", text=json.dumps(measures_as_json(found), ensure_ascii=False, indent=1) + "\n")
    if plan.study.report:
        try:
            _write_report(result.scored, plan.study.report, out=out)
        except Exception as error:  # whatever happens here, the scores are done
            troubles.append(f"The report could not be written: {short_message(error)}")
    return StudyResult(found, result.failures, tuple(troubles))


def _write_report(scored: Scored, name: str, *, out: StoragePath) -> None:
    from ..reports.page.document import (
        write_report,  # from the runs, with texts and facts, unless others lie among them
    )

    if isinstance(out, RemotePath):
        raise IsoglossError(f"{out} is not on this machine. Make it with: isogloss report {out} --out {name}")
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = len(find_runs(out)) == scored.table.select("model", "dataset", "language", "method").n_unique()
    write_report([str(out)] if whole else scored, path)


def record_study(plan: StudyPlan, *, out: StoragePath) -> None:
    """Copy the study file into the folder, under comments that say by which versions and checkpoints it was run."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    lines = [
        f"Run on {time.strftime('%Y-%m-%d', time.gmtime())} by {versions}.",
        f"Relative paths in it start at {plan.path.parent.resolve()}.",
        *_checkpoints(out),
    ]
    text = plan.path.read_text(encoding="utf-8")
    _put(out, "study.yaml", text="".join(f"# {line}\n" for line in lines) + text)


def _checkpoints(out: StoragePath) -> list[str]:
    """Which weights the runs in a folder were made with."""
    found = {}
    for run in map(read_run, run_folders(out)) if out.exists() else []:
        facts = run.info.get("facts", {})
        name = facts.get("checkpoint", run.info["model"])
        weights = str(run.info["fingerprint"].get("weights", ""))[:12]
        commit = facts.get("commit") or facts.get("revision") or "none"
        found[name] = f"Checkpoint {name}: commit {commit}, weights {weights}."
    return [found[name] for name in sorted(found)]


def _put(out: StoragePath, name: str, *, text: str) -> None:
    if isinstance(out, RemotePath):
        (out / name).write_bytes(text.encode())
    else:
        write_atomically(out / name, text)
