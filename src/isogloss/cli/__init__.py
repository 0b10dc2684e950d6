"""The command line: each command is one library call and one print."""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import redirect_stdout
from typing import Any, TextIO

import typer

from ..errors import IsoglossError, without_controls
from ..files.hub import report as report_download
from . import (
    ask,
    compare,
    controls,
    data,
    evaluate,
    explain,
    figure,
    gate,
    language,
    mbe,
    measure,
    model,
    nsp,
    plugins,
    probe,
    report,
    robustness,
    run,
    serve,
    show,
    structure,
    table,
    templates,
)

COLOUR = re.compile("(\x1b\\[[0-9;]*m)")

app = typer.Typer(
    name="isogloss",
    help="Measure where a language model's stereotypes change, and how sure that is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("eval")(evaluate.evaluate)
app.command("ask")(ask.ask)
app.command("run")(run.run)
app.command("measure")(measure.measure)
app.command("mbe")(mbe.mbe)
app.command("compare")(compare.compare)
app.command("gate")(gate.gate)
app.command("structure")(structure.structure)
app.command("controls")(controls.controls)
app.command("robustness")(robustness.robustness)
app.command("explain")(explain.explain)
app.command("report")(report.report)
app.command("figure")(figure.figure)
app.command("table")(table.table)
app.command("serve")(serve.serve)
app.command("show")(show.show)
app.command("probe")(probe.probe)
app.command("list")(plugins.list_plugins)
app.add_typer(data.app, name="data")
app.add_typer(language.app, name="language")
app.add_typer(model.app, name="model")
app.add_typer(nsp.app, name="nsp")
app.add_typer(templates.app, name="templates")


def _version(value: bool) -> None:
    if value:
        from .. import __version__

        typer.echo(f"isogloss {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: bool = typer.Option(False, "--debug", help="Show a traceback when something goes wrong."),
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and leave."
    ),
) -> None:
    pass


def _usage(error: Any) -> str:
    """What was wrong with the words of a command, and where its help is, in one line."""
    where = getattr(error, "ctx", None)
    command = where.command_path if where else "isogloss"
    message = " ".join(error.format_message().split())
    return f"{message}{'' if message.endswith(('.', ')', '?')) else '.'} See: {command} --help"


class Screen:
    """A terminal to which text goes without control characters, but for colours: a model's name may hold any."""

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
    """Run the command line; a user's mistake prints one line and leaves with 2."""
    report_download.set(lambda line: typer.echo(line, err=True))
    warnings.showwarning = lambda message, *rest, **more: typer.echo(
        f"Warning: {without_controls(str(message))}", err=True
    )
    try:
        with redirect_stdout(Screen(sys.stdout) if sys.stdout.isatty() else sys.stdout):
            sys.exit(app(standalone_mode=False) or 0)
    except IsoglossError as error:
        if "--debug" in sys.argv:
            raise
        typer.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        if not error.format_message().strip():  # a group without a command has shown its help
            sys.exit(0)
        typer.echo(f"Error: {_usage(error)}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)


if __name__ == "__main__":
    main()
