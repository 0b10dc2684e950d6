"""`isogloss change`: what changed between runs over the same items, and where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import IsoglossError
from . import options

if TYPE_CHECKING:
    from ..analysis.changes import Changes


def exit_status(changes: Changes) -> int:
    """0 where every group is equivalent, 1 where one changed, 3 where one is undecided or not interpretable."""
    from ..analysis.changes import CHANGED, EQUIVALENT

    states = {row.state for row in changes}
    return 1 if CHANGED in states else 0 if states == {EQUIVALENT} else 3


def change(
    runs: list[Path] = typer.Argument(
        help="Two runs, or more in order: folders of runs, or prediction files with --data.",
        metavar="BEFORE AFTER [AFTER...]",
    ),
    repeat: Path = typer.Option(None, "--repeat", metavar="RUNS", help="A second run of BEFORE, for the noise floor."),
    margin: float = typer.Option(2.0, "--margin", min=0.0, help="Count a change within N points as no change."),
    metric: str = typer.Option(None, "--metric", help="A mean over items: ss (the default), lms, crows, ..."),
    data: list[str] = options.PredictionData,
    by: str = options.By,
    mode: str = options.Mode,
    flips: Path = typer.Option(
        None,
        "--flips",
        metavar="FILE",
        help="Also write the items whose preference changed between the first run and the last.",
    ),
    gate: bool = typer.Option(
        False, "--gate", help="With two runs: exit with status 1 if any group changed, 3 if any is undecided."
    ),
    resamples: int = options.Resamples,
    seed: int = options.Seed,
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Show what changed between runs: flips, groups that changed, and, in a series, at which step the value changed."""
    from .. import library
    from ..analysis import changes, series
    from ..atomic_files import write_file
    from ..reports.text.change import grid, series_grid

    scored = [library.load(path, data=data or None) for path in runs]
    settings: dict[str, Any] = {"metric": metric, "mode": mode, "resamples": resamples, "seed": seed}
    if flips is not None and len(runs) > 1:
        turned = changes.list_flips(scored[0], scored[-1], metric=metric, mode=mode)
        write_file(flips, turned.write_csv().encode())
    if len(runs) == 2:
        again = library.load(repeat, data=data or None) if repeat else None
        result = changes.change(*scored, by=options.split_names(by), margin=margin, repeat=again, **settings)
        options.show_table(output_format, result, grid=grid)
        raise typer.Exit(exit_status(result) if gate else 0)
    if repeat or by or gate:
        raise IsoglossError("--repeat, --by and --gate are for two runs. Give BEFORE and AFTER only.")
    options.show_table(output_format, series.trace(scored, **settings), grid=series_grid)
