"""Options that several commands share, written once."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import typer

from ..errors import IsoglossError
from ..files.hub import OFFLINE
from ..stats import RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ..scores import Scored
    from ..studies.connection import Cluster

Data = typer.Option(..., "--data", help="A data set's name, a file, or a folder of files. May be given several times.")


def split_languages(given: list[str]) -> list[str]:
    """The languages in options that may each name several."""
    return [name for text in given for name in split_names(text) or []]


Languages = typer.Option(
    [],
    "--language",
    "-l",
    help="A language, by tag or name. May be given several times, or several with commas.",
    callback=split_languages,
)
Format = typer.Option(None, "--format", help="The data set family to read the files as, when it should not be guessed.")
SkipBad = typer.Option(False, "--skip-bad", help="Leave bad rows out and count them, instead of stopping.")
Where = typer.Option(
    [],
    "--where",
    help="Only items with this value in a column: original=yes, region=France,Germany, type!=saying. May be given several times.",
)
Resamples = typer.Option(RESAMPLES, "--resamples", min=100, help="How many times items are resampled or permuted.")
Interval = typer.Option(
    "auto",
    "--interval",
    help="bootstrap (over clusters), bca, wilson (independent items), or auto: Wilson's where it holds, else bootstrap.",
)


def forbid_requests(offline: bool) -> bool:
    """With --offline, ask the hub for nothing: neither in this process nor in those that it starts."""
    if offline:
        os.environ[OFFLINE] = "1"
    return offline


Offline = typer.Option(
    False, "--offline", help="Make no request to the hub: use models and data of the cache.", callback=forbid_requests
)
HEADLINES = ["lms", "ss", "icat"]
Json = typer.Option(False, "--json", help="Print JSON.")
On = typer.Option(
    "here",
    "--on",
    help="here, or ray: the same cells on a Ray cluster. Settings follow after commas: "
    "ray,address=HOST:PORT,workers=N,threads=N,wait=SECONDS (without an address one is started on this machine).",
)


def find_cluster(on: str) -> Cluster | None:
    """The cluster to run on; none is this process."""
    if on == "here":
        return None
    name, _, rest = on.partition(",")
    if name != "ray":
        raise IsoglossError(f"--on takes 'here' or 'ray', not '{name}'.")
    from ..studies.connection import read_cluster

    return read_cluster(split_pairs(rest.split(",") if rest else []))


def read_finished(paths: list[Path]) -> Scored:
    """The scores of all runs in the folders; a run that is not finished is refused."""
    from ..runs import find_runs, read_scored, written_parts

    runs = [run for path in paths for run in find_runs(path)]
    for run in runs:
        if len(written_parts(run)) < run.parts:
            raise IsoglossError(f"The run {run.folder} is not finished. Run the same command again to complete it.")
    return read_scored(runs)


def print_with_notes(text: str, notes: Iterable[str]) -> None:
    """A text on standard output, and below it what must be said of the models and the data."""
    typer.echo("\n".join([text, *(f"· {note}" for note in notes)]))


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
