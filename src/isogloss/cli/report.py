"""`isogloss report`: runs become one page to look at."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import typer

from . import options


def report(
    runs: list[str] = typer.Argument(help="Folders of runs."),
    out: Path = typer.Option(..., "--out", "-o", help="The HTML file to write."),
    add: list[Path] = typer.Option(
        [],
        "--add",
        help="A file to take in: JSON of robustness, controls or compare --agreement; a table of shares or answers. May be given several times.",
    ),
    facts: Path = typer.Option(
        None, "--facts", help="A YAML file with facts about each model; multilingual: true or false makes blocks."
    ),
    resamples: int = options.Resamples,
    seed: int = typer.Option(0, "--seed", help="The seed of the bootstrap."),
) -> None:
    """Write one HTML file that works offline: verdict, heat map, intervals, likeness of languages, items, provenance."""
    from ..analysis.intervals import IntervalSettings
    from ..analysis.mixed import read_facts
    from ..reports.page.added_files import read_extras
    from ..reports.page.document import write_report

    extras = read_extras(add, facts=read_facts(facts) if facts else None)
    command = shlex.join(["isogloss", *sys.argv[1:]])
    path = write_report(
        runs, out, extras=extras, settings=IntervalSettings(resamples=resamples, seed=seed), command=command
    )
    size = path.stat().st_size / 1e6
    typer.echo(f"{path}: {size:.1f} MB")
