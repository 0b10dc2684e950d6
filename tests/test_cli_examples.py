"""Every command's help has two examples that its parser accepts, and its options stand in panels."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import typer

from isogloss.cli import app
from isogloss.cli.examples import EXAMPLES, PANEL_OF
from support.offenders import for_every


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group) or hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


ALL = dict(commands(typer.main.get_command(app)))


def test_every_command_has_two_examples():
    assert set(EXAMPLES) == set(ALL)
    assert {len(examples) for examples in EXAMPLES.values()} == {2}


@for_every(name=sorted(EXAMPLES))
def test_the_examples_of_a_command_are_accepted_by_its_parser(name):
    for example in EXAMPLES[name]:
        words = shlex.split(example.partition(" > ")[0])
        assert words[: len(name.split()) + 1] == ["isogloss", *name.split()]
        with ALL[name].make_context(name, words[len(name.split()) + 1 :], resilient_parsing=False):
            pass


def test_options_stand_in_panels():
    panels = {
        name: {getattr(option, "rich_help_panel", None) for option in ALL[name].params if option.opts[0] in PANEL_OF}
        for name in ("eval", "ask", "run", "measure")
    }
    assert {"Data", "Scoring", "Server", "Measuring", "Machine", "Output"} <= panels["eval"]
    assert all(None not in named for named in panels.values())


def test_the_help_shows_its_examples(command):
    code, shown, _ = command("eval", "--help")
    assert code == 0
    assert "Examples:" in shown
    assert EXAMPLES["eval"][0] in shown
