"""What several commands share: options written once, and the printing of a result."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal

import typer
from typer import core
from typer.models import ArgumentInfo

from ..errors import IsoglossError, UnknownName
from ..files.hub import OFFLINE
from ..stats import RESAMPLES
from .messages import say

if TYPE_CHECKING:
    from ..analysis.intervals import IntervalSettings
    from ..analysis.study import Measuring
    from ..models.model import Loading
    from ..storage import StoragePath
    from ..studies.plan import StudyPlan
    from ..studies.run import Cluster

TextOrJson = Literal["text", "json"]
AnyFormat = Literal["text", "json", "csv", "latex", "markdown"]
Format = typer.Option("text", "--format", help="How to print the result.")

Data = typer.Option(
    ..., "--data", metavar="DATA", help="A data set's name, a file, or a folder of files. May be repeated."
)
PredictionData = typer.Option(
    [], "--data", metavar="DATA", help="The data that a prediction file belongs to. May be repeated."
)
Source = typer.Argument(help="A data set's name, a file, or a folder of files.")
Model = typer.Argument(metavar="MODEL", help="A pulled model, a folder, a GGUF file, or a hub name (name@revision).")
Runs = typer.Argument(help="Folders of runs.")


def split_languages(texts: list[str]) -> list[str]:
    """The languages in options that may each name several."""
    return [name for text in texts for name in split_names(text) or []]


Languages = typer.Option(
    [],
    "--language",
    "-l",
    metavar="LANGUAGE",
    help="A language, by tag or name; separate several by commas. May be repeated.",
    callback=split_languages,
)
Columns = typer.Option(
    None,
    "--columns",
    metavar="OURS=YOURS,…",
    help="Map your column names, as in stereotype=sentence_a,anti_stereotype=sentence_b. May be repeated.",
)
Encoding = typer.Option(None, "--encoding", help="The encoding of the files, such as cp1250; by default detected.")
Reader = typer.Option(None, "--reader", help="The reader of the files, such as pairs; by default detected.")
SkipBad = typer.Option(False, "--skip-bad", help="Skip and count invalid rows and files instead of stopping.")
Where = typer.Option(
    [],
    "--where",
    metavar="CONDITION",
    help="Use only items with this value, as in original=yes, region=France,Germany or type!=saying. May be repeated.",
)
Explain = typer.Option(False, "--explain", help="Also explain in sentences what the table means.")
Limit = typer.Option(
    None, "--limit", min=1, help="Use at most N items per data set, language and task, spread over clusters."
)
By = typer.Option(None, "--by", metavar="COLUMNS", help="Columns to group by: task,language,category,target.")
Metrics = typer.Option(None, "--metrics", metavar="NAMES", help="Metrics, comma-separated.")
Mode = typer.Option("corrected", "--mode", help="corrected (ties count one half) or paper (as published).")
Resamples = typer.Option(
    RESAMPLES,
    "--resamples",
    min=100,
    help="Number of resamples or permutations.",
)
Seed = typer.Option(0, "--seed", min=0, help="Random seed.")
Over = typer.Option(
    None,
    "--over",
    metavar="COLUMN",
    help="Extend intervals to new values of this column, such as the template that items share.",
)
Interval = typer.Option(
    "auto",
    "--interval",
    help="auto (the jackknife over clusters), bootstrap (over clusters), bca, or wilson (independent items).",
)
Beside = typer.Option(None, "--beside", help="With 'published': add published StereoSet results for comparison.")
Facts = typer.Option(
    None, "--facts", metavar="FILE", help="A YAML file with facts about each model: label, multilingual, size."
)
Device = typer.Option("cpu", "--device", help="auto, cpu, cuda, cuda:1 or mps.")
DeviceMap = typer.Option(
    None, "--device-map", metavar="MAP", help="Put a model's layers on several devices: auto, balanced or sequential."
)
Dtype = typer.Option("float32", "--dtype", help="float32, bfloat16 or float16.")
TokenBudget = typer.Option(None, "--token-budget", min=1, help="Tokens per batch, including padding.")
PartSize = typer.Option(None, "--part-size", min=1, help="The number of candidates scored between two writes to disk.")
AllowPickle = typer.Option(False, "--allow-pickle", help="Also load pickled weights, which can run code.")
Folder = typer.Option(None, "--folder", help="A folder of your own with vocabularies, words, rules and sets.")


def forbid_requests(offline: bool) -> bool:
    """With --offline, ask the hub for nothing: neither in this process nor in those that it starts."""
    if offline:
        os.environ[OFFLINE] = "1"
    return offline


Offline = typer.Option(False, "--offline", help="Use cached models and data only.", callback=forbid_requests)
Options = typer.Option(
    [], "--option", metavar="NAME=VALUE", help="An option of the method, as in case=e. May be repeated."
)
VALUES = {"bool": "", "int": "N", "float": "N", "Path": "PATH"}
Backend = typer.Option("here", "--backend", help="here, or ray: run the cells on a Ray cluster.")
Address = typer.Option(
    None, "--address", metavar="HOST:PORT", help="The Ray cluster; by default one is started on this machine."
)
Workers = typer.Option(None, "--workers", min=1, help="With ray: the number of workers, each with an open model.")
Threads = typer.Option(None, "--threads", min=1, help="With ray: cores of each worker.")
Wait = typer.Option(None, "--wait", min=1, help="With ray: seconds to wait for workers.")


def announce(activity: str) -> None:
    """Say at once what a command begins with, before heavy libraries are loaded; the next line on a terminal replaces it."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{activity} …\r")
        sys.stderr.flush()


