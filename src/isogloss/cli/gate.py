"""`isogloss gate`: leave with 1 when a model is worse than allowed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from . import options


def gate(
    runs: list[Path] = typer.Argument(help="Folders of runs."),
    limits: Path = typer.Option(..., "--limits", help="A YAML file with the limits; see docs/statistics.md."),
    strict: bool = typer.Option(
        False,
        "--strict",
        help="Fail unless the whole interval keeps the limit; by default fail only when none of it does.",
    ),
    resamples: int = typer.Option(10_000, "--resamples", min=100, help="How many bootstrap resamples."),
    seed: int = typer.Option(0, "--seed", help="The seed of the bootstrap."),
    as_json: bool = options.Json,
) -> None:
    """Check runs against limits: leaves with 0 when all are kept, with 1 when one is broken."""
    from .. import store
    from ..analysis import gates
    from ..report.sentences import explain_verdict

    wanted = gates.read_gate(limits)
    scored = store.read_scored([run for path in runs for run in store.find_runs(path)])
    found = gates.check_gate(scored, replace(wanted, strict=strict or wanted.strict), resamples=resamples, seed=seed)
    if as_json:
        options.print_json(gates.verdicts_as_json(found))
    else:
        typer.echo("\n".join(explain_verdict(one) for one in found))
    if not all(one.passed for one in found):
        raise typer.Exit(1)
