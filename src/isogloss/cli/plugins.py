"""`isogloss list`: what there is to choose from."""

from __future__ import annotations

import typer

from . import options

KINDS = {
    "datasets": "dataset",
    "methods": "method",
    "metrics": "metric",
    "families": "family",
    "translators": "translator",
    "figures": "figure",
}


def list_plugins(
    kind: str = typer.Argument(None, help=f"One of {', '.join([*KINDS, 'languages'])}; all when left out."),
    as_json: bool = options.Json,
) -> None:
    """List data sets, methods, metrics, model families, translators, figures and languages."""
    from .. import languages, registry
    from ..errors import UnknownName

    found = {plural: registry.names(singular) for plural, singular in KINDS.items()} | {"languages": languages.tags()}
    if kind is not None and kind not in found:
        raise UnknownName("list", kind, found)
    chosen = {kind: found[kind]} if kind else found
    if as_json:
        options.print_json(chosen)
        return
    for name, entries in chosen.items():
        typer.echo(f"{name}: {', '.join(entries)}")
