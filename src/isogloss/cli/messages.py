"""Messages of the library on the command line: an argument, which they write as `name` or `name=value`, becomes an option."""

from __future__ import annotations

import ast
import re

import typer

ARGUMENT = re.compile(r"`([a-z_]+)(?:=([^`]+))?`")
OTHER_NAMES = {"options": "option", "languages": "language", "licence": "license"}
FLAGS = {("design", "unpaired"): "--unpaired"}


def say(message: str) -> None:
    """Print a message of the library to standard error."""
    typer.echo(as_options(message), err=True)


def as_options(message: str) -> str:
    """The message with options in place of arguments: `skip_bad` is --skip-bad, `dtype='float32'` is --dtype float32."""
    return ARGUMENT.sub(lambda match: _option(match[1], match[2]), message)


def _option(name: str, text: str | None) -> str:
    option = f"--{OTHER_NAMES.get(name, name).replace('_', '-')}"
    if text is None:
        return option
    value = _value(text)
    if isinstance(value, dict):
        pairs = [f"{key}={inner}" for key, inner in value.items()]
        return " ".join(f"{option} {pair}" for pair in (pairs if name == "options" else [",".join(pairs)]))
    return FLAGS.get((name, str(value)), f"{option} {value}")


def _value(text: str) -> object:
    """What is written, as Python reads it; anything else stays text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
