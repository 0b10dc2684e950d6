"""How large the command line is, and what its help looks like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from typer.testing import CliRunner

from isogloss import registry
from isogloss.cli import PANELS, app
from isogloss.cli.options import split_columns
from support.offenders import for_every


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with its words."""
    inner = getattr(command, "commands", None)
    if not inner:
        yield path, command
    for name, one in (inner or {}).items():
        yield from leaves(one, (*path, name))


COMMANDS = dict(leaves(typer.main.get_command(app)))


def options_of(command: Any) -> list[Any]:
    return [one for one in command.params if one.param_type_name == "option"]


def test_there_are_at_most_50_commands_with_375_options():
    assert len(COMMANDS) <= 50
    assert sum(len(options_of(command)) for command in COMMANDS.values()) <= 375


def test_the_help_groups_every_command():
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "100"}).stdout
    assert [name for name in PANELS if f"─ {name} ─" not in shown] == []
    assert "─ Commands ─" not in shown


@for_every(words=COMMANDS)
def test_help_shows_no_python_types_and_every_option_has_help(words):
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"}).stdout
    assert not any(kind in shown for kind in ("<bool>", "<str>", "<int", "<path>", "<float", "list[", "x>="))
    assert all(one.help for one in options_of(COMMANDS[words]))


def test_out_has_one_short_name_everywhere():
    found = [one.opts for command in COMMANDS.values() for one in options_of(command) if "--out" in one.opts]
    assert all("-o" in opts for opts in found)


def test_the_help_of_figure_says_what_each_figure_needs():
    shown = CliRunner().invoke(app, ["figure", "--help"], env={"COLUMNS": "200"}).stdout.replace("│", " ")
    needs = " ".join(shown.partition("What each needs")[2].partition("Arguments")[0].split())
    assert [name for name in registry.names("figure") if name not in needs] == []


def test_columns_may_be_given_in_one_option_or_in_several():
    assert split_columns(["stereotype=a,anti_stereotype=b"]) == split_columns(["stereotype=a", "anti_stereotype=b"])
    assert split_columns(None) == {}
