"""`isogloss eval`, `run` and `probe`: models on data, in languages, by a method; a study in one file; a template's terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import IsoglossError
from . import options
from .messages import say

if TYPE_CHECKING:
    from ..analysis.study import Failure, Study
    from ..items import Items
    from ..storage import StoragePath
    from ..studies.plan import StudyPlan, Subset
    from ..studies.run import Cluster

Out = typer.Option(
    "runs/eval", "--out", "-o", metavar="FOLDER", help="The study's folder; an interrupted evaluation resumes."
)
Models = typer.Argument(help="Pulled models, folders, GGUF files, hub names (name@revision), or addresses of servers.")


def evaluate(
    models: list[str] = Models,
    data: list[str] = options.Data,
    languages: list[str] = options.Languages,
    where: list[str] = options.Where,
    method: str = typer.Option("auto", "--method", "-m", help="The scoring method; auto chooses by family and task."),
    option: list[str] = options.Options,
    out: str = Out,
    by: str = options.By,
    mode: str = options.Mode,
    metrics: str = options.Metrics,
    limit: int = options.Limit,
    seed: int = options.Seed,
    served_model: list[str] = options.ServedModel,
    key_env: str = options.KeyEnv,
    concurrency: int = options.Concurrency,
    timeout: float = options.Timeout,
    tries: int = options.Tries,
    tokenizer: str = options.Tokenizer,
    repeat: int = options.Repeat,
    max_requests: int = options.MaxRequests,
    max_cost: float = options.MaxCost,
    prices: str = options.Prices,
    controls: bool = typer.Option(False, "--controls", help="Also score neutral and shuffled control items."),
    device: str = options.Device,
    device_map: str = options.DeviceMap,
    dtype: str = options.Dtype,
    token_budget: int = options.TokenBudget,
    part_size: int = options.PartSize,
    offline: bool = options.Offline,
    allow_pickle: bool = options.AllowPickle,
    backend: str = options.Backend,
    address: str = options.Address,
    workers: int = options.Workers,
    threads: int = options.Threads,
    wait: float = options.Wait,
    skip_bad: bool = options.SkipBad,
    until: str = options.Until,
    order: options.OrderUnit = options.Order,
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
    explain: bool = options.Explain,
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Score data with models, store the scores, and print the measures."""
    options.announce("reading the data")
    loading = options.read_loading(locals())
    from ..analysis.intervals import IntervalSettings
    from ..files.sources import read
    from ..studies.plan import plan_evaluation

    cluster = options.find_cluster(backend, address=address, workers=workers, threads=threads, wait=wait)
    named = options.split_columns(columns, encoding=encoding, reader=reader)
    items = read(data, language=languages, where=where, skip_bad=skip_bad, columns=named, limit=limit, seed=seed)
    plan = plan_evaluation(
        models,
        *(_with_controls(items, seed=seed) if controls else [items]),
        method=method,
        options=options.split_pairs(option),
        loading=options.at_server(models, served_model, loading=loading),
        measuring=options.measuring(metrics=metrics, by=by, mode=mode, settings=IntervalSettings(seed=seed)),
    )
    result = _run_evaluation(plan, out, cluster=cluster, until=until)
    hint = f"The scores and measures are in {out}; look at one item with: isogloss show {out} {items[0].id}"
    print_study(result, hint, output_format=output_format, headlines_only=not metrics, explain=explain)


def _with_controls(items: Items, *, seed: int) -> list[Items]:
    """The items, and their neutral and shuffled controls."""
    from ..analysis.control_items import make_control_items

    return [items, make_control_items(items, seed=seed)]


def _run_evaluation(plan: StudyPlan, out: str, *, cluster: Cluster | None, until: str | None) -> Study:
    """What the plan of one command gives, measured; with a stopping rule, as much of it as the answer needs."""
    from ..progress import progress_bars
    from ..storage import as_path
    from ..studies.run import execute

    folder = as_path(out)
    options.announce_needs(plan, folder)
    with progress_bars() as progress:
        return execute(replace(plan, until=until), out=folder, cluster=cluster, progress=progress)


