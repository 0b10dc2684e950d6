"""`isogloss mbe`: single sentences of two groups, with the tests that belong to them."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options


def mbe(
    runs: list[Path] = typer.Argument(help="Folders of runs on single sentences."),
    mode: str = typer.Option(
        "corrected", "--mode", help="corrected (cosines, ties half) or paper (dot products, strict)."
    ),
    resamples: int = options.Resamples,
    permutations: int = typer.Option(2_000, "--permutations", min=100, help="How many permutations of the labels."),
    seed: int = typer.Option(0, "--seed", help="The seed of all that is drawn."),
    as_json: bool = options.Json,
) -> None:
    """Measure MBE with an interval over sentences, a permutation test, McNemar's as published, and Shf."""
    from ..analysis import mbe_tests
    from ..reports.text.mbe import mbe_as_text
    from ..runs import find_runs, read_scored

    scored = read_scored([run for path in runs for run in find_runs(path)])
    found = mbe_tests.check_mbe(scored, mode=mode, resamples=resamples, permutations=permutations, seed=seed)
    if as_json:
        options.print_json(mbe_tests.tests_as_json(found))
    else:
        options.print_with_notes(mbe_as_text(found), scored.notes)
