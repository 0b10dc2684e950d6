"""`isogloss ask`: chat models are asked about statements, here or behind an address; shares with intervals come out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import IsoglossError
from ..settings import read_fields
from . import options
from .score import print_result

if TYPE_CHECKING:
    from ..chat.endpoint import Endpoint
    from ..runs import Run
    from ..studies.plan import StudyPlan

WARNING = "Content warning: the statements are stereotypes, some of them offensive."

Models = typer.Argument(
    help="Chat models: a pulled model, a folder, a GGUF file or a hub name; with --endpoint, their names there."
)
Out = typer.Option(
    Path("runs/ask"), "--out", "-o", metavar="FOLDER", help="The study's folder; answers there are kept."
)
Options = typer.Option(
    [],
    "--option",
    metavar="NAME=VALUE",
    help="role (stereotype), order (both, yes-no or no-yes first), samples (1) per prompt, temperature (0: the most probable "
    "answer), max_tokens (10), thinking (0: more tokens for a thought before the answer), shots (0: answered examples before the "
    "question), prompts (a TOML file), template (auto: the model's; plain: the bare prompt). May be repeated.",
)
Url = typer.Option(
    None,
    "--endpoint",
    metavar="URL",
    help="An OpenAI-compatible address, such as http://localhost:8000/v1. Settings follow after commas: "
    "URL,concurrency=4,timeout=60,tries=6 (requests at once, seconds per response, tries per request).",
)
KeyEnv = typer.Option(None, "--key-env", metavar="VARIABLE", help="The environment variable with the endpoint's key.")
Prices = typer.Option(
    "0,0", "--prices", metavar="IN,OUT", help="The price of a million prompt tokens and of a million answer tokens."
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
    endpoint: str = Url,
    key_env: str = KeyEnv,
    prices: str = Prices,
    limit: int = options.Limit,
    by: str = By,
    mode: str = Mode,
    dry_run: bool = DryRun,
    device: str = options.Device,
    dtype: str = options.Dtype,
    token_budget: int = options.TokenBudget,
    offline: bool = options.Offline,
    skip_bad: bool = options.SkipBad,
    columns: list[str] = options.Columns,
    form: options.AnyFormat = options.Format,
) -> None:
    """Ask chat models whether statements are stereotypes and whether they agree, and measure their answers."""
    options.announce("reading the data")
    from ..chat.requests import read_ask_settings
    from ..files.sources import read
    from ..models.load import Loading
    from ..progress import progress_bars
    from ..studies.plan import plan_asking, take_sample
    from ..studies.run import finish_plan, require_scores, run_plan

    if key_env and not endpoint:
        raise IsoglossError("--key-env goes with --endpoint.")
    items = read(data, language=languages, columns=options.split_columns(columns), skip_bad=skip_bad)
    plan = plan_asking(
        models,
        take_sample(items, limit, seed=seed),
        settings=read_ask_settings({"seed": str(seed)} | options.split_pairs(option)),
        endpoint=_read_endpoint(endpoint, key_env) if endpoint else None,
        loading=Loading(device, dtype, token_budget, offline),
        measuring={"by": options.split_names(by), "mode": mode, "seed": seed},
    )
    if dry_run:
        _show_plan(plan)
        return
    with progress_bars() as progress:
        result = require_scores(run_plan(plan, out=out, progress=progress))
    result = finish_plan(plan, result, out=out)
    price_in, price_out = options.split_prices(prices)
    typer.echo(_token_totals(result.runs, price_in=price_in, price_out=price_out, out=out), err=True)
    print_result(result, f"Look at one item with: isogloss show {out} {plan.cells[0].items[0].id}", form=form)


def _read_endpoint(text: str, key_env: str | None) -> Endpoint:
    """The endpoint at an address that settings may follow, as in http://localhost:8000/v1,tries=2."""
    from ..chat.endpoint import Endpoint
    from ..chat.retry import RetryPolicy

    url, *pairs = text.split(",")
    settings = options.split_pairs(pairs)
    tries = {"tries": settings.pop("tries")} if "tries" in settings else {}
    values = read_fields(Endpoint, settings, what="endpoint", names=("concurrency", "timeout"), least=1)
    policy = RetryPolicy(**read_fields(RetryPolicy, tries, what="endpoint", names=("tries",), least=1))
    return Endpoint(url, "", key_env, retry=policy, **values)


def _show_plan(plan: StudyPlan) -> None:
    """How many requests there would be, and each language's prompts once."""
    from ..chat.requests import read_ask_settings
    from ..chat.runner import plan_ask_cells

    typer.echo(WARNING, err=True)
    cells = plan_ask_cells(plan.cells[0].items, read_ask_settings(plan.cells[0].options))
    for cell in cells:
        first = cell.items[0]
        typer.echo(f"{first.dataset} {first.language}: {len(cell.items)} items, {cell.asks} requests")
        shown = {request.prompt: request.text for request in reversed(cell.requests)}
        for prompt in reversed(shown):
            typer.echo(f"  {prompt}: " + shown[prompt].replace("\n", "\n    "))
    models = len(plan.cells)
    total = sum(cell.asks for cell in cells) * models
    typer.echo(f"{total} requests in all, to {models} model{'s' * (models > 1)}; nothing was asked.")


def _token_totals(runs: Sequence[Run], *, price_in: float, price_out: float, out: Path) -> str:
    """What the answers took."""
    from ..chat.runner import token_totals

    total = token_totals(runs, price_in=price_in, price_out=price_out)
    asked = sum(run.info.get("asked", 0) for run in runs)
    requests = sum(run.info.get("requests", 0) for run in runs)
    line = f"{requests} answers, {total['prompt']:.0f} prompt and {total['answer']:.0f} answer tokens"
    line += f", {total['uncounted_answers']:.0f} answers uncounted" * bool(total["uncounted_answers"])
    line += f", cost {total['cost']:.4f}" * bool(price_in or price_out)
    return f"{line}; {asked} were asked by the last command. They are in {out}."
