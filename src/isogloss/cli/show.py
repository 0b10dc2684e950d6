"""`isogloss show`: what a run holds, or one of its items token by token."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options


def show(
    run: Path = typer.Argument(help="The folder of a run, or of a study."),
    item: str = typer.Argument(None, help="An item's id; without it, the runs are listed."),
    as_json: bool = options.Json,
) -> None:
    """Show the runs in a folder, or one item's candidates with tokens and log-probabilities."""
    from ..inspection import inspect_item, inspection_as_text, list_runs

    found = inspect_item(run, item) if item else list_runs(run)
    if as_json:
        options.print_json(found)
    else:
        typer.echo(inspection_as_text(found))
