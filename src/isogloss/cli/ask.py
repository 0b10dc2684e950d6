"""`isogloss ask`: chat models are asked about statements, here or behind an address; shares with intervals come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import options
from .messages import say
from .score import print_study

if TYPE_CHECKING:
    from ..runs import Run
    from ..studies.plan import StudyPlan

WARNING = "Content warning: the statements are stereotypes, some of them offensive."

Models = typer.Argument(
    help="Chat models: pulled models, folders, GGUF files, hub names, or addresses such as http://localhost:8000/v1."
)
Out = typer.Option(
    Path("runs/ask"), "--out", "-o", metavar="FOLDER", help="The study's folder; answers there are kept."
)
Options = typer.Option(
    [],
    "--option",
    metavar="NAME=VALUE",
    help="role (stereotype), order (both, yes-no or no-yes first), samples (1) per prompt, temperature (0), max_tokens (10), "
    "thinking (0: extra tokens before the answer), shots (0: answered examples before the question), prompts (a TOML file), "
    "template (auto: the model's; plain: none). May be repeated.",
)
By = typer.Option(None, "--by", metavar="COLUMNS", help="Columns to group by, comma-separated, such as prompt.")
Mode = typer.Option("corrected", "--mode", help="corrected, or paper: agreement averages yes over all prompts.")
DryRun = typer.Option(False, "--dry-run", help="Only count the requests and show the prompts.")


def ask(
    models: list[str] = Models,
    data: list[str] = options.Data,
    languages: list[str] = options.Languages,
    out: Path = Out,
    option: list[str] = Options,
    seed: int = options.Seed,
    served_model: list[str] = options.ServedModel,
    key_env: str = options.KeyEnv,
    concurrency: int = options.Concurrency,
    timeout: float = options.Timeout,
    tries: int = options.Tries,
    max_requests: int = options.MaxRequests,
    max_cost: float = options.MaxCost,
    prices: str = options.Prices,
    limit: int = options.Limit,
    until: str = options.Until,
    order: options.OrderUnit = options.Order,
    by: str = By,
    mode: str = Mode,
    dry_run: bool = DryRun,
    device: str = options.Device,
    dtype: str = options.Dtype,
    token_budget: int = options.TokenBudget,
    part_size: int = options.PartSize,
    offline: bool = options.Offline,
    skip_bad: bool = options.SkipBad,
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Ask chat models whether statements are stereotypes and whether they agree; measure their answers."""
    options.announce("reading the data")
    loading = options.read_loading(locals())
    from ..analysis.intervals import IntervalSettings
    from ..files.sources import read
    from ..progress import progress_bars
    from ..studies.plan import plan_evaluation
    from ..studies.run import execute

    named = options.split_columns(columns, encoding=encoding, reader=reader)
    items = read(data, language=languages, skip_bad=skip_bad, columns=named, limit=limit, seed=seed)
    plan = plan_evaluation(
        models,
        items,
        method="ask",
        options={"seed": str(seed)} | options.split_pairs(option),
        loading=options.at_server(models, served_model, loading=loading),
        measuring=options.measuring(metrics=None, by=by, mode=mode, settings=IntervalSettings(seed=seed)),
    )
    price_in, price_out = options.split_prices(prices)
    if dry_run:
        _show_plan(plan, out, price_in=price_in, price_out=price_out)
        return
    options.announce_needs(plan, out)
    with progress_bars() as progress:
        result = execute(replace(plan, until=until), out=out, progress=progress)
    say(_token_totals(result.runs, price_in=price_in, price_out=price_out, out=out))
    print_study(
        result, f"Look at one item with: isogloss show {out} {plan.cells[0].items[0].id}", output_format=output_format
    )


def _show_plan(plan: StudyPlan, out: Path, *, price_in: float, price_out: float) -> None:
    """How many requests there would be, what they would cost, and each language's prompts once."""
    from ..items import group_by
    from ..methods.ask import preview_prompts
    from ..studies.dry_run import forecast_plan

    say(WARNING)
    rows, failures = forecast_plan(plan, out=out, trial=False)
    for row in rows:
        typer.echo(f"{row.model} {row.dataset} {row.language}: {row.items} items, {row.unique} requests")
    cell = plan.cells[0]
    for language, items in group_by(cell.items, lambda item: item.language).items():
        for prompt, text in preview_prompts(items, cell.options).items():
            typer.echo(f"  {language} {prompt}: " + text.replace("\n", "\n    "))
    for failure in failures:
        say(f"{failure.model} {failure.data} {failure.language}: {failure.why}")
    models, total = len({row.model for row in rows}), sum(row.unique for row in rows)
    tokens, most = sum(row.tokens for row in rows), sum(row.answer_tokens for row in rows)
    cost = ((tokens - most) * price_in + most * price_out) / 1e6
    priced = f", cost at most about {cost:.4f}" * bool(price_in or price_out)
    about = f"about {tokens - most} prompt and at most {most} answer tokens{priced}"
    typer.echo(f"{total} requests in all, to {models} model{'s' * (models > 1)}, {about}; nothing was asked.")


def token_totals(runs: Sequence[Run], *, price_in: float = 0.0, price_out: float = 0.0) -> dict[str, float]:
    """The tokens that the answers of all runs took, and what they cost at these prices for a million."""
    names = ("prompt", "answer", "uncounted_answers")
    total: dict[str, float] = {name: sum(run.info.get("tokens", {}).get(name, 0) for run in runs) for name in names}
    return total | {"cost": (total["prompt"] * price_in + total["answer"] * price_out) / 1e6}


def _token_totals(runs: Sequence[Run], *, price_in: float, price_out: float, out: Path) -> str:
    """What the answers took."""
    total = token_totals(runs, price_in=price_in, price_out=price_out)
    asked = sum(run.info.get("asked", 0) for run in runs)
    requests = sum(run.info.get("requests", 0) for run in runs)
    line = f"{requests} answers, {total['prompt']:.0f} prompt and {total['answer']:.0f} answer tokens"
    line += f", {total['uncounted_answers']:.0f} answers uncounted" * bool(total["uncounted_answers"])
    line += f", cost {total['cost']:.4f}" * bool(price_in or price_out)
    return f"{line}; {asked} were asked by the last command. They are in {out}."
