"""`isogloss probe`: the terms that a model finds most probable in a template."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options


def probe(
    model: str = options.Model,
    template: str = typer.Argument(help='A template, such as "The {gender} is a \\[nurse|doctor]."'),
    language: str = typer.Option("en", "--language", "-l", help="The language of the template, by tag or name."),
    terms: str = typer.Option(
        None, "--terms", help="The slot whose terms are compared; by default the brackets, else the first slot."
    ),
    folder: Path = options.Folder,
    top: int = typer.Option(20, "--top", min=1, help="Show at most N terms."),
    limit: int = typer.Option(2000, "--limit", min=1, help="Refuse a template with more than N sentences."),
    device: str = options.Device,
    offline: bool = options.Offline,
    form: options.TextOrJson = options.Format,
) -> None:
    """Show which terms a model finds most probable in a template, as shares."""
    from .. import library
    from ..models.load import Loading
    from ..studies.probe import probe_as_text

    loading = Loading(device=device, offline=offline)
    result = library.probe(model, template, language=language, terms=terms, folder=folder, limit=limit, loading=loading)
    options.show(form, text=lambda: probe_as_text(result, top=top), json=result.to_dict)
