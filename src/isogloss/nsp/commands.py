"""`isogloss nsp`: next-sentence heads for models that have none: build data, train, test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..cli import options
from ..cli.commands import Commands

if TYPE_CHECKING:
    from .trainer import TrainingStatus

app = typer.Typer(help="Give a model a next-sentence head: build data, train, test.", no_args_is_help=True)
Pairs = typer.Option(..., "--data", metavar="FOLDER", help="The folder that `isogloss nsp data` wrote.")


@app.command("data")
def build(
    sources: list[str] = typer.Argument(
        help="Text (blank line between articles), JSONL or Parquet files (field text), folders, or hf:NAME:CONFIG. "
        "Several languages: de=FILE fr=FILE."
    ),
    out: Path = typer.Option(..., "--out", "-o", metavar="FOLDER", help="The folder to write."),
    language: str = typer.Option(None, "--language", "-l", help="The language of sources that do not name theirs."),
    limit: int = typer.Option(None, "--limit", min=1, help="Use at most N sentences per language and split."),
    seed: int = options.Seed,
    option: list[str] = typer.Option(
        [],
        "--option",
        metavar="NAME=VALUE",
        help="validation and test: shares of the articles (0.05); max_letters: skip pairs with a longer sentence; articles: read at most N of each source; "
        "format: parquet or jsonl; any_language=yes: do not check the language. May be repeated.",
    ),
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Make pairs of consecutive sentences from articles, and as many whose second sentence is from another article."""
    from rich.console import Console

    from .articles import parse_sources
    from .data import PairSettings, build_data, counts_as_text, read_pair_settings

    settings = read_pair_settings(options.split_pairs(option), PairSettings(seed, limit=limit))
    articles = parse_sources(sources, language=language)
    with Console(stderr=True).status("reading") as status:  # a line on a terminal, and none elsewhere
        card = build_data(
            articles, out, settings=settings, on_message=lambda label, n: status.update(f"{label}: {n:,}")
        )
    options.show(output_format, text=lambda: counts_as_text(card), json=lambda: card)


@app.command("train")
def train(
    model: str = typer.Argument(help="A pulled model, a folder, or a hub name (name@revision)."),
    data: Path = Pairs,
    out: Path = typer.Option(
        ..., "--out", "-o", metavar="FOLDER", help="The model's folder; an interrupted training resumes."
    ),
    epochs: int = typer.Option(1, "--epochs", min=1, help="Number of epochs."),
    pairs: int = typer.Option(None, "--pairs", min=1, help="Use at most N pairs per epoch."),
    lora: str = typer.Option(
        None,
        "--lora",
        metavar="RANK[,LAYERS]",
        help="Train low-rank adapters of this rank instead of the whole network; with LAYERS, only in that many last layers.",
    ),
    option: list[str] = typer.Option(
        [],
        "--option",
        metavar="NAME=VALUE",
        help="optimizer (adamw or adafactor), core_rate, head_rate, schedule, cycles, batch, accumulation, max_length, precision, gradient_checkpointing, "
        "checkpoint_percent, patience, validation_pairs, test_pairs: as in batch=16. May be repeated.",
    ),
    seed: int = options.Seed,
    device: str = typer.Option("auto", "--device", help="auto (as accelerate finds it) or cpu."),
    report_to: list[str] = typer.Option(
        ["tensorboard"],
        "--report-to",
        metavar="TRACKER",
        help="tensorboard (a folder in --out), wandb (Weights & Biases) or none. May be repeated.",
    ),
) -> None:
    """Train a next-sentence head; `isogloss eval` opens the resulting folder like any model.

    If --data is a file of weights (.pth, .bin, .safetensors), it takes over a head that was fine-tuned with the code of Nadeem et al. or Öztürk et al.
    """
    from .heads import import_head
    from .settings import TrainingSettings, read_lora, read_training_settings
    from .train import train_head
    from .training_card import card_as_text

    if data.is_file() and data.suffix in (".pth", ".pt", ".bin", ".safetensors"):
        import_head(model, data, out=out)
        typer.echo(f"Wrote {out}.")
        return
    trackers = tuple(name for name in report_to if name != "none")
    settings = TrainingSettings(seed, epochs, pairs, lora=read_lora(lora), device=device, report_to=trackers)
    settings = read_training_settings(options.split_pairs(option), settings)
    with _training() as on_status:
        card = train_head(model, data, out=out, settings=settings, on_status=on_status)
    if card:
        typer.echo(card_as_text(card))


@app.command("test")
def check(
    model: str = typer.Argument(help="A folder that `isogloss nsp train` wrote, or a model with a published head."),
    data: Path = Pairs,
    limit: int = typer.Option(10_000, "--limit", min=1, help="Use at most N pairs of the test split."),
    device: str = options.Device,
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Report the accuracy of the head on unseen articles, and of two baselines that do not read the pair."""
    from ..progress import progress_bars
    from .evaluation import evaluate_head, head_test_as_text

    with progress_bars() as progress:
        result = evaluate_head(model, data, limit=limit, device=device, progress=progress)
    options.show(output_format, text=lambda: head_test_as_text(result), json=lambda: asdict(result))


@contextmanager
def _training() -> Iterator[Callable[[TrainingStatus], None]]:
    """A bar with loss and accuracy on standard error; plain lines where there is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(
        *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, disable=not console.is_terminal
    ) as bars:
        task = bars.add_task("training", total=None)

        def show(status: TrainingStatus) -> None:
            if not math.isnan(status.loss):
                label = f"loss {status.loss:.3f} accuracy {status.accuracy:.2f}"
                bars.update(task, description=label, total=status.steps, completed=status.step)
            bar = console.is_terminal and not math.isnan(status.loss)  # which shows the lines of the log
            if status.message and not bar:
                bars.console.out(f"{status.step}/{status.steps} {status.message}", highlight=False)

        yield show


commands = Commands("Models and languages", {"nsp": app})
