"""`isogloss eval`: models on data, in languages, by a method; numbers with intervals come out."""

from __future__ import annotations

import typer

from . import options
from .run import print_result


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
    columns: str = options.Columns,
    explain: bool = typer.Option(False, "--explain", help="Explain in a sentence what the table means."),
    form: options.TextOrJson = options.Format,
) -> None:
    """Score data with models, store the scores, and print the measures."""
    from ..analysis.control_items import make_control_items
    from ..files.sources import read_many
    from ..models.load import Loading
    from ..progress import progress_bars
    from ..storage import as_path
    from ..studies.plan import plan_evaluation, take_sample
    from ..studies.run import finish_plan, require_scores, run_plan

    cluster, folder = options.find_cluster(on), as_path(out)
    items = read_many(data, language=languages, columns=options.split_columns(columns), where=where, skip_bad=skip_bad)
    items = take_sample(items, limit, seed=seed)
    plan = plan_evaluation(
        models,
        *([items, make_control_items(items, seed=seed)] if controls else [items]),
        method=method,
        options=options.split_pairs(option),
        loading=Loading(device, dtype, token_budget, offline, allow_pickle),
        measuring={
            "metrics": options.split_names(metrics),
            "by": options.split_names(by),
            "mode": mode,
            "seed": seed,
        },
    )
    with progress_bars() as progress:
        result = require_scores(run_plan(plan, out=folder, cluster=cluster, progress=progress))
    result = finish_plan(plan, result, out=folder)
    look = f"The scores and measures are in {out}; look at one item with: isogloss show {out} {items[0].id}"
    print_result(result, look, form=form, headlines=[] if metrics else options.HEADLINES, explain=explain)
