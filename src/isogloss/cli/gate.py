"""`isogloss gate`: an exit status that says whether a model meets its limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from ..errors import IsoglossError
from . import options

EXIT = {"passed": 0, "failed": 1, "undecided": 3}


def gate(
    runs: list[Path] = typer.Argument(help="Folders of runs."),
    limits: Path = typer.Option(None, "--limits", help="A YAML file with the limits.", show_default=False),
    baseline: Path = typer.Option(
        None, "--baseline", help="A folder of runs that these must not be worse than.", show_default=False
    ),
    margin: float = typer.Option(2.0, "--margin", min=0, help="With --baseline: how many points worse is allowed."),
    strict: bool = typer.Option(False, "--strict", help="Exit with 1 instead of 3 when a limit is undecided."),
    resamples: int = options.Resamples,
    seed: int = typer.Option(0, "--seed", help="The seed of the bootstrap."),
    as_json: bool = options.Json,
) -> None:
    """Check runs against limits: exits with 0 if all are passed, 1 if any failed, 3 if any is undecided, 2 for an error."""
    from ..analysis import gates
    from ..reports.text.sentences import explain_verdicts

    if limits is None and baseline is None:
        raise IsoglossError("Give --limits FILE, --baseline RUN, or both.")
    wanted = gates.read_gate(limits) if limits else gates.Gate(())
    wanted = replace(wanted, strict=strict or wanted.strict)
    scored = options.read_finished(runs)
    found = gates.check_gate(scored, wanted, resamples=resamples, seed=seed)
    if baseline:
        before = options.read_finished([baseline])
        found += gates.check_baseline(scored, before, gate=wanted, margin=margin, resamples=resamples)
    if as_json:
        options.print_json(gates.verdicts_as_json(found, strict=wanted.strict))
    else:
        typer.echo(explain_verdicts(found, notes=scored.notes))
    raise typer.Exit(EXIT[gates.overall(found, strict=wanted.strict)])
