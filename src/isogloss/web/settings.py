"""Settings of the server: where the runs are, who has access, which models may be opened, and how much at once."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from ..errors import IsoglossError

TOKEN = re.compile(r"[A-Za-z0-9_.~-]{16,200}")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is taken at once: warm models and their bytes, evaluations, bytes and rows of an upload, a probe's text."""

    warm: int = 2
    memory: int = 4_000_000_000
    at_once: int = 2
    queue: int = 100
    upload: int = 20_000_000
    rows: int = 20_000
    uploads: int = 200
    letters: int = 1000
    sentences: int = 500


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of the server; `names` are further host names under which it may be reached."""

    root: Path
    host: str = "127.0.0.1"
    token: str | None = None
    names: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    any_model: bool = False
    limits: Limits = Limits()

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the server."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False


def check_settings(settings: ServerSettings) -> ServerSettings:
    """The settings, when they make sense; a server that others can reach needs a token that cannot be guessed."""
    if settings.root.exists() and not settings.root.is_dir():
        raise IsoglossError(f"{settings.root} is not a folder. Give the folder of runs.")
    if not settings.local and not settings.token:
        raise IsoglossError(f"A server on '{settings.host}' needs a token, since others can reach it. Use --token.")
    if settings.token is not None and not TOKEN.fullmatch(settings.token):
        raise IsoglossError("A token has 16 letters or more: A to Z, digits, and . _ ~ - only.")
    return settings
