"""The server: listens, prints its address once, and stops without a traceback."""

import secrets
import socket
from collections.abc import Callable
from dataclasses import replace

from ..errors import IsoglossError
from .app import make_app
from .settings import ServerSettings

GRACE = 2


def listen(settings: ServerSettings, *, port: int, say: Callable[[str], None]) -> None:
    """Serve until stopped; `say` gets the address, with the token where there is one."""
    import uvicorn

    if not settings.local and not settings.token:
        settings = replace(settings, token=secrets.token_urlsafe(32))
    app = make_app(settings)
    settings.root.mkdir(parents=True, exist_ok=True)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((settings.host, port))
            opened.listen()  # before the address is said: who follows it at once waits instead of being refused
        except (OSError, OverflowError) as error:
            raise IsoglossError(
                f"Cannot listen on {settings.host}, port {port}: {error}. Choose others with --host and --port."
            ) from error
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        token = f"?token={settings.token}" if settings.token else ""  # which is needed once
        say(f"Isogloss is at http://{host}:{opened.getsockname()[1]}/{token}")
        say(f"Runs are in {settings.root}. Press Ctrl+C to stop.")
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE,
        )
        uvicorn.Server(config).run(sockets=[opened])
