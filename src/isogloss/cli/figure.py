"""`isogloss figure`: runs, data and other results as figures for papers."""

from __future__ import annotations

from pathlib import Path

import typer

from ..errors import IsoglossError
from . import options


def figure(
    name: str = typer.Argument(None, help="The figure; see --list.", show_default=False),
    sources: list[str] = typer.Argument(
        None, help="Folders of runs, or what else the figure needs.", show_default=False
    ),
    kind: str = typer.Option("png", "--format", help="png, svg or pdf; the ending of --out decides when it has one."),
    out: Path = typer.Option(
        None, "--out", "-o", help="The file to write; by default NAME.FORMAT.", show_default=False
    ),
    width: str = typer.Option("single", "--width", help="single (3.3 in), double (6.9 in), or inches."),
    languages: list[str] = options.Languages,
    metrics: str = typer.Option(None, "--metrics", help="Metrics, comma-separated, instead of the figure's own."),
    where: list[str] = typer.Option([], "--where", help="Only scores with this value in a column, as in set=gender."),
    names: str = typer.Option("english", "--names", help="How languages are named: english, own or tag."),
    facts: Path = typer.Option(
        None, "--facts", help="A YAML file with facts about each model; multilingual: true or false makes blocks."
    ),
    mode: str = typer.Option("corrected", "--mode", help="corrected (ties count one half) or paper (as published)."),
    resamples: int = options.Resamples,
    seed: int = typer.Option(0, "--seed", help="The seed of the bootstrap."),
    list_: bool = typer.Option(False, "--list", help="List the figures and what each of them needs."),
) -> None:
    """Draw a figure for a paper: PNG, SVG or PDF, in one or two columns, with intervals."""
    from ..reports.figures import list_figures

    if list_:
        typer.echo(list_figures())
        return
    if name is None or not sources:
        raise IsoglossError("Name a figure and what it is made of. See: isogloss figure --list")
    from ..analysis.intervals import IntervalSettings
    from ..analysis.mixed import read_facts
    from ..languages import resolve
    from ..reports.figures import FigureRequest, write_figure
    from ..reports.figures._style import choose_file, open_canvas

    tags = [resolve(one) for one in languages]
    request = FigureRequest(
        tuple(sources),
        tuple(tags),
        metrics=tuple(options.split_names(metrics) or ()),
        where=options.split_pairs(where),
        mode=mode,
        facts=read_facts(facts) if facts else {},
        drawing=IntervalSettings(resamples=resamples, seed=seed),
    )
    path = choose_file(name, kind, out=out)
    drawn = write_figure(name, request, path=path, canvas=open_canvas(width, names=names, languages=tags))
    typer.echo(f"{path}: {drawn.inches[0]:.2f} x {drawn.inches[1]:.2f} in\n{drawn.caption}")
