"""`isogloss probe`: one template, one model, the terms' shares as bars."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from . import options


def probe(
    model: str = typer.Argument(help="A pulled model, a folder, a GGUF file, or a hub name (name@revision)."),
    template: str = typer.Argument(help='A template: "The {gender} is a \\[nurse|doctor]."; see docs/templates.md.'),
    language: str = typer.Option("en", "--language", "-l", help="The language of the template, by tag or name."),
    terms: str = typer.Option(
        None, "--terms", help="The slot whose terms are compared; by default brackets, else the first slot."
    ),
    folder: Path = typer.Option(None, "--folder", help="A folder of your own with vocabularies."),
    top: int = typer.Option(20, "--top", min=1, help="At most so many terms."),
    limit: int = typer.Option(2000, "--limit", min=1, help="At most so many sentences; more are refused."),
    device: str = typer.Option("cpu", "--device", help="cpu, cuda, cuda:1, mps."),
    offline: bool = options.Offline,
    as_json: bool = options.Json,
) -> None:
    """Show which terms a model finds most probable in a template, as shares."""
    from ..models.load import Loading
    from ..reports.text.table import bars_as_text
    from ..studies.probe import ProbeRequest, run_probe

    loading = Loading(device=device, offline=offline)
    found = run_probe(model, ProbeRequest(template, language, terms, folder), limit=limit, loading=loading)
    if as_json:
        options.print_json(asdict(found))
        return
    typer.echo(f"{found.model} · {found.language} · {found.method} · {found.sentences} sentences\n")
    typer.echo(bars_as_text([(one.term, one.share, one.sentence) for one in found.shares[:top]]))
    left = len(found.shares) - top
    more = f"; {left} more terms" if left > 0 else ""
    over = f", mean over {found.concepts} concepts" if found.concepts > 1 else ""
    typer.echo(f"\nshares of whole-sentence probability{over}{more}", err=True)
    typer.echo("longer and rarer words have smaller shares, whatever they are about", err=True)
