"""`isogloss show`: what a run holds, one of its items token by token, or its most and least stereotyped expressions."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options


def show(
    run: Path = typer.Argument(help="The folder of a run, or of a study."),
    item: str = typer.Argument(None, help="An item's id; without it, the runs are listed."),
    extremes: int = typer.Option(
        None,
        "--extremes",
        min=1,
        help="So many most and least stereotyped expressions per language (runs of contrast).",
    ),
    languages: list[str] = options.Languages,
    cite: bool = typer.Option(False, "--cite", help="What to cite: data, method, metrics and Isogloss, with BibTeX."),
    as_json: bool = options.Json,
) -> None:
    """Show the runs in a folder, one item's candidates with log-probabilities, or the most and least stereotyped expressions."""
    from ..analysis.inspection import inspect_item, list_runs
    from ..errors import IsoglossError
    from ..reports.text.runs import extremes_as_text, inspection_as_text

    if item and (extremes or languages):
        raise IsoglossError("Give either an item's id, or --extremes, with --language for some languages only.")
    if cite:
        _show_citations(run, as_json=as_json)
        return
    if extremes:
        from .. import runs
        from ..analysis.extremes import find_extremes

        rows = find_extremes(runs.in_languages(runs.find_runs(run), languages), extremes)
        if as_json:
            options.print_json(rows)
        else:
            typer.echo(extremes_as_text(rows))
        return
    found = inspect_item(run, item) if item else list_runs(run)
    if as_json:
        options.print_json(found)
    else:
        typer.echo(inspection_as_text(found))


def _show_citations(run: Path, *, as_json: bool) -> None:
    from .. import runs
    from ..reports.text.citations import citations_as_json, citations_as_text, cite_runs

    found = cite_runs(runs.find_runs(run))
    if as_json:
        options.print_json(citations_as_json(found))
    else:
        typer.echo(citations_as_text(found))