def show(output_format: str, **forms: Callable[[], Any]) -> None:
    """Print a result in one of its forms: as text of some kind, or as one JSON value."""
    if output_format not in forms:
        raise IsoglossError(f"This result has no format '{output_format}'. Use --format {' or '.join(forms)}.")
    value = forms[output_format]()
    if output_format == "json":
        print_json(value)
    else:
        typer.echo(value.rstrip("\n"))


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=1))


def show_result(result: Any, output_format: str) -> None:
    """Print a result of the library, as text or as JSON."""
    show(output_format, text=lambda: str(result), json=result.to_dict)


def show_table(output_format: str, result: Any, *, grid: Callable[[Any], Any], **forms: Callable[[], Any]) -> None:
    """Print a result in any format; `forms` are those that it has in its own way."""
    from ..reports.text.table import as_csv, as_latex, as_markdown

    formats: dict[str, Callable[[], Any]] = {
        "text": lambda: str(result),
        "json": result.to_dict,
        "csv": lambda: as_csv(result, grid(result)),
        "latex": lambda: as_latex(grid(result)),
        "markdown": lambda: as_markdown(grid(result)),
    }
    show(output_format, **formats | forms)


ServedModel = typer.Option(
    [],
    "--served-model",
    metavar="NAME",
    help="The name of a model on the server, if MODEL is an address. May be repeated.",
)
KeyEnv = typer.Option(None, "--key-env", metavar="VARIABLE", help="The environment variable with the server's key.")
Concurrency = typer.Option(4, "--concurrency", min=1, help="The number of open requests to a server.")
Timeout = typer.Option(60.0, "--timeout", min=0.1, help="The number of seconds to wait for a complete response.")
Tries = typer.Option(6, "--tries", min=1, help="The maximum number of tries for each request.")
Tokenizer = typer.Option(
    None,
    "--tokenizer",
    help="The served model's tokenizer: a name or folder; by default a local copy, else the server's.",
)
Repeat = typer.Option(100, "--repeat", min=0, help="Request N items twice, to measure the stability of the server.")
MaxRequests = typer.Option(
    None, "--max-requests", min=1, help="Send at most N requests; to continue, run again with a larger N."
)
MaxCost = typer.Option(None, "--max-cost", min=0.0, help="Stop before the total cost, at --prices, exceeds N.")
Prices = typer.Option(
    "0,0", "--prices", metavar="IN,OUT", help="Prices per million prompt tokens and per million answer tokens."
)


Until = typer.Option(
    None,
    "--until",
    metavar="RULE",
    help="Stop when the result is certain: 'ss±2' (within 2 points), 'ss!=50' or 'ss within 2 of RUNS'.",
)
OrderUnit = Literal["cluster", "item"]
Order = typer.Option("cluster", "--order", help="With --until: score clusters or single items (item) in random order.")


def at_server(models: Sequence[str], served_models: Sequence[str], *, loading: Loading) -> list[Loading]:
    """How the models are opened: once for each name at a server; options of a server without its address are refused."""
    from ..models.model import ADDRESS

    if (served_models or loading.key_env) and not any(name.startswith(ADDRESS) for name in models):
        wrong = "--served-model" if served_models else "--key-env"
        raise IsoglossError(f"{wrong} goes with the address of a server as MODEL, such as http://localhost:8000/v1.")
    return [replace(loading, served_model=name) for name in served_models or [""]]


def read_loading(values: Mapping[str, Any]) -> Loading:
    """How models are opened, by those of a command's options that say so; a budget in money needs prices."""
    from ..models.model import Loading

    names = {field.name for field in fields(Loading)} - {"served_model", "prices"}
    loading = Loading(**{name: value for name, value in values.items() if name in names})
    prices = split_prices(values["prices"])
    if loading.max_cost is not None and not any(prices):
        raise IsoglossError("--max-cost needs the prices of a million tokens. Use --prices IN,OUT.")
    return replace(loading, prices=prices)


