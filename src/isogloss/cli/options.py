"""Options that several commands share, written once."""

from __future__ import annotations

import json
from typing import Any

import typer

from ..errors import IsoglossError

Data = typer.Option(..., "--data", help="A data set's name, a file, or a folder of files. May be given several times.")
Languages = typer.Option([], "--language", "-l", help="A language, by tag or name. May be given several times.")
Format = typer.Option(None, "--format", help="The data set family to read the files as, when it should not be guessed.")
SkipBad = typer.Option(False, "--skip-bad", help="Leave bad rows out and count them, instead of stopping.")
Where = typer.Option(
    [],
    "--where",
    help="Only items with this value in a column: original=yes, region=France,Germany, type!=saying. May be given several times.",
)
Interval = typer.Option(
    "auto",
    "--interval",
    help="bootstrap (over clusters), bca, wilson (independent items), or auto: Wilson's where it holds, else bootstrap.",
)
SHORT = ["lms", "ss", "icat"]
Json = typer.Option(False, "--json", help="Print JSON.")


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=1))


def one_of(**flags: bool) -> str | None:
    """The one flag that is set, or none; two are refused."""
    chosen = [name for name, on in flags.items() if on]
    if len(chosen) > 1:
        raise IsoglossError(f"Choose one of {', '.join('--' + name for name in chosen)}.")
    return chosen[0] if chosen else None


def split_names(text: str | None) -> list[str] | None:
    """The names in a comma-separated option."""
    return [name.strip() for name in text.split(",") if name.strip()] if text is not None else None


def split_pairs(pairs: list[str]) -> dict[str, str]:
    """The names and values in options written as name=value."""
    found = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise IsoglossError(f"'{pair}' is not an option. Write it as name=value, such as case=e.")
        found[name.strip()] = value.strip()
    return found
