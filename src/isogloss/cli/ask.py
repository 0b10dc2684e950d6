"""`isogloss ask`: chat models are asked about statements, here or behind an address; shares with intervals come out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import IsoglossError
from . import options

if TYPE_CHECKING:
    from ..chat.endpoint import Endpoint
    from ..chat.local import ChatLoading
    from ..chat.requests import AskSettings, Backend
    from ..chat.runner import AskCell
    from ..runs import Run

WARNING = "Content warning: the statements are stereotypes, some of them offensive."

Models = typer.Argument(
    help="Chat models: a pulled model, a folder, a GGUF file or a hub name; with --endpoint, their names there."
)
Out = typer.Option(
    Path("runs/ask"), "--out", "-o", metavar="FOLDER", help="The study's folder; answers there are kept."
)
Role = typer.Option("stereotype", "--role", help="Ask about candidates with this role.")
Order = typer.Option(
    "both", "--order", help="Which answer word a prompt names first: both (asks twice), yes-no, no-yes."
)
Samples = typer.Option(1, "--samples", min=1, help="Answers per prompt; more than one needs --temperature.")
Temperature = typer.Option(0.0, "--temperature", min=0.0, help="0 takes the most probable answer.")
MaxTokens = typer.Option(10, "--max-tokens", min=1, help="At most N tokens per answer; verdicts read the first ten.")
Template = typer.Option("auto", "--template", help="auto: the model's chat template; plain: the bare prompt.")
Url = typer.Option(
    None, "--endpoint", metavar="URL", help="An OpenAI-compatible address, such as http://localhost:8000/v1."
)
KeyEnv = typer.Option(None, "--key-env", metavar="VARIABLE", help="The environment variable with the endpoint's key.")
Concurrency = typer.Option(4, "--concurrency", min=1, help="Send at most N requests at once.")
Timeout = typer.Option(60.0, "--timeout", min=0.1, help="Give up on a response after N seconds.")
Tries = typer.Option(6, "--tries", min=1, help="Try a request at most N times.")
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
    role: str = Role,
    order: str = Order,
    samples: int = Samples,
    temperature: float = Temperature,
    seed: int = options.Seed,
    max_tokens: int = MaxTokens,
    template: str = Template,
    endpoint: str = Url,
    key_env: str = KeyEnv,
    concurrency: int = Concurrency,
    timeout: float = Timeout,
    tries: int = Tries,
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
    form: options.TextOrJson = options.Format,
) -> None:
    """Ask chat models whether statements are stereotypes and whether they agree, and measure their answers."""
    from ..analysis import measures
    from ..chat import runner
    from ..chat.endpoint import Endpoint
    from ..chat.local import ChatLoading
    from ..chat.requests import AskSettings
    from ..chat.retry import RetryPolicy
    from ..files.sources import read_many
    from ..studies.jobs import Sample, take_sample
    from .progress import progress_bars

    price_in, price_out = options.split_prices(prices)
    items = take_sample(read_many(data, language=languages, skip_bad=skip_bad), Sample(limit, seed))
    settings = AskSettings(role, order, samples, temperature, seed, max_tokens, template)
    cells = runner.plan_cells(items, settings)
    measures.check_mode(mode)
    there = Endpoint(endpoint or "", "", key_env, concurrency, timeout, RetryPolicy(tries))
    opener = _opener(settings, there, loading=ChatLoading(device, dtype, token_budget, offline))
    if dry_run:
        _show_plan(models, cells)
        return
    with progress_bars() as progress:
        runs = runner.ask_models(models, items, open_backend=opener, out=out, progress=progress)
    _show_measures(runs, by=by, mode=mode, seed=seed, form=form)
    _show_token_totals(runs, price_in=price_in, price_out=price_out, out=out)


def _opener(settings: AskSettings, endpoint: Endpoint, *, loading: ChatLoading) -> Callable[[str], Backend]:
    """What opens a model by its name: on this machine, or behind an address when one is given."""
    from dataclasses import replace

    from ..chat.endpoint import http_backend
    from ..chat.local import open_local

    if not endpoint.url and endpoint.key_env is not None:
        raise IsoglossError("--key-env goes with --endpoint.")
    if endpoint.url:
        http_backend(endpoint, settings)  # a wrong address or a missing key is told before anything else
        return lambda name: http_backend(replace(endpoint, model=name), settings)
    return lambda name: open_local(name, settings, loading=loading)


def _show_plan(models: Sequence[str], cells: Sequence[AskCell]) -> None:
    """How many requests there would be, and each language's prompts once."""
    typer.echo(WARNING, err=True)
    for cell in cells:
        first = cell.items[0]
        typer.echo(f"{first.dataset} {first.language}: {len(cell.items)} items, {cell.asks} requests")
        shown = {request.prompt: request.text for request in reversed(cell.requests)}
        for prompt in reversed(shown):
            typer.echo(f"  {prompt}: " + shown[prompt].replace("\n", "\n    "))
    total = sum(cell.asks for cell in cells) * len(models)
    typer.echo(f"{total} requests in all, to {len(models)} model{'s' * (len(models) > 1)}; nothing was asked.")


def _show_measures(runs: list[Run], *, by: str | None, mode: str, seed: int, form: str) -> None:
    from ..analysis import measures
    from ..reports.text.measures import measures_as_text
    from ..runs import read_scored

    found = measures.measure(read_scored(runs), by=options.split_names(by), mode=mode, seed=seed)
    if form == "json":
        options.print_json(found.to_dict())
    else:
        typer.echo(measures_as_text(found))


def _show_token_totals(runs: list[Run], *, price_in: float, price_out: float, out: Path) -> None:
    """What the answers took, on standard error."""
    from ..chat.runner import token_totals

    total = token_totals(runs, price_in=price_in, price_out=price_out)
    asked = sum(run.info.get("asked", 0) for run in runs)
    requests = sum(run.info.get("requests", 0) for run in runs)
    line = f"{requests} answers, {total['prompt']:.0f} prompt and {total['answer']:.0f} answer tokens"
    line += f", {total['uncounted_answers']:.0f} answers uncounted" * bool(total["uncounted_answers"])
    line += f", cost {total['cost']:.4f}" * bool(price_in or price_out)
    typer.echo(f"\n{line}; {asked} were asked by the last command. They are in {out}.", err=True)
