"""Commands of satellites and of other packages: each entry point of the group `isogloss.commands` is one `Commands`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import typer

from .. import registry


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands by name, and the panel of the help that they are listed in; `data build` is added to the group `data`.

    Another package defines `commands = Commands("Data", {"data scrape": scrape})`, and names it in its `pyproject.toml`:
    `[project.entry-points."isogloss.commands"]`, `scraper = "my_package.cli:commands"`.
    """

    panel: str
    functions: Mapping[str, Callable[..., Any] | typer.Typer]


def load_commands() -> Iterator[Commands]:
    """The commands of all satellites that are installed, and of other packages."""
    yield from registry.load_all("command").values()


def add_commands(app: typer.Typer, panel: str, *, functions: Mapping[str, Callable[..., Any] | typer.Typer]) -> None:
    """Add commands and groups of commands to the command line, or to a group that it has."""
    for name, function in functions.items():
        if isinstance(function, typer.Typer):
            app.add_typer(function, name=name, rich_help_panel=panel)
        elif " " in name:
            group, _, inner = name.partition(" ")
            named = [group_info.typer_instance for group_info in app.registered_groups if group_info.name == group]
            if named and named[0] is not None:
                named[0].command(inner)(function)
        else:
            app.command(name, rich_help_panel=panel)(function)
