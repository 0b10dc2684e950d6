"""`isogloss language`: which languages there are, what each has, and how to add one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import options

if TYPE_CHECKING:
    from ..languages import Language

app = typer.Typer(help="List languages, show one, or start a new one.", no_args_is_help=True)


@app.command("list")
def list_languages(as_json: bool = options.Json) -> None:
    """List the languages that have a file."""
    from .. import languages

    found = [languages.get(tag) for tag in languages.tags()]
    if as_json:
        options.print_json([_facts(one) for one in found])
        return
    for one in found:
        typer.echo(f"{one.tag:8} {one.name:24} {one.script}  {one.direction}  {one.autonym}")


@app.command("show")
def show(
    name: str = typer.Argument(help="A tag or a name, such as 'de' or 'German'."), as_json: bool = options.Json
) -> None:
    """Show what is known about a language."""
    from .. import languages

    found = languages.get(name)
    if as_json:
        options.print_json(_facts(found) | {"sections": found.sections})
        return
    for key in languages.FACTS:
        typer.echo(f"{key:10} {getattr(found, key)}")
    typer.echo(f"{'has':10} {', '.join(found.sections) or 'no further sections'}")
    typer.echo(f"{'file':10} {found.path}")


def _facts(one: Language) -> dict[str, Any]:
    from .. import languages

    return {key: getattr(one, key) for key in languages.FACTS} | {"path": str(one.path)}


@app.command("new")
def new(
    tag: str = typer.Argument(help="The BCP 47 tag, such as 'sw' or 'zh-Hant'."),
    folder: Path = typer.Option(None, "--folder", help="Where to write it; by default the user's own folder."),
) -> None:
    """Write the skeleton of a new language file."""
    from .. import languages

    typer.echo(f"Wrote {languages.new(tag, folder=folder)}. Fill it in; see docs/languages.md.")
