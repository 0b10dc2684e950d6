"""`isogloss serve`: a local page to probe, run and browse."""

from __future__ import annotations

from pathlib import Path

import typer

from ..cli.commands import Commands


def serve(
    runs: Path = typer.Argument(Path("runs"), help="The folder of runs, where the pages store everything."),
    host: str = typer.Option(
        "127.0.0.1", "--host", help="The address to listen on; addresses other than this machine's need a token."
    ),
    port: int = typer.Option(8765, "--port", min=0, max=65535, help="The port; 0 takes a free one."),
    allow: list[str] = typer.Option(
        [],
        "--allow-models",
        metavar="MODEL",
        help="Open only this model, or 'any' model, even from the hub; by default, all on this machine. "
        "ADDRESS=NAME is a served model. May be repeated.",
    ),
    names: list[str] = typer.Option([], "--allow-host", help="Another name of this server. May be repeated."),
    token: str = typer.Option(
        None, "--token", metavar="TEXT", help="Your own token; by default a random one, where needed."
    ),
    memory: float = typer.Option(4.0, "--memory", min=0.1, help="Keep models open up to N GB."),
    warm: int = typer.Option(2, "--warm", min=1, help="Keep at most N models open for probing."),
    at_once: int = typer.Option(2, "--at-once", min=1, help="Run at most N evaluations at a time, one per model."),
) -> None:
    """Serve a local page to probe models, run studies, browse runs and check data."""
    from ..errors import require

    require("fastapi", extra="serve")
    from .server import listen
    from .settings import Limits, ServerSettings

    limits = Limits(warm=warm, memory=int(memory * 1e9), at_once=at_once)
    settings = ServerSettings(
        runs,
        host=host,
        token=token,
        names=tuple(names),
        models=tuple(name for name in allow if name != "any"),
        any_model="any" in allow,
        limits=limits,
    )
    listen(settings, port=port, say=lambda line: typer.echo(line, err=True))


commands = Commands("Look", {"serve": serve})