def robustness(
    models: list[str] = Models,
    data: list[str] = options.Data,
    languages: list[str] = options.Languages,
    where: list[str] = options.Where,
    limit: int = options.Limit,
    seed: int = options.Seed,
    device: str = options.Device,
    offline: bool = options.Offline,
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Score with all methods, number formats and batch sizes, and show whether the conclusion is the same."""
    options.announce("reading the data")
    from ..files.sources import read
    from ..models.model import Loading
    from ..progress import progress_bars
    from ..results import Results
    from ..studies.robustness import check_robustness

    items = read(data, language=languages, where=where, limit=limit, seed=seed)
    loading = Loading(device=device, offline=offline)
    with progress_bars() as progress:
        reports = [check_robustness(items, model=model, loading=loading, progress=progress) for model in models]
    options.show_result(Results(tuple(chain.from_iterable(reports))), output_format)


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
    until: str = options.Until,
    device: str = typer.Option(None, "--device", help="auto, cpu, cuda, cuda:1 or mps, instead of the study's."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would be scored and how long it would take."),
    download_only: bool = typer.Option(
        False, "--download-only", help="Fetch all models and data, list them in downloads.json, and score nothing."
    ),
    no_trial: bool = typer.Option(False, "--no-trial", help="With --dry-run: do not measure the models' speed."),
    offline: bool = options.Offline,
    backend: str = options.Backend,
    address: str = options.Address,
    workers: int = options.Workers,
    threads: int = options.Threads,
    wait: float = options.Wait,
    shard: str = typer.Option(
        None,
        "--shard",
        metavar="K/N",
        help="Score the K-th of N shards, as one of several processes; automatic in a Slurm array job.",
    ),
    schema: bool = typer.Option(False, "--schema", help="Print the JSON schema of study files, for editors."),
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Run a study: score all its cells, continue past failed ones, and measure; run it again to resume."""
    options.announce("reading the study")
    from ..files.hub import prefer_cache
    from ..storage import as_path
    from ..studies import file
    from ..studies.plan import Subset, plan_study
    from ..studies.training import train_heads

    if schema:
        options.print_json(file.schema())
        return
    if not study:
        raise IsoglossError("Which study? Give its file: isogloss run study.yaml")
    cluster = options.find_cluster(backend, address=address, workers=workers, threads=threads, wait=wait)
    subset = Subset(tuple(only), limit, seed, device, offline)
    if download_only:
        _download(Path(study), out, subset=subset)
        return
    if not dry_run:
        train_heads(study)
    with prefer_cache(dry_run):
        plan = plan_study(study, subset=subset)
        plan = replace(plan, until=until or plan.until)
        folder = as_path(out or f"runs/{plan.study.name}" if plan.study else "runs")
        if dry_run:
            _forecast(plan, folder, trial=not no_trial, output_format=output_format)
            return
    result = _run_study(plan, folder, cluster=cluster, shard=shard)
    if result is not None:
        print_study(
            result,
            _where_results_are(folder, plan),
            output_format=output_format,
        )


def _where_results_are(folder: StoragePath, plan: StudyPlan) -> str:
    report = f", the report in {folder / plan.study.report}" if plan.study and plan.study.report else ""
    return f"The scores and measures are in {folder}{report}; list the runs with: isogloss show {folder}"


def _run_study(plan: StudyPlan, folder: StoragePath, *, cluster: Cluster | None, shard: str | None) -> Study | None:
    """What a study gives, measured; nothing while other shards have parts to score."""
    from ..progress import progress_bars
    from ..studies.run import execute
    from ..studies.shards import read_shard, run_shard

    share, missing = read_shard(shard) if cluster is None else None, 0
    with progress_bars() as progress:
        if share is None:
            result = execute(plan, out=folder, progress=progress, cluster=cluster)
        else:
            result, missing = run_shard(plan, share, out=folder, progress=progress)
    if not missing:
        return result
    _exit_with(result.failures, "could not be scored")
    typer.echo(f"Shard {share} is done; {missing} parts of {folder} are missing. The last shard measures.")
    return None


def _download(study: Path, out: str | None, *, subset: Subset) -> None:
    from ..storage import as_path
    from ..studies.downloads import download_study
    from ..studies.file import read_study

    manifest, failures = download_study(study, out=as_path(out or f"runs/{read_study(study).name}"), subset=subset)
    typer.echo(
        f"The models and data of the study are here; {manifest} lists them. Next: isogloss run {study} --offline"
    )
    _exit_with(failures, "will fail")


def _forecast(plan: StudyPlan, folder: StoragePath, *, trial: bool, output_format: str) -> None:
    from ..studies.dry_run import (
        forecast_measures,
        forecast_memory,
        forecast_plan,
        forecast_servers,
        forecasts_as_text,
    )

    rows, failures = forecast_plan(plan, out=folder, trial=trial)
    as_json = {"cells": list(map(asdict, rows)), "failures": list(map(asdict, failures))}
    if rows or output_format != "text":
        options.show(output_format, text=lambda: forecasts_as_text(rows), json=lambda: as_json)
    for line in (*forecast_memory(plan), *forecast_servers(plan), *forecast_measures(plan)):
        say(line)
    options.announce_needs(plan, folder)
    _exit_with(failures, "will fail")


def print_study(
    study: Study, hint: str, *, output_format: str, headlines_only: bool = False, explain: bool = False
) -> None:
    """Print the measures and the failed cells, and exit with status 1 when something failed.

    With `headlines_only`, the table leaves out what is no headline, where one leads; the files have all metrics.
    """
    from ..analysis.headlines import shown_metrics
    from ..analysis.measures import keep_metrics
    from ..items import group_by
    from ..reports.text.measures import grid, measures_as_text
    from ..reports.text.sentences import explain_measures, study_as_json

    if output_format == "json":
        options.print_json((study_as_json(study) if study.measures else {}) | study.to_dict())
    elif study.measures:
        measures = study.measures
        if headlines_only:
            names = group_by(measures, lambda row: row.group["dataset"]).values()
            kept = [name for rows in names for name in shown_metrics(dict.fromkeys(row.metric for row in rows))]
            measures = keep_metrics(measures, kept)
        text = measures_as_text(measures) + ("\n\n" + explain_measures(measures) if explain else "")
        options.show_table(output_format, measures, grid=grid, text=lambda: text)
        if study.claims and output_format == "text":
            typer.echo(f"\n{study.claims}")
        say(f"\n{hint}")
    for problem in study.problems:
        say(problem)
    _exit_with(study.failures, "could not be scored")
    if study.problems:
        raise typer.Exit(1)


def _exit_with(failures: Sequence[Failure], what: str) -> None:
    """Print the failed cells, if there are any, and exit with status 1."""
    from ..analysis.study import state_failures

    if failures:
        say(f"\n{state_failures(failures, what)}")
        raise typer.Exit(1)


def probe(
    model: str = options.Model,
    template: str = typer.Argument(help='A template, such as "The {gender} is a \\[nurse|doctor]."'),
    language: str = typer.Option("en", "--language", "-l", help="The language of the template, by tag or name."),
    terms: str = typer.Option(
        None, "--terms", help="The slot whose terms are compared; by default the one in brackets, else the first."
    ),
    folder: Path = options.Folder,
    top: int = typer.Option(20, "--top", min=1, help="Show at most N terms."),
    limit: int = typer.Option(2000, "--limit", min=1, help="Stop if the template has more than N sentences."),
    device: str = options.Device,
    offline: bool = options.Offline,
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Show which terms a model finds most probable in a template, as shares."""
    from ..library import probe as run_probe
    from ..models.model import Loading
    from ..studies.probe import probe_as_text

    loading = Loading(device=device, offline=offline)
    result = run_probe(model, template, language=language, terms=terms, folder=folder, limit=limit, loading=loading)
    options.show(output_format, text=lambda: probe_as_text(result, top=top), json=result.to_dict)
