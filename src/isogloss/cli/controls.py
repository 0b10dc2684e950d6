"""`isogloss controls`: the score beside what should not have one."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options


def controls(
    runs: list[Path] = typer.Argument(help="Folders of runs; those made with eval --controls also have control items."),
    frequencies: Path = typer.Option(
        None,
        "--frequencies",
        help="A word list with counts, one word per line; by default words are counted in the data.",
    ),
    resamples: int = options.Resamples,
    seed: int = typer.Option(0, "--seed", help="The seed of permutations and resamples."),
    as_json: bool = options.Json,
) -> None:
    """Show SS beside that of neutral and shuffled control items, of permuted labels, and of models that like short or frequent words."""
    import polars as pl

    from ..analysis.controls import check_controls, controls_as_json, read_frequencies
    from ..reports.text.controls import controls_as_text
    from ..runs import find_runs, read_items, read_scored

    counts = read_frequencies(frequencies) if frequencies else None
    found = [run for path in runs for run in find_runs(path)]
    items = pl.concat([read_items(run) for run in found], how="diagonal_relaxed")
    scored = read_scored(found)
    shown = check_controls(scored, items, frequencies=counts, resamples=resamples, seed=seed)
    if as_json:
        options.print_json(controls_as_json(shown))
    else:
        options.print_with_notes(controls_as_text(shown), scored.notes)