def announce_needs(plan: StudyPlan, out: StoragePath) -> None:
    """Say before the first request what a plan with a budget needs."""
    from ..studies.budgets import forecast_needs

    for need in forecast_needs(plan, out=out):
        say(f"Forecast for {need}.")


def find_cluster(backend: str, **settings: Any) -> Cluster | None:
    """The cluster to run on; none is this process."""
    stated = {name: value for name, value in settings.items() if value is not None}
    if backend == "here" and stated:
        raise IsoglossError(f"--{next(iter(stated))} requires --backend ray.")
    if backend == "here":
        return None
    from .. import registry
    from ..studies.run import Cluster

    if backend not in (executors := registry.names("executor")):
        raise UnknownName("backend", backend, ("here", *executors))
    registry.get("executor", backend)
    return Cluster(**stated)


def split_names(text: str | None) -> list[str] | None:
    """The names in a comma-separated option."""
    return [name.strip() for name in text.split(",") if name.strip()] if text is not None else None


def measuring(*, metrics: str | None, by: str | None, mode: str, settings: IntervalSettings) -> Measuring:
    """What the options want measured."""
    from ..analysis.study import Measuring

    names, groups = split_names(metrics), split_names(by)
    return Measuring(tuple(names) if names else None, None if groups is None else tuple(groups), mode, settings)


def exit_with_problems(problems: Sequence[str]) -> None:
    """Print what could not be read or made, and exit with status 1 where there is any of it."""
    for problem in problems:
        say(problem)
    if problems:
        raise typer.Exit(1)


def split_prices(text: str) -> tuple[float, float]:
    """The prices of a million prompt tokens and of a million answer tokens, written as IN,OUT."""
    try:
        price_in, price_out = (float(part) for part in text.split(","))
    except ValueError:
        raise IsoglossError(f"--prices takes two numbers such as 0.15,0.6, not '{text}'.") from None
    if not 0 <= min(price_in, price_out) <= max(price_in, price_out) < float("inf"):
        raise IsoglossError(f"--prices takes two numbers of at least 0, not '{text}'.")
    return price_in, price_out


def split_columns(texts: list[str] | None, *, encoding: str | None = None, reader: str | None = None) -> dict[str, str]:
    """How a file is to be read: our names of columns and its own, written as ours=theirs, its encoding and its reader."""
    columns = split_pairs([pair for text in texts or [] for pair in text.split(",")])
    if wrong := next((name for name in ("encoding", "reader") if name in columns), None):
        raise IsoglossError(f"'{wrong}' is not a column. Use --{wrong} {columns[wrong]}.")
    stated = {"encoding": encoding, "reader": reader}
    return columns | {name: value for name, value in stated.items() if value}


def split_pairs(pairs: list[str]) -> dict[str, str]:
    """The names and values in options written as name=value."""
    values = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise IsoglossError(f"'{pair}' is not an option. Write it as name=value, such as case=e.")
        values[name.strip()] = value.strip()
    return values


def split_conditions(pairs: list[str]) -> dict[str, str]:
    """The columns and values in conditions written as column=value."""
    for pair in pairs:
        if "=" not in pair:
            raise IsoglossError(
                f"'{pair}' does not select scores. Write it as column=value, such as model={pair} or language=en."
            )
    return split_pairs(pairs)


def hide_types() -> None:
    """Show neither a type for a flag or an argument nor a range for a number."""
    option: Any = core.TyperOption
    argument: Any = core.TyperArgument
    display_type = getattr(option, "display_type_rich", lambda self, ctx: None)  # older versions of Typer lack it
    option.display_type_rich = lambda self, ctx: None if self.is_flag else display_type(self, ctx)
    option._get_number_range_help_str = lambda self: None
    argument.display_type_rich = lambda self, ctx: None
    argument._usage_display_name = _argument_in_usage


def _argument_in_usage(argument: Any) -> str:
    name = str(argument.display_name_raw)
    return str(name if argument.required else f"[{name}]") + "..." * bool(argument.nargs != 1)


def name_values(app: typer.Typer) -> None:
    """Let the help show N, PATH or NAME for values, and nothing for a flag, instead of Python's types."""
    for group in app.registered_groups:
        name_values(group.typer_instance or typer.Typer())
    for command in app.registered_commands:
        for name, parameter in inspect.signature(command.callback or name_values).parameters.items():
            kind, value = str(parameter.annotation), parameter.default
            if value.metavar is None and isinstance(value, ArgumentInfo):
                value.metavar = name.upper()
            elif value.metavar is None and not kind.startswith(("options.", "Literal")):
                value.metavar = VALUES.get(kind.removeprefix("list[").rstrip("]"), "NAME")
