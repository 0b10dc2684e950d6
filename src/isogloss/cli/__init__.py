"""The command line: each command is one library call and one print."""

from __future__ import annotations

import os
import re
import sys
import warnings
from contextlib import redirect_stdout
from typing import Any, TextIO

import typer

from ..errors import IsoglossError, without_controls
from ..files.hub import on_message
from . import ask, change, data, examples, labels, measure, model, options, output, plan, score, templates
from .commands import add_commands, load_commands
from .messages import say

COLOUR = re.compile("(\x1b\\[[0-9;]*m)")

app = typer.Typer(
    name="isogloss",
    help="Measure stereotypes of language models across languages, with confidence intervals.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
PANELS: dict[str, dict[str, Any]] = {
    "Score": {"eval": score.evaluate, "ask": ask.ask, "run": score.run, "probe": score.probe},
    "Measure": {
        "measure": measure.measure,
        "compare": measure.compare,
        "change": change.change,
        "plan": plan.plan,
        "gate": measure.gate,
        "claims": measure.claims_app,
    },
    "Analyze": {
        "controls": measure.controls,
        "robustness": score.robustness,
        "shares": measure.shares,
        "agreement": measure.agreement,
        "structure": measure.structure,
        "mixed": measure.mixed,
        "explain": measure.explain,
        "verdicts": labels.verdicts,
        "labels": labels.app,
    },
    "Look": {
        "report": output.report,
        "figure": output.figure,
        "table": output.table,
        "cite": output.cite,
        "methods": output.methods,
        "show": output.show,
        "list": output.list_known,
    },
    "Data": {"data": data.app, "templates": templates.app},
    "Models and languages": {"model": model.models, "language": model.languages},
}
for panel, commands in PANELS.items():
    add_commands(app, panel, functions=commands)
for satellite in load_commands():
    add_commands(app, satellite.panel, functions=satellite.functions)
options.name_values(app)
examples.add_examples(app)
options.hide_types()
INTERRUPTED = 130
RESUMING = ("ask", "eval", "nsp", "pull", "run", "translate")  # commands that keep what is finished


def _version(value: bool) -> None:
    if value:
        from .. import __version__

        typer.echo(f"isogloss {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: bool = typer.Option(False, "--debug", help="Show a traceback on errors."),
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


class Screen:
    """A terminal to which text goes without control characters, but for colors: a model's name may hold any."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        pieces = COLOUR.split(text)
        self.stream.write(
            "".join(piece if index % 2 else without_controls(piece) for index, piece in enumerate(pieces))
        )
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def main() -> None:
    """Run the command line; a user's mistake prints one line and exits with status 2."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # bars of other libraries
    on_message.set(say)
    warnings.showwarning = lambda message, *rest, **more: say(f"Warning: {without_controls(str(message))}")
    try:
        with redirect_stdout(Screen(sys.stdout) if sys.stdout.isatty() else sys.stdout):
            status = app(standalone_mode=False, prog_name="isogloss") or 0
        if status == INTERRUPTED:
            resumes = any(word in RESUMING for word in sys.argv[1:3])
            say(f"Stopped.{' What is finished is kept; the same command resumes.' if resumes else ''}")
        sys.exit(status)
    except IsoglossError as error:
        if "--debug" in sys.argv:
            raise
        say(f"Error: {error}")
        sys.exit(2)
    except typer.Abort:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a name that is too long, a folder that cannot be read or written, a full disk
        if "--debug" in sys.argv:
            raise
        where = f" {str(error.filename)[:200]}" if error.filename else ""
        say(f"Error: Cannot read or write{where} ({error.strerror or type(error).__name__}).")
        sys.exit(2)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        message = " ".join(error.format_message().replace("Value error, ", "").split())
        if not message:  # a group without a command has shown its help
            sys.exit(0)
        context = getattr(error, "ctx", None)
        command, end = context.command_path if context else "isogloss", "" if message.endswith((".", ")", "?")) else "."
        say(f"Error: {message}{end} See: {command} --help")
        sys.exit(2)


if __name__ == "__main__":
    main()
