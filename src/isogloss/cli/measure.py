"""`isogloss measure`: stored scores become numbers."""

from __future__ import annotations

from pathlib import Path

import typer

from ..errors import IsoglossError
from . import options


def measure(
    runs: list[Path] = typer.Argument(None, help="Folders of runs.", show_default=False),
    predictions: Path = typer.Option(None, "--predictions", help="A file in StereoSet's prediction layout."),
    data: list[str] = typer.Option(
        [], "--data", help="The data that the predictions belong to; may be given several times."
    ),
    languages: list[str] = options.Languages,
    by: str = typer.Option(None, "--by", help="Columns to group by, comma-separated: task,language,category,target."),
    metrics: str = typer.Option(None, "--metrics", help="Metrics, comma-separated; by default all that fit the data."),
    mode: str = typer.Option("corrected", "--mode", help="corrected (ties count one half) or paper (as published)."),
    interval: str = options.Interval,
    resamples: int = options.Resamples,
    seed: int = typer.Option(0, "--seed", help="The seed of the bootstrap."),
    skip_bad: bool = options.SkipBad,
    as_json: bool = options.Json,
    as_csv: bool = typer.Option(False, "--csv", help="Print CSV, one line per measure."),
    as_latex: bool = typer.Option(False, "--latex", help="Print a LaTeX table (booktabs)."),
    as_markdown: bool = typer.Option(False, "--markdown", help="Print a Markdown table."),
) -> None:
    """Measure runs, or scores that were made elsewhere (--predictions with --data)."""
    from ..analysis import measures
    from ..reports.text.measures import measures_as_csv, measures_as_latex, measures_as_markdown, measures_as_text
    from ..runs import find_runs, in_languages, read_scored

    form = options.one_of(json=as_json, csv=as_csv, latex=as_latex, markdown=as_markdown)
    if bool(runs) == (predictions is not None) or (runs and data):
        raise IsoglossError("Give either runs, or --predictions FILE with --data PATH.")
    if predictions is not None:
        from ..files.sources import read_many
        from .sides import load_predictions

        scored = load_predictions(predictions, read_many(data, language=languages, skip_bad=skip_bad))
    else:
        scored = read_scored(in_languages([run for path in runs for run in find_runs(path)], languages))
    found = measures.measure(
        scored,
        metrics=options.split_names(metrics),
        by=options.split_names(by),
        mode=mode,
        interval=interval,
        resamples=resamples,
        seed=seed,
    )
    if form == "json":
        options.print_json(measures.measures_as_json(found))
    else:
        show = {
            "csv": measures_as_csv,
            "latex": measures_as_latex,
            "markdown": measures_as_markdown,
        }
        typer.echo(show.get(form or "", measures_as_text)(found).rstrip("\n"))
