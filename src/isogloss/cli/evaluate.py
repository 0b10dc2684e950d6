"""`isogloss eval`: models on data, in languages, by a method; numbers with intervals come out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from . import options

if TYPE_CHECKING:
    from ..analysis.measures import Measures
    from ..items import Items


def evaluate(
    models: list[str] = typer.Argument(
        help="Models: a pulled model, a folder, a GGUF file, or a hub name (name@revision)."
    ),
    data: list[str] = options.Data,
    languages: list[str] = options.Languages,
    where: list[str] = options.Where,
    method: str = typer.Option("auto", "--method", "-m", help="The scoring method; auto chooses by family and task."),
    option: list[str] = typer.Option(
        [], "--option", metavar="NAME=VALUE", help="An option of the method, as in case=e. May be repeated."
    ),
    out: str = typer.Option(
        "runs/eval", "--out", "-o", metavar="FOLDER", help="The study's folder; an interrupted evaluation resumes."
    ),
    by: str = options.By,
    mode: str = options.Mode,
    metrics: str = options.Metrics,
    limit: int = options.Limit,
    seed: int = options.Seed,
    controls: bool = typer.Option(False, "--controls", help="Also score neutral and shuffled control items."),
    device: str = options.Device,
    dtype: str = options.Dtype,
    token_budget: int = options.TokenBudget,
    offline: bool = options.Offline,
    allow_pickle: bool = options.AllowPickle,
    on: str = options.On,
    skip_bad: bool = options.SkipBad,
    explain: bool = typer.Option(False, "--explain", help="Explain in a sentence what the table means."),
    form: options.TextOrJson = options.Format,
) -> None:
    """Score data with models, store the scores, and print the measures."""
    from ..analysis import measures
    from ..analysis.control_items import make_control_items
    from ..files.sources import read_many
    from ..items import UNRELATED
    from ..storage import as_path
    from ..studies.jobs import Loading, Sample, ScoringRequest, plan_jobs, take_sample
    from ..studies.run import run_jobs
    from .progress import progress_bars

    cluster = options.find_cluster(on)
    items = read_many(data, language=languages, where=where, skip_bad=skip_bad)
    _check_table(items, mode=mode, metrics=options.split_names(metrics), by=options.split_names(by))
    items = take_sample(items, Sample(limit, seed))
    loading = Loading(device, dtype, token_budget, offline, allow_pickle)
    sets = [items, make_control_items(items, seed=seed)] if controls else [items]
    requests = [ScoringRequest(one, method, options.split_pairs(option)) for one in sets]
    jobs = plan_jobs(models, *requests, loading=loading)
    with progress_bars() as progress:
        scored = run_jobs(jobs, out=as_path(out), cluster=cluster, progress=progress)
    short = None if form == "json" or UNRELATED not in set(scored.table["role"]) else options.HEADLINES
    chosen = options.split_names(metrics) or short
    found = measures.measure(scored, metrics=chosen, by=options.split_names(by), mode=mode, seed=seed)
    if form == "json":
        options.print_json(found.to_dict())
    else:
        _print_result(found, f"isogloss show {out} {items[0].id}", out=out, explain=explain)


def _check_table(items: Items, *, mode: str, metrics: list[str] | None, by: list[str] | None) -> None:
    """Refuse a table that could not be made, before anything is scored."""
    from ..analysis.groups import check_by
    from ..analysis.measures import check_metrics, check_mode
    from ..scores import item_table

    check_mode(mode)
    check_metrics(metrics)
    check_by(by, [*item_table(items).columns, "model", "method", "family"])


def _print_result(measures: Measures, look: str, *, out: str, explain: bool) -> None:
    from ..reports.text.measures import measures_as_text
    from ..reports.text.sentences import explain_measures

    typer.echo(measures_as_text(measures) + ("\n\n" + explain_measures(measures) if explain else ""))
    typer.echo(f"\nThe scores are in {out}; look at one item with: {look}", err=True)
