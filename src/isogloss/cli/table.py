"""`isogloss table`: runs as a table for a paper, or as results for a model card."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options


def table(
    runs: list[str] = typer.Argument(help="Folders of runs."),
    kind: str = typer.Option("markdown", "--format", help="latex, markdown, csv, parquet or model-index."),
    out: Path = typer.Option(None, "--out", "-o", help="The file to write instead of printing.", show_default=False),
    languages: list[str] = options.Languages,
    metrics: str = typer.Option(None, "--metrics", help="Metrics, comma-separated; by default LMS, SS and ICAT."),
    task: str = typer.Option(None, "--task", help="One task only, or 'all' for the table over all tasks."),
    intervals: bool = typer.Option(False, "--intervals", help="Show 95 % intervals below the values."),
    facts: Path = typer.Option(
        None, "--facts", help="A YAML file with facts about each model: multilingual makes blocks, label names a row."
    ),
    mode: str = typer.Option("corrected", "--mode", help="corrected (ties count one half) or paper (as published)."),
    interval: str = options.Interval,
    resamples: int = options.Resamples,
    seed: int = typer.Option(0, "--seed", help="The seed of the bootstrap."),
) -> None:
    """Make a table for a paper: monolingual models over multilingual, languages under each metric, the best in bold."""
    from ..analysis.intervals import IntervalSettings
    from ..analysis.mixed import read_facts
    from ..reports.paper.output import Paper, write_paper
    from ..reports.paper.tables import Layout

    paper = Paper(
        tuple(runs),
        tuple(languages),
        tuple(options.split_names(metrics) or ()),
        mode=mode,
        drawing=IntervalSettings(interval, resamples, seed),
        facts=read_facts(facts) if facts else {},
    )
    text = write_paper(paper, kind, layout=Layout({}, {}, task, intervals, resamples), out=out)
    typer.echo(text.rstrip("\n"))
