"""`isogloss run`: a study in one file; models, data, languages and methods go in, scores and measures come out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from ..errors import IsoglossError
from . import options

if TYPE_CHECKING:
    from ..storage import StoragePath
    from ..studies.plan import StudyPlan
    from ..studies.run import StudyResult


def run(
    study: str = typer.Argument(None, help="The study file (YAML).", show_default=False),
    out: str = typer.Option(
        None, "--out", "-o", metavar="FOLDER", help="The study's folder; by default runs/NAME. Finished cells are kept."
    ),
    only: list[str] = typer.Option(
        [],
        "--only",
        metavar="PATTERN",
        help="Only cells that match MODEL/DATA/LANGUAGE, as in 'BERT/*/de'. May be repeated.",
    ),
    limit: int = options.Limit,
    seed: int = typer.Option(None, "--seed", help="Random seed, instead of the study's."),
    device: str = typer.Option(None, "--device", help="cpu, cuda, cuda:1 or mps, instead of the study's."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would be scored and how long it would take."),
    no_trial: bool = typer.Option(False, "--no-trial", help="With --dry-run: do not measure the models' speed."),
    on: str = options.On,
    schema: bool = typer.Option(False, "--schema", help="Print the JSON schema of study files, for editors."),
    form: options.TextOrJson = options.Format,
) -> None:
    """Run a study: score all its cells, continue past failed ones, and measure. Run it again to resume."""
    from ..storage import as_path
    from ..studies import file, run
    from ..studies.plan import Subset, plan_study
    from .progress import progress_bars

    if schema:
        options.print_json(file.schema())
        return
    if not study:
        raise IsoglossError("Which study? Give its file: isogloss run study.yaml")
    cluster = options.find_cluster(on)
    plan = plan_study(study, subset=Subset(tuple(only), limit, seed, device))
    folder = as_path(out or f"runs/{plan.study.name}")
    if dry_run:
        _forecast(plan, folder, trial=not no_trial, form=form)
        return
    try:
        with progress_bars() as progress:
            outcome = run.run_study(plan, out=folder, progress=progress, cluster=cluster)
    except KeyboardInterrupt:
        typer.echo(f"Stopped. What is finished is in {folder}; run the same command again to resume.", err=True)
        raise typer.Exit(130) from None
    _print_result(run.finish_study(plan, outcome, out=folder), folder, form=form)


def _forecast(plan: StudyPlan, folder: StoragePath, *, trial: bool, form: str) -> None:
    from ..studies import run
    from ..studies.dry_run import forecasts_as_json, forecasts_as_text
    from ..studies.run import forecast_study

    rows, failures = forecast_study(plan, out=folder, trial=trial)
    if form == "json":
        found: dict[str, Any] = {"cells": forecasts_as_json(rows), "failed": run.failures_as_json(failures)}
        options.print_json(found)
    elif rows:
        typer.echo(forecasts_as_text(rows))
    if failures:
        _print_failures(run.failures_as_text(failures), count=len(failures), past=False)
        raise typer.Exit(1)


def _print_result(done: StudyResult, folder: StoragePath, *, form: str) -> None:
    from ..reports.text.measures import measures_as_text
    from ..reports.text.sentences import measures_as_json
    from ..studies.run import failures_as_json, failures_as_text

    if form == "json":
        found = measures_as_json(done.measures) if done.measures else {"measures": [], "problems": {}, "notes": []}
        typer.echo(json.dumps({**found, "failed": failures_as_json(done.failures)}, ensure_ascii=False, indent=1))
    elif done.measures:
        typer.echo(measures_as_text(done.measures))
        typer.echo(f"\nThe scores and measures are in {folder}; see them with: isogloss show {folder}", err=True)
    for trouble in done.troubles:
        typer.echo(trouble, err=True)
    if done.failures:
        _print_failures(failures_as_text(done.failures), count=len(done.failures), past=True)
    if done.failures or done.troubles:
        raise typer.Exit(1)


def _print_failures(text: str, *, count: int, past: bool) -> None:
    cells = "1 cell" if count == 1 else f"{count} cells"
    typer.echo(f"\n{cells} {'could not be scored' if past else 'will fail'}:\n{text}", err=True)
