"""Outcomes: a study is run, here or on a cluster; what fails is named, the rest goes on, and what is found is written."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from .. import store
from ..analysis.measures import Measures, measure
from ..errors import IsoglossError, in_one_line
from ..files.layout import write_whole
from ..places import Place, Remote
from ..scores import Scored, join_scored
from .cells import LIBRARIES, Progress, silent
from .forecasts import Forecast, forecast_job
from .jobs import Failed, Failure, Job, Request, Watch, failure_of, run_job
from .plans import Plan

if TYPE_CHECKING:
    from .cluster import Cluster


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a study gave: its scores, if there are any, and what failed."""

    scored: Scored | None
    failures: tuple[Failure, ...] = ()


def run_study(plan: Plan, *, out: Place, progress: Progress = silent, cluster: Cluster | None = None) -> Outcome:
    """The study's scores, kept in `out`; cells that fail are named, and the others are scored all the same."""
    if cluster is not None and plan.jobs:
        return _run_on_cluster(plan, out=out, progress=progress, cluster=cluster)
    failures = list(plan.failures)
    watch = Watch(progress, _writer(failures))
    found = [scored for job in plan.jobs for scored in run_job(job, out=out, watch=watch)]
    return Outcome(join_scored(found) if found else None, tuple(failures))


def forecast_study(plan: Plan, *, out: Place, trial: bool = True) -> tuple[list[Forecast], list[Failure]]:
    """What each cell of the study has left to ask, and which cells will fail; nothing is written."""
    failures = list(plan.failures)
    watch = Watch(failed=_writer(failures))
    return [row for job in plan.jobs for row in forecast_job(job, out=out, watch=watch, trial=trial)], failures


def _writer(failures: list[Failure]) -> Failed:
    """Writes every failure into the list."""

    def write(requests: Sequence[Request], error: Exception) -> None:
        failures.extend(failure_of(request, error) for request in requests)

    return write


def run_jobs(jobs: Sequence[Job], *, out: Place, cluster: Cluster | None, progress: Progress = silent) -> Scored:
    """The jobs' scores, here or on a cluster; a job that fails is an error."""
    if cluster is None:
        return join_scored([scored for job in jobs for scored in run_job(job, out=out, watch=Watch(progress))])
    from .cluster import run_on_ray

    done = run_on_ray(jobs, out=out, cluster=cluster, progress=progress)
    if done.failed:
        raise IsoglossError(" ".join(dict.fromkeys(cell.why for cell in done.failed)))
    return store.read_scored(list(done.runs))


def _run_on_cluster(plan: Plan, *, out: Place, progress: Progress, cluster: Cluster) -> Outcome:
    from .cluster import run_on_ray

    done = run_on_ray(plan.jobs, out=out, cluster=cluster, progress=progress)
    runs = [run for run in done.runs if store.written_parts(run)]
    return Outcome(store.read_scored(runs) if runs else None, (*plan.failures, *done.failed))


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
class Finished:
    """What a study ends with: its measures, if there are any, and a sentence for everything that went wrong."""

    measures: Measures | None
    failures: tuple[Failure, ...] = ()
    troubles: tuple[str, ...] = ()


def finish_study(plan: Plan, outcome: Outcome, *, out: Place) -> Finished:
    """The study's measures, written to `measures.csv` and `measures.json` beside a copy of the study and its report.

    Of a part of the study nothing but the copy is written, so that the table of the whole is not lost; into a folder
    that can only be read, nothing at all.
    """
    from ..report.sentences import measures_as_json
    from ..report.tables import measures_as_csv

    sealed = not isinstance(out, Remote) and out.exists() and not os.access(out, os.W_OK)
    troubles: list[str] = []
    try:
        if not sealed:
            record_study(plan, out=out)
    except IsoglossError as error:  # why cells failed is said all the same
        troubles.append(str(error))
    if outcome.scored is None:
        return Finished(None, outcome.failures, tuple(troubles))
    wanted = plan.study.measures.model_dump()
    try:
        found = measure(outcome.scored, **wanted)
    except IsoglossError as error:
        return Finished(None, outcome.failures, (*troubles, f"The scores could not be measured: {error}"))
    if sealed:
        found = replace(found, notes=(*found.notes, f"{out} can only be read, so nothing was written into it"))
    if plan.partial or sealed or troubles:
        return Finished(found, outcome.failures, tuple(troubles))
    _put(out, "measures.csv", text=measures_as_csv(found))
    _put(out, "measures.json", text=json.dumps(measures_as_json(found), ensure_ascii=False, indent=1) + "\n")
    if plan.study.report:
        try:
            _write_report(outcome.scored, plan.study.report, out=out)
        except Exception as error:  # whatever happens here, the scores are done
            troubles.append(f"The report could not be written: {in_one_line(error)}")
    return Finished(found, outcome.failures, tuple(troubles))


def _write_report(scored: Scored, name: str, *, out: Place) -> None:
    from ..report.page import write_report  # from the runs, with texts and facts, unless others lie among them

    if isinstance(out, Remote):
        raise IsoglossError(f"{out} is not on this machine. Make it with: isogloss report {out} --out {name}")
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = len(store.find_runs(out)) == scored.table.select("model", "dataset", "language", "method").n_unique()
    write_report([str(out)] if whole else scored, path)


def record_study(plan: Plan, *, out: Place) -> None:
    """Copy the study file into the folder, under comments that say by which versions and checkpoints it was run."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    lines = [
        f"Run on {time.strftime('%Y-%m-%d', time.gmtime())} by {versions}.",
        f"Relative paths in it start at {plan.path.parent.resolve()}.",
        *_checkpoints(out),
    ]
    text = plan.path.read_text(encoding="utf-8")
    _put(out, "study.yaml", text="".join(f"# {line}\n" for line in lines) + text)


def _checkpoints(out: Place) -> list[str]:
    """Which weights the runs in a folder were made with."""
    found = {}
    for run in map(store.read_run, store.run_folders(out)) if out.exists() else []:
        facts = run.info.get("facts", {})
        name = facts.get("checkpoint", run.info["model"])
        weights = str(run.info["fingerprint"].get("weights", ""))[:12]
        commit = facts.get("commit") or facts.get("revision") or "none"
        found[name] = f"Checkpoint {name}: commit {commit}, weights {weights}."
    return [found[name] for name in sorted(found)]


def _put(out: Place, name: str, *, text: str) -> None:
    if isinstance(out, Remote):
        (out / name).write_bytes(text.encode())
    else:
        write_whole(out / name, text)
