"""`isogloss nsp`: next-sentence heads for models that have none: build data, train, test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import options

if TYPE_CHECKING:
    from ..nsp.train import TrainingStatus

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
    validation: float = typer.Option(0.05, "--validation", help="The share of articles for validation."),
    test: float = typer.Option(0.05, "--test", help="The share of articles for the test."),
    limit: int = typer.Option(None, "--limit", min=1, help="Use at most N sentences per language and split."),
    longest: int = typer.Option(None, "--max-letters", min=1, help="Skip pairs with a sentence longer than N letters."),
    jsonl: bool = typer.Option(False, "--jsonl", help="Write JSONL files instead of Parquet."),
    seed: int = options.Seed,
    any_language: bool = typer.Option(False, "--any-language", help="Do not check the language of the text."),
    form: options.TextOrJson = options.Format,
) -> None:
    """Make pairs of sentences from articles: true ones, and as many with a sentence of another article."""
    from ..nsp.articles import parse_sources
    from ..nsp.data import PairSettings, build_data, counts_as_text
    from ..nsp.pairs import Shares

    files = "jsonl" if jsonl else "parquet"
    settings = PairSettings(seed, Shares(validation, test), limit, longest, files, any_language)
    found = parse_sources(sources, language=language)
    with _counting() as progress:
        card = build_data(found, out, settings=settings, on_message=progress)
    options.show(form, text=lambda: counts_as_text(card), json=lambda: card)


@app.command("train")
def train(
    model: str = typer.Argument(help="A pulled model, a folder, or a hub name (name@revision)."),
    data: Path = Pairs,
    out: Path = typer.Option(
        ..., "--out", "-o", metavar="FOLDER", help="The folder for the model; an interrupted training there resumes."
    ),
    core_rate: float = typer.Option(
        None, "--core-rate", help="Learning rate of the network: 5e-6 (LoRA 2e-4, mT5 1e-4)."
    ),
    head_rate: float = typer.Option(1e-3, "--head-rate", help="Learning rate of the head."),
    schedule: str = typer.Option(None, "--schedule", help="cosine (with hard restarts) or constant (mT5's default)."),
    cycles: int = typer.Option(1, "--cycles", min=1, help="Number of cosine cycles."),
    epochs: int = typer.Option(1, "--epochs", min=1, help="Number of epochs."),
    pairs: int = typer.Option(None, "--pairs", min=1, help="Use at most N pairs per epoch."),
    batch: int = typer.Option(8, "--batch", min=1, help="Pairs per batch."),
    accumulation: int = typer.Option(8, "--accumulation", min=1, help="Batches per step."),
    max_length: int = typer.Option(
        256, "--max-length", min=8, help="Tokens per pair; longer pairs are truncated from the left."
    ),
    lora: str = typer.Option(
        None,
        "--lora",
        metavar="RANK[,LAYERS]",
        help="Train low-rank adapters of this rank instead of the network, in the last layers only if their number is given.",
    ),
    precision: str = typer.Option("auto", "--precision", help="auto, no, fp16 or bf16."),
    gradient_checkpointing: bool = typer.Option(False, "--gradient-checkpointing", help="Save memory, take more time."),
    every: float = typer.Option(20.0, "--checkpoint", help="Save a checkpoint every N percent of the training."),
    patience: int = typer.Option(None, "--patience", min=1, help="Stop after N checkpoints without improvement."),
    validation_pairs: int = typer.Option(2000, "--validation-pairs", min=1, help="Pairs per validation."),
    test_pairs: int = typer.Option(10_000, "--test-pairs", min=1, help="Pairs of the final test."),
    seed: int = options.Seed,
    device: str = typer.Option("auto", "--device", help="auto (as accelerate finds it) or cpu."),
) -> None:
    """Train a next-sentence head; `isogloss eval` opens the resulting folder like any model."""
    from ..nsp.settings import Rates, TrainingSettings, read_lora
    from ..nsp.train import train_head
    from ..nsp.training_card import card_as_text

    settings = TrainingSettings(
        seed=seed,
        epochs=epochs,
        pairs=pairs,
        batch=batch,
        accumulation=accumulation,
        max_length=max_length,
        rates=Rates(core_rate, head_rate, schedule, cycles),
        lora=read_lora(lora),
        precision=precision,
        gradient_checkpointing=gradient_checkpointing,
        checkpoint_percent=every,
        patience=patience,
        validation_pairs=validation_pairs,
        test_pairs=test_pairs,
        device=device,
    )
    with _training() as heard:
        card = train_head(model, data, out=out, settings=settings, on_status=heard)
    if card:
        typer.echo(card_as_text(card))


@app.command("test")
def check(
    model: str = typer.Argument(help="A folder that `isogloss nsp train` wrote, or a model with a published head."),
    data: Path = Pairs,
    limit: int = typer.Option(10_000, "--limit", min=1, help="Use at most N pairs of the test split."),
    device: str = options.Device,
    form: options.TextOrJson = options.Format,
) -> None:
    """Report the head's accuracy on unseen articles, beside two baselines that do not read the pair."""
    from ..nsp.evaluation import Sizes, evaluate_head, head_test_as_rows, head_test_as_text
    from ..progress import progress_bars

    with progress_bars() as progress:
        trial = evaluate_head(model, data, sizes=Sizes(limit), device=device, progress=progress)
    options.show(form, text=lambda: head_test_as_text(trial), json=lambda: head_test_as_rows(trial))


@contextmanager
def _counting() -> Iterator[Callable[[str, int], None]]:
    """A line on standard error with what is counted, renewed while this is open; none where there is no terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("reading") as status:
        yield lambda label, count: status.update(f"{label}: {count:,}")


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

        def heard(status: TrainingStatus) -> None:
            if not math.isnan(status.loss):
                label = f"loss {status.loss:.3f} accuracy {status.accuracy:.2f}"
                bars.update(task, description=label, total=status.steps, completed=status.step)
            if status.said and (
                not console.is_terminal or math.isnan(status.loss)
            ):  # the bar shows the lines of the log
                bars.console.out(f"{status.step}/{status.steps} {status.said}", highlight=False)

        yield heard
