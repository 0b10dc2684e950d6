"""`isogloss change`: what changed between runs over the same items, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ..errors import IsoglossError
from . import options


def change(
    runs: list[Path] = typer.Argument(
        help="BEFORE and AFTER, or three and more runs in order; folders of runs, or prediction files with --data.",
        metavar="BEFORE AFTER [AFTER...]",
    ),
    repeat: Path = typer.Option(None, "--repeat", metavar="RUNS", help="A second run of BEFORE, for the noise floor."),
    margin: float = typer.Option(2.0, "--margin", min=0.0, help="Count a change within N points as none."),
    metric: str = typer.Option(None, "--metric", help="A mean over items: ss (the default), lms, crows, ..."),
    data: list[str] = options.PredictionData,
    by: str = options.By,
    mode: str = options.Mode,
    flips: Path = typer.Option(
        None,
        "--flips",
        metavar="FILE",
        help="Also write the items whose preference changed from the first run to the last.",
    ),
    resamples: int = options.Resamples,
    seed: int = options.Seed,
    form: options.AnyFormat = options.Format,
) -> None:
    """Show what changed between runs: flips, groups that moved, and in a series the step where it happened.

    Examples:

    isogloss change runs/base runs/chat --by category

    isogloss change runs/step1000 runs/step2000 runs/step3000 --metric lms
    """
    from .. import library
    from ..analysis import changes, series
    from ..reports.text.change import grid, series_grid
    from ..sealing import write_file

    scored = [library.load(path, data=data or None) for path in runs]
    settings: dict[str, Any] = {"metric": metric, "mode": mode, "resamples": resamples, "seed": seed}
    if flips is not None and len(runs) > 1:
        turned = changes.list_flips(scored[0], scored[-1], metric=metric, mode=mode)
        write_file(flips, turned.write_csv().encode())
    if len(runs) == 2:
        again = library.load(repeat, data=data or None) if repeat else None
        result = changes.change(*scored, by=options.split_names(by), margin=margin, repeat=again, **settings)
        options.show_table(form, result, grid=grid)
    elif repeat or by:
        raise IsoglossError("--repeat and --by are for two runs. Give BEFORE and AFTER only.")
    else:
        options.show_table(form, series.trace(scored, **settings), grid=series_grid)
