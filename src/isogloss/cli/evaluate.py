"""`isogloss eval` and `probe`: models on data, in languages, by a method; or the terms that a model prefers in a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import IsoglossError
from . import options
from .run import print_result

if TYPE_CHECKING:
    from ..items import Items
    from ..models.load import Loading

Out = typer.Option(
    "runs/eval", "--out", "-o", metavar="FOLDER", help="The study's folder; an interrupted evaluation resumes."
)
Robustness = typer.Option(
    False,
    "--robustness",
    help="Score in every way that fits (methods, dtypes, batch sizes), store nothing, and report whether the conclusion holds.",
)


def evaluate(
    models: list[str] = typer.Argument(
        help="Models: a pulled model, a folder, a GGUF file, or a hub name (name@revision)."
    ),
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
    controls: bool = typer.Option(False, "--controls", help="Also score neutral and shuffled control items."),
    device: str = options.Device,
    dtype: str = options.Dtype,
    token_budget: int = options.TokenBudget,
    offline: bool = options.Offline,
    allow_pickle: bool = options.AllowPickle,
    on: str = options.On,
    skip_bad: bool = options.SkipBad,
    robustness: bool = Robustness,
    columns: str = options.Columns,
    explain: bool = typer.Option(False, "--explain", help="Explain in a sentence what the table means."),
    form: options.TextOrJson = options.Format,
) -> None:
    """Score data with models, store the scores, and print the measures."""
    options.announce("reading the data")
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
    loading = Loading(device, dtype, token_budget, offline, allow_pickle)
    if robustness:
        changed = {"method": method != "auto", "option": option, "by": by, "metrics": metrics, "controls": controls}
        _report_robustness(models, items, loading=loading, refused=changed | {"on": cluster}, form=form)
        return
    plan = plan_evaluation(
        models,
        *([items, make_control_items(items, seed=seed)] if controls else [items]),
        method=method,
        options=options.split_pairs(option),
        loading=loading,
        measuring={"metrics": options.split_names(metrics), "by": options.split_names(by), "mode": mode, "seed": seed},
    )
    with progress_bars() as progress:
        result = require_scores(run_plan(plan, out=folder, cluster=cluster, progress=progress))
    result = finish_plan(plan, result, out=folder)
    look = f"The scores and measures are in {out}; look at one item with: isogloss show {out} {items[0].id}"
    print_result(result, look, form=form, headlines=[] if metrics else options.HEADLINES, explain=explain)


def _report_robustness(
    models: Sequence[str], items: Items, *, loading: Loading, refused: Mapping[str, Any], form: str
) -> None:
    from ..progress import progress_bars
    from ..results import Results
    from ..studies.robustness import check_robustness

    if changed := [f"--{name}" for name, value in refused.items() if value]:
        raise IsoglossError(f"--robustness scores in every way. Leave out {' and '.join(changed)}.")
    with progress_bars() as progress:
        reports = [check_robustness(items, model=model, loading=loading, progress=progress) for model in models]
    options.show_result(Results(tuple(chain.from_iterable(reports))), form)


def probe(
    model: str = options.Model,
    template: str = typer.Argument(help='A template, such as "The {gender} is a \\[nurse|doctor]."'),
    language: str = typer.Option("en", "--language", "-l", help="The language of the template, by tag or name."),
    terms: str = typer.Option(
        None, "--terms", help="The slot whose terms are compared; by default the brackets, else the first slot."
    ),
    folder: Path = options.Folder,
    top: int = typer.Option(20, "--top", min=1, help="Show at most N terms."),
    limit: int = typer.Option(2000, "--limit", min=1, help="Refuse a template with more than N sentences."),
    device: str = options.Device,
    offline: bool = options.Offline,
    form: options.TextOrJson = options.Format,
) -> None:
    """Show which terms a model finds most probable in a template, as shares."""
    from .. import library
    from ..models.load import Loading
    from ..studies.probe import probe_as_text

    loading = Loading(device=device, offline=offline)
    result = library.probe(model, template, language=language, terms=terms, folder=folder, limit=limit, loading=loading)
    options.show(form, text=lambda: probe_as_text(result, top=top), json=result.to_dict)
