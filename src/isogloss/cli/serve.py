"""`isogloss serve`: a local page to probe, run and browse."""

from __future__ import annotations

from pathlib import Path

import typer


def serve(
    runs: Path = typer.Argument(Path("runs"), help="The folder of runs; everything that the pages keep is in it."),
    host: str = typer.Option(
        "127.0.0.1", "--host", help="Where to listen; elsewhere than on this machine a token is needed."
    ),
    port: int = typer.Option(8765, "--port", min=0, max=65535, help="The port; 0 takes a free one."),
    allow: list[str] = typer.Option(
        [],
        "--allow-models",
        help="Only these models may be opened; by default all that are on this machine. May be given several times.",
    ),
    any_model: bool = typer.Option(False, "--allow-any-model", help="Open any model, also from the hub."),
    names: list[str] = typer.Option(
        [], "--allow-host", help="A further name of this server. May be given several times."
    ),
    token: str = typer.Option(None, "--token", help="A token of your own; a random one is made where one is needed."),
    memory: float = typer.Option(4.0, "--memory", min=0.1, help="How many GB the models that are kept open may use."),
    warm: int = typer.Option(2, "--warm", min=1, help="How many models are kept open for probing."),
    at_once: int = typer.Option(
        2, "--at-once", min=1, help="How many evaluations run at a time, each of another model."
    ),
) -> None:
    """Serve a local page: probe models, run and watch studies, browse runs, check data, see what languages have."""
    from ..errors import require

    require("fastapi", extra="serve")
    from ..web.server import listen
    from ..web.settings import Limits, ServerSettings

    limits = Limits(warm=warm, memory=int(memory * 1e9), at_once=at_once)
    settings = ServerSettings(
        runs, host=host, token=token, names=tuple(names), models=tuple(allow), any_model=any_model, limits=limits
    )
    listen(settings, port=port, say=lambda line: typer.echo(line, err=True))
