"""`isogloss explain`: what each metric is, what was published, and how many points the differences make."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options


def explain(
    runs: list[Path] = typer.Argument(help="Folders of runs, or one file of predictions with --data."),
    data: list[str] = typer.Option([], "--data", help="The data that the predictions belong to."),
    metrics: str = typer.Option(None, "--metrics", help="Metrics, comma-separated; by default all that fit the data."),
    as_json: bool = options.Json,
) -> None:
    """Explain each metric: the published definition, what the published code does, ours, and the points between them."""
    from ..analysis.explanations import explain_scores, explanations_as_json
    from ..reports.text.explanations import explanations_as_text
    from ..scores import join_scored
    from .sides import load_side

    scored = join_scored([load_side(path, data=data, where={}) for path in runs])
    found = explain_scores(scored, metrics=options.split_names(metrics))
    if as_json:
        options.print_json(explanations_as_json(found))
    else:
        typer.echo(explanations_as_text(found))
